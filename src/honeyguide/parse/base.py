"""What the parser is given. What it gives back is a `Page`, its answer packed or not, or a `ParseFailure`."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from honeyguide.model import Outcome, Page
from honeyguide.store.packed import Packed


class BlockOptions(msgspec.Struct, frozen=True, array_like=True):
    """How pages are cut into content blocks."""

    alpha: float = 0.5
    """Granularity in (0, 1]; smaller values give smaller blocks."""
    tags: str = "modern"
    """`modern` or `paper`: which tags count for block height."""
    context: int = 300
    """Characters of a link's context at most."""


Blocks: TypeAlias = bool | BlockOptions
"""Whether pages are cut into blocks; True is `BlockOptions()`."""


class ParseJob(msgspec.Struct, frozen=True, array_like=True):
    """One document to parse. Plain data: it crosses a process boundary."""

    url: str
    """Canonical URL it was fetched under: the base for its links."""
    body: bytes
    content_type: str = "text/html"
    """The Content-Type header as received."""
    robots_tags: tuple[str, ...] = ()
    """X-Robots-Tag header values."""
    blocks: Blocks = False
    """Whether to cut the page into content blocks, and how."""
    main_text: bool = True
    what: str = "page"
    """`page`, `listing` (a sitemap or feed) or `robots`."""
    agent: str = ""
    """Whose rules to read, of a robots.txt."""
    digest: str = ""
    """What the page's digest will be, where it is known; else that of the body."""
    head: bytes = b""
    """Of a page that is to be packed for the archive, body and all: the head of its answer."""


class PackedPage(msgspec.Struct, frozen=True, array_like=True):
    """A page with its answer made ready for the archive."""

    page: Page
    packed: Packed

    @property
    def url(self) -> str:
        """Where it was fetched."""
        return self.page.url


class Reading(msgspec.Struct, frozen=True, array_like=True):
    """What was read from a document that is not a page."""

    url: str
    urls: tuple[str, ...] = ()
    """Pages that a sitemap or feed names."""
    indexes: tuple[str, ...] = ()
    """Further sitemaps that it names."""
    rules: bytes = b""
    """Of a robots.txt, packed (`honeyguide.web.robots`)."""
    kept: bytes = b""
    """Of a robots.txt, the lines that concern the agent."""
    dates: tuple[float, ...] = ()
    """When what a sitemap or feed names changed last, in epoch seconds; 0 where it does not say."""


class ParseFailure(msgspec.Struct, frozen=True, array_like=True):
    """The document gave no page."""

    outcome: Outcome
    detail: str
