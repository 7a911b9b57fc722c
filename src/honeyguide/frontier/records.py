"""What goes into the frontier and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from honeyguide.model import Outcome, UrlId


class Found(msgspec.Struct, frozen=True, gc=False):
    """A URL to be considered: a link of a page, a seed, a redirect's target, a source's suggestion."""

    url: str
    """Canonical."""
    id: UrlId
    host: str
    """`name[:port]`."""
    domain: str
    priority: float
    depth: int = 0
    redirects: int = 0
    parent: int = 0
    """Row of the page it was found on; 0 for none."""
    source: str = "link"
    anchor: str = ""
    context: str = ""
    factors: dict[str, float] = {}
    memo: dict[str, float] = {}
    outcome: Outcome = Outcome.WAITING
    """Anything but `WAITING`: dropped, and recorded as such if the URL is new."""
    reason: str = ""


class Offers(NamedTuple):
    """Found URLs, most of which are known already: a `Found` is made only where one is needed."""

    ids: Sequence[UrlId]
    priorities: Sequence[float]
    outcomes: Sequence[int]
    make: Callable[[int], Found]
    """The record at a place."""


class Again(msgspec.Struct, frozen=True):
    """What is known of a URL that is visited again."""

    digest: str = ""
    """Of the newest version; the same bytes mean that nothing changed."""
    etag: str = ""
    modified: str = ""
    """Validators of the newest version, for a conditional request."""
    listing: bool = False
    """A sitemap or feed."""


class Waiting(msgspec.Struct, frozen=True):
    """A URL whose turn has come."""

    row: int
    url: str
    id: UrlId
    host: str
    priority: float
    depth: int = 0
    redirects: int = 0
    tries: int = 0
    parent: int = 0
    parent_url: str = ""
    source: str = "link"
    anchor: str = ""
    context: str = ""
    memo: dict[str, float] = {}
    again: Again | None = None
    """Set on a later visit of a page that the collection holds; such a URL is not in the queues."""
