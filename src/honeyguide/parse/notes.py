"""What is noted of a page in one pass over its tree: text, link elements, headings, meta elements.

Two readers make them, `honeyguide.parse.walk` in Python and `scan_page` in C (`native/page.c`), and they make
the same.
"""

from __future__ import annotations

from typing import NamedTuple


class FoundLink(NamedTuple):
    """A link element as it stands in the page. The reader in C gives plain tuples: take them apart."""

    kind: str
    """`a`, `area`, `frame`, `iframe`, `link` or `refresh`."""
    href: str
    relation: str = ""
    """Its `rel` attribute."""
    media: str = ""
    """Its `type` attribute."""
    anchor: str = ""
    context: str = ""
    path: str = ""
    """Element names from below the root down to the link."""
    node: int = -1
    """Index into the recorded tree."""
    group: int = 0
    """As in `Link`."""


class Tree(NamedTuple):
    """The page's elements and texts in document order, for the content blocks."""

    text: str
    """The page's text: lines, each ended by a line feed."""
    parents: list[int]
    """Index of each node's parent; -1 for the root."""
    tags: list[str]
    """Element names; empty for text."""
    starts: list[int]
    """How long `text` was when the node began."""


class Notes(NamedTuple):
    """The notes of one page."""

    text: str
    main_text: str
    links: list[FoundLink]
    headings: list[str]
    metas: list[tuple[str, str, str]]
    """`name` (or `property`), `http-equiv` and `content` of each meta element."""
    title: str
    base: str
    """The first `<base href>`."""
    canonical: str
    language: str
    """What the root element says."""
    tree: Tree | None
    """Only when it was asked for."""
