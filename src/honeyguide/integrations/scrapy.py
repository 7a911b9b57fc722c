"""Scrapy led by Honeyguide: verdicts on items, requests in the order of a topic, excluded links dropped.

In `settings.py`:

    ADDONS = {"honeyguide.integrations.scrapy.HoneyguideAddon": 500}
    HONEYGUIDE_TOPIC = "topic.toml"
    HONEYGUIDE_RECIPE = "scout"      # or any other recipe with a local order

The spider stays as it is. `Focus`, a spider middleware, looks at every response before the spider does and
puts the verdict into `response.meta["honeyguide"]` and, under the same name, into items that take it.
`Failures`, a downloader middleware, tells the order which requests came to nothing.
`FocusScheduler` holds waiting requests by priority and moves them when the order changes its mind. Requests
are kept in memory: with JOBDIR use another scheduler, which then only knows the priorities of the moment.
"""

from __future__ import annotations

import heapq
from collections.abc import AsyncIterator
from typing import Any, Self

from honeyguide.errors import MissingExtra
from honeyguide.integrations.guide import Guide, Seen
from honeyguide.web.url import canonical

try:
    from itemadapter import ItemAdapter
    from scrapy import Request
    from scrapy.core.scheduler import BaseScheduler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from scrapy.utils.misc import build_from_crawler, load_object
except ImportError as error:
    raise MissingExtra("the Scrapy add-on", "scrapy") from error

KEY = "honeyguide"
STEPS = 1_000_000
"""Scrapy's priorities are whole numbers: steps between two of ours that differ by one."""


class HoneyguideAddon:
    """Sets the middleware and the scheduler; a setting of your own wins."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Called by Scrapy."""
        # Before Scrapy's HttpErrorMiddleware (50): the order learns from missing pages, too.
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", Focus, 40)
        # After everything that may try a request again.
        settings.setdefault_in_component_priority_dict("DOWNLOADER_MIDDLEWARES", Failures, 10)
        settings.set("SCHEDULER", FocusScheduler, "addon")


class Focus:
    """Spider middleware: judges each response, then gives priorities to the requests that come of it."""

    def __init__(self, guide: Guide, stats: Any) -> None:
        self.guide = guide
        self._stats = stats

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        """Called by Scrapy."""
        return cls(guide_of(crawler), crawler.stats)

    def process_spider_input(self, response: Response, spider: Any = None) -> None:
        """Take the page in before the spider sees it."""
        kind = (response.headers.get("Content-Type") or b"text/html").decode("latin-1")
        asked = response.meta.get("redirect_urls", [response.url])[0]
        seen = self.guide.look(response.url, response.body, kind, asked) if response.status == 200 else None
        if seen is None:
            self.guide.gone(asked)
            return
        response.meta[KEY] = seen.verdict
        response.meta["_honeyguide_seen"] = seen
        self._stats.inc_value("honeyguide/pages")
        if seen.verdict.on_topic:
            self._stats.inc_value("honeyguide/on_topic")

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any], spider: Any = None
    ) -> AsyncIterator[Any]:
        """Requests get their priority, or are dropped; items get the verdict."""
        seen: Seen | None = response.meta.pop("_honeyguide_seen", None)
        async for each in result:
            if isinstance(each, Request):
                request = self._ranked(each, seen)
                if request is not None:
                    yield request
            else:
                yield _judged(each, seen)

    def _ranked(self, request: Request, seen: Seen | None) -> Request | None:
        request.meta.pop("_honeyguide_seen", None)
        request.meta.pop(KEY, None)
        address = canonical(request.url)
        if (
            address is None
            or (seen is not None and address in seen.excluded)
            or not self.guide.allows(address)
        ):
            self._stats.inc_value("honeyguide/dropped")
            return None
        priority = seen.priorities.get(address) if seen is not None else None
        if priority is None:
            return request
        return request.replace(priority=round(priority * STEPS))


class Failures:
    """Downloader middleware: a request that ended without an answer counts against its like."""

    def __init__(self, guide: Guide) -> None:
        self._guide = guide

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        """Called by Scrapy."""
        return cls(guide_of(crawler))

    def process_exception(self, request: Request, exception: Exception, spider: Any = None) -> None:
        """Called by Scrapy when no middleware tries the request again."""
        self._guide.gone(request.meta.get("redirect_urls", [request.url])[0])


class FocusScheduler(BaseScheduler):
    """Waiting requests in memory, best first; the order may move them while they wait."""

    def __init__(self, guide: Guide, dupefilter: Any, stats: Any) -> None:
        self._guide = guide
        self._dupefilter = dupefilter
        self._stats = stats
        self._heap: list[tuple[float, int, int, Request]] = []
        self._count = 0
        self._waiting: dict[int, tuple[Request, str]] = {}
        self._by_url: dict[str, int] = {}
        self._version: dict[int, int] = {}

    @classmethod
    def from_crawler(cls, crawler: Any) -> Self:
        """Called by Scrapy."""
        dupefilter = build_from_crawler(load_object(crawler.settings["DUPEFILTER_CLASS"]), crawler)
        return cls(guide_of(crawler), dupefilter, crawler.stats)

    def open(self, spider: Any) -> Any:
        """Called by Scrapy."""
        return self._dupefilter.open()

    def close(self, reason: str) -> Any:
        """Called by Scrapy."""
        return self._dupefilter.close(reason)

    def has_pending_requests(self) -> bool:
        """Whether anything waits."""
        return bool(self._waiting)

    def enqueue_request(self, request: Request) -> bool:
        """Take a request; False for a duplicate."""
        if not request.dont_filter and self._dupefilter.request_seen(request):
            return False
        self._count += 1
        number = self._count
        url = canonical(request.url) or request.url
        self._waiting[number] = (request, url)
        self._by_url.setdefault(url, number)
        self._push(number, float(request.priority), request)
        self._stats.inc_value("scheduler/enqueued")
        return True

    def next_request(self) -> Request | None:
        """The best request that waits."""
        for url, priority in self._guide.revised().items():
            number = self._by_url.get(url)
            if number in self._waiting:
                self._push(number, priority * STEPS, self._waiting[number][0])
        while self._heap:
            _, number, version, request = heapq.heappop(self._heap)
            if number in self._waiting and self._version[number] == version:
                _, url = self._waiting.pop(number)
                self._by_url.pop(url, None)
                del self._version[number]
                self._stats.inc_value("scheduler/dequeued")
                return request
        return None

    def _push(self, number: int, priority: float, request: Request) -> None:
        version = self._version[number] = self._version.get(number, 0) + 1
        heapq.heappush(self._heap, (-priority, number, version, request))


def guide_of(crawler: Any) -> Guide:
    """The guide that middleware and scheduler of one crawl share."""
    guide: Guide | None = getattr(crawler, "_honeyguide_guide", None)
    if guide is None:
        settings = crawler.settings
        guide = Guide(
            settings.get("HONEYGUIDE_TOPIC", "topic.toml"), recipe=settings.get("HONEYGUIDE_RECIPE")
        )
        crawler._honeyguide_guide = guide
    return guide


def _judged(item: Any, seen: Seen | None) -> Any:
    if seen is not None and ItemAdapter.is_item(item):
        adapter = ItemAdapter(item)
        said = {"score": seen.verdict.score, "on_topic": seen.verdict.on_topic}
        try:
            adapter[KEY] = said
        except KeyError:  # the item has no such field, and so wants no verdict
            return item
    return item
