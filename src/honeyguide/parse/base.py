"""What the parser is given. What it gives back is a `Page`, or a `ParseFailure`."""

from __future__ import annotations

import msgspec

from honeyguide.model import Outcome


class ParseJob(msgspec.Struct, frozen=True, array_like=True):
    """One document to parse. Plain data: it crosses a process boundary."""

    url: str
    """Canonical URL it was fetched under: the base for its links."""
    body: bytes
    content_type: str = "text/html"
    """The Content-Type header as received."""
    robots_tags: tuple[str, ...] = ()
    """X-Robots-Tag header values."""
    blocks: bool = False
    """Whether to cut the page into content blocks."""
    main_text: bool = True
    block_alpha: float = 0.5
    block_tags: str = "modern"
    """`modern` or `paper`: which tags count for block height."""


class ParseFailure(msgspec.Struct, frozen=True, array_like=True):
    """The document gave no page."""

    outcome: Outcome
    detail: str
