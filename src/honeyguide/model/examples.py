"""What a page model is fitted on."""

from __future__ import annotations

import msgspec


class Document(msgspec.Struct, frozen=True):
    """A text with a title: an example page, a background document, a search result."""

    text: str
    title: str = ""
    url: str = ""
    label: str = ""
    language: str = ""


class Examples(msgspec.Struct, frozen=True):
    """Everything the user gave about the topic, as text. Any part may be empty."""

    keywords: tuple[str, ...] = ()
    positives: tuple[Document, ...] = ()
    negatives: tuple[Document, ...] = ()
    unlabelled: tuple[Document, ...] = ()
    """Background text: reference corpus, unlabelled set U, LSI corpus."""
    taxonomy: tuple[str, ...] = ()
    """Labels from the root to the topic's node."""
    languages: tuple[str, ...] = ("en",)
