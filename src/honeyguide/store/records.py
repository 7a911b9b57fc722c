"""Rows of the state as plain data: a known URL, a fetched page."""

from __future__ import annotations

from typing import TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.model import Outcome, UrlId

NewUrl: TypeAlias = tuple[int, int, str, int, int, float, int, int, int, int, str, str, str, str, str, str]
"""A row of table `url`, in the order of its columns (a bare tuple: twenty a page are written)."""

Replacement: TypeAlias = tuple[int, int, float, int, int, int, str, str, str, str, str, str, int]
"""host, status, priority, depth, redirects, parent, source, anchor, context, factors, memo, reason, row."""


class UrlRecord(msgspec.Struct, frozen=True):
    """A known URL and the link that gave it its place."""

    row: int
    id: UrlId
    url: str
    host: int
    """Row of its host; 0 when it was dropped at once."""
    status: Outcome
    priority: float
    """As last set by a link; a global order may have moved it since (see `Columns.priority`)."""
    depth: int
    redirects: int
    tries: int
    parent: int
    """Row of the page that linked to it; 0 for seeds."""
    source: str
    anchor: str
    context: str
    factors: dict[str, float]
    memo: dict[str, float]
    reason: str


class PageAddress(msgspec.Struct, frozen=True):
    """What the trap rules go by: where a fetched page stands, and what it repeats."""

    row: int
    url: str
    links: NDArray[np.int32]
    """Rows of its links' targets."""
    copied: int
    """Row of the page that it repeats, exactly or nearly; 0 for none."""
    length: int
    """Characters of its text."""
    on_topic: bool
    source: str
    """How its URL was found: `seed`, `link`, ..."""
    same_words: bool
    """Whether it has the same words as the page that it repeats."""
    same_title: bool
    """Whether it has the same title."""


class PageRecord(msgspec.Struct, frozen=True):
    """A fetched page: what is known of it without its text, and where the archive holds that."""

    row: int
    number: int
    at: float
    status: int = 200
    content_type: str = ""
    title: str = ""
    language: str = ""
    score: float = 0.0
    on_topic: bool = False
    terms: tuple[tuple[str, float], ...] = ()
    facts: dict[str, float] = {}
    digest: str = ""
    simhash: int = 0
    duplicate_of: int = 0
    """Row of an earlier page with the same bytes; 0 for none."""
    near_duplicate_of: int = 0
    bytes: int = 0
    text_bytes: int = 0
    depth: int = 0
    file: str = ""
    """Archive file name, with `offset` and `length` of the record in it."""
    offset: int = 0
    length: int = 0
    url: str = ""
    """Filled in on reading."""
    id: UrlId = 0
    """Filled in on reading."""


class Session(msgspec.Struct, frozen=True):
    """One run of the crawl between a start and a stop."""

    number: int
    start: float
    stop: float | None
    """None while running, and after a crash."""
    reason: str
    version: str
