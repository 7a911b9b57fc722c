"""How far a running crawl is: the same few figures for the screen, the log, a notebook and the metrics."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

import msgspec

from honeyguide.engine.budget import Tally
from honeyguide.engine.crawler import Crawler
from honeyguide.log import DEBUG, INFO, WARNING, say
from honeyguide.model import Event

RECENT = 200
"""Pages that `recent_harvest` looks back on."""
RATE_SECONDS = 30.0
LINE_SECONDS = 10.0
"""Between two lines of progress in the log."""
_LEVELS = {"warning": WARNING, "learned": INFO}


class Progress(msgspec.Struct, frozen=True):
    """Where a running crawl is."""

    pages: int = 0
    relevant: int = 0
    harvest: float = 0.0
    """Share of the pages on topic."""
    recent_harvest: float = 0.0
    """The same of the last 200 pages."""
    rate: float = 0.0
    """Pages a second, lately."""
    waiting: int = 0
    """URLs in the frontier."""
    requests: int = 0
    seconds: float = 0.0
    """Of crawling, all sessions together."""
    last: str = ""
    """URL of the last page."""
    rests_until: float = 0.0
    """When something may be asked for again, where no host may be asked for a while; else 0."""
    trouble: str = ""
    """The last request that is to be tried again: whose, and what came of it."""


class Pace:
    """Listens to the events of a crawl: knows its recent pages, and logs every event.

    Args:
        now: Seconds that only grow.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._pages: deque[tuple[float, bool]] = deque(maxlen=RECENT)
        self._started = self._told = now()
        self._last = ""

    def saw(self, event: Event) -> None:
        """Take an event in."""
        if event.kind == "page":
            self._pages.append((self._now(), bool(event.data.get("on_topic"))))
            self._last = event.url
        say(_LEVELS.get(event.kind, DEBUG), event.kind, **{"url": event.url, **event.data})

    def tell(self, tally: Tally, crawler: Crawler | None) -> None:
        """Log how far the crawl is, every ten seconds."""
        if self._now() - self._told >= LINE_SECONDS:
            self._told = self._now()
            say(INFO, "progress", **msgspec.structs.asdict(self.progress(tally, crawler)))

    def progress(self, tally: Tally, crawler: Crawler | None) -> Progress:
        """The figures of this moment."""
        now, pages = self._now(), list(self._pages)  # a copy: a notebook asks from another thread
        recent = [page for page in pages if page[0] > now - RATE_SECONDS]
        since = max(self._started, now - RATE_SECONDS)
        if recent and len(pages) == RECENT:  # older pages of these seconds are forgotten
            since = recent[0][0]
        found = sum(on_topic for _, on_topic in pages)
        return Progress(
            pages=tally.pages,
            relevant=tally.relevant,
            harvest=round(tally.harvest, 4),
            recent_harvest=round(found / len(pages), 4) if pages else 0.0,
            rate=round(len(recent) / max(1.0, now - since), 2),
            waiting=crawler.waiting if crawler else 0,
            requests=tally.requests,
            seconds=round(tally.seconds, 1),
            last=self._last,
            rests_until=crawler.rests_until if crawler else 0.0,
            trouble=crawler.trouble if crawler else "",
        )
