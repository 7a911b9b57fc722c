"""What the user asks for."""

from __future__ import annotations

import msgspec


class Topic(msgspec.Struct, frozen=True):
    """A topic: words, example pages, seeds. See `honeyguide.topic` for the file form.

    Example:
        >>> Topic(name="birds", keywords=("bird", "owl"), seeds=("https://example.org/",)).name
        'birds'
    """

    name: str
    keywords: tuple[str, ...] = ()
    seeds: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    """URLs or file patterns of pages that are on topic."""
    negatives: tuple[str, ...] = ()
    """URLs or file patterns of pages that are not."""
    background: tuple[str, ...] = ()
    """File patterns of unlabelled text."""
    taxonomy: str = ""
    """Path in a subject tree, such as `Sports/Basketball`."""
    languages: tuple[str, ...] = ("en",)
    description: str = ""
