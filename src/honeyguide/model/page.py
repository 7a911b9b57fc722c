"""A fetched page, its links and content blocks, and how it was found."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

UrlId: TypeAlias = int
"""Signed 64-bit fingerprint of a canonical URL (`honeyguide.web.url.url_id`).

Anyone who holds the URL can compute it, so links, graphs and orders can name a page
without asking the database.
"""


class Link(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One link of a page, as the parser saw it.

    A page names each target once: repeated links to the same URL are joined by the parser
    (anchors and contexts concatenated, first position and block kept).
    """

    url: str
    """Canonical URL of the target."""
    id: UrlId
    anchor: str = ""
    context: str = ""
    """All text below the anchor's parent element, cut to a limit."""
    kind: str = "a"
    """`a`, `area`, `frame`, `iframe`, `link`, `refresh`, `sitemap`, `feed` or `redirect`."""
    block: int = -1
    """Index into `Page.blocks`; -1 when blocks were not asked for."""
    position: int = 0
    """Rank of the link in document order."""
    tag_path: str = ""
    """Element names from the root down to the link, such as `body/div/ul/li/a`."""
    nofollow: bool = False
    main: bool = True
    """Whether it stands in the page's main text, and not only in menus, footers and the like."""
    language: str = ""
    """The language that the page says its target is in (`hreflang`), as ISO 639-1 code where there is one."""
    group: int = 0
    """Which list, table, paragraph or box of the page it stands in, counted from 1 on; 0 for none."""


class Block(msgspec.Struct, frozen=True, array_like=True):
    """A content block of a page (section 6 of the literature notes: CBP)."""

    text: str
    links: tuple[int, ...] = ()
    """Indices into `Page.links`."""
    tag_path: str = ""


class Via(msgspec.Struct, frozen=True):
    """How a URL came to be in the frontier: the link that gave it its priority."""

    parent: UrlId
    """0 for seeds and injected URLs."""
    parent_url: str = ""
    anchor: str = ""
    context: str = ""
    priority: float = 0.0
    memo: dict[str, float] = {}
    """What the order attached to the link (inherited score, depth left, ...)."""
    source: str = "link"
    """`seed`, `link`, `redirect`, `sitemap`, `feed`, or the name of a discovery source."""


class Page(msgspec.Struct, frozen=True):
    """A fetched and parsed page: everything a page model or a link order may look at."""

    url: str
    """Canonical URL it was fetched under."""
    id: UrlId
    title: str = ""
    text: str = ""
    """Visible text, white space folded."""
    main_text: str = ""
    """Text without navigation and other boilerplate; may be empty when not asked for."""
    language: str = ""
    """ISO 639-1 code, or empty when unknown."""
    links: tuple[Link, ...] = ()
    blocks: tuple[Block, ...] = ()
    canonical: str = ""
    """Canonical form of rel=canonical when the page names another URL than its own."""
    description: str = ""
    headings: tuple[str, ...] = ()
    noindex: bool = False
    nofollow: bool = False
    charset: str = ""
    content_type: str = "text/html"
    status: int = 200
    bytes: int = 0
    """Size of the decoded body."""
    digest: str = ""
    """`sha1:` plus base32 of the payload, as WARC writes it."""
    simhash: int = 0
    fetched_at: float = 0.0
    number: int = 0
    """1 for the first page of the crawl, 2 for the second, ..."""
    depth: int = 0
    """Links followed from the seed along the crawl path."""
    via: Via | None = None
    shell: str = ""
    """What makes its HTML, as received, the shell of an application; empty for other pages."""

    @property
    def content(self) -> str:
        """What the page is about: its main text, or all its text where it has no other.

        Examples, background and judged pages are all read this way: a model that was trained without menus
        and footers must not meet them when it judges. Page models, and orders that read pages, use no other.
        """
        return self.main_text or self.text
