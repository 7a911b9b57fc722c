"""Visiting one URL: one method, whether the pages are live, recorded or generated."""

from __future__ import annotations

from typing import Protocol

import msgspec

from honeyguide.frontier import Waiting
from honeyguide.model import Outcome, Page
from honeyguide.store.archive import Exchange


class Rendering(msgspec.Struct, frozen=True):
    """That a page was rendered in a browser, or was to be."""

    reason: str
    """Why."""
    failed: str = ""
    """Why it could not be; the page is then as it was received."""
    software: str = ""
    host_needs_it: bool = False
    """Whether the page's host needs a browser, as far as is known by now."""

    @property
    def told(self) -> str:
        """For `honeyguide why`."""
        if self.failed:
            return f"not rendered ({self.failed}), though {self.reason}"
        return f"rendered by {self.software}, since {self.reason}"


class Visit(msgspec.Struct, frozen=True):
    """What came of asking for one URL."""

    outcome: Outcome
    """`FETCHED` with a page; `WAITING` when it has to be asked again; else why there is none."""
    page: Page | None = None
    detail: str = ""
    redirect: str = ""
    """Canonical target, with `REDIRECTED`."""
    exchanges: tuple[Exchange, ...] = ()
    """What to archive; the page's own response is the last one."""
    requests: int = 0
    """Every request it took, robots.txt included."""
    seconds: float = 0.0
    """How long the last request took."""
    status: int = 0
    ip: str = ""
    retry_after: float | None = None
    """Seconds the server asked us to stay away, from Retry-After."""
    not_before: float | None = None
    """With `WAITING`: the host is not to be asked before this time."""
    failed: bool = False
    """Whether the host failed (unreachable, 5xx, 429): counts towards its back-off."""
    robots_origin: str = ""
    """Set when this visit only loaded robots.txt, with what it held in `robots_body`."""
    robots_body: bytes = b""
    crawl_delay: float | None = None
    """From robots.txt, where it was looked at."""
    sitemaps: tuple[str, ...] = ()
    """Sitemaps that robots.txt names, when it was just loaded."""
    listing: tuple[str, ...] = ()
    """URLs that a sitemap or feed names, with `LISTING`."""
    dates: tuple[float, ...] = ()
    """When each of them changed last, as the site says; 0 where it does not."""
    unchanged: bool = False
    """On a later visit: the server said that nothing changed, or sent the same bytes."""
    indexes: tuple[str, ...] = ()
    """Further sitemaps that it names."""
    rendering: Rendering | None = None
    """Set when the page was rendered, or was to be."""


class Visitor(Protocol):
    """Visits URLs. Never raises for what a server does."""

    async def visit(self, waiting: Waiting) -> Visit:
        """One request (or none, when robots.txt forbids it)."""
        ...

    async def close(self) -> None:
        """Let go of connections and processes."""
        ...
