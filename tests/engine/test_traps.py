"""Traps on the generated web: calendar, session ids, facets, repeating paths, maze, and wildcard DNS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from honeyguide.engine.clock import VirtualClock
from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.generated import GeneratedFetcher, GeneratedWeb, WebSpec, seeds
from honeyguide.lab.webs.served import Served
from honeyguide.model import Outcome, Topic

NOW = 1_790_000_000.0
"""September 2026: the generated calendars begin in 2024, well inside the years that are allowed."""
WILD = "wild.example"


class WithWildcard:
    """A generated web, and a domain where every name answers with babble on the topic."""

    def __init__(self, web: GeneratedWeb, words: list[str]) -> None:
        self._web = web
        self._words = words

    def get(self, url: str) -> Served:
        host, _, path = url.partition("://")[2].partition("/")
        if not host.endswith(WILD):
            return self._web.get(url)
        if path == "robots.txt":
            return Served(404)
        key = sum(ord(letter) * 31**place for place, letter in enumerate(host)) % 1_000_003
        words = [self._words[(key * 7 + n * n) % len(self._words)] for n in range(120)]
        links = [f'<a href="http://{words[n]}-{key * 6 + n}.{WILD}/">{words[n]}</a>' for n in range(6)]
        text = f"<title>{words[0]} {words[1]}</title><p>{' '.join(words)}</p>{' '.join(links)}"
        return Served(200, (("Content-Type", "text/html"),), text.encode())


class Count:
    """Where the pages of a crawl went."""

    def __init__(self, web: GeneratedWeb) -> None:
        self.web = web
        self.pages = 0
        self.good = 0
        self.wasted: Counter[str] = Counter()

    def page(self, url: str) -> None:
        self.pages += 1
        if url.partition("://")[2].partition("/")[0].endswith(WILD):
            self.wasted["wildcard"] += 1
            return
        truth = self.web.truth(url)
        role = self.web.role(url.split("/")[2])
        if truth.kind == "trap" or (role == "session" and truth.original):
            self.wasted[role] += 1
        elif not truth.original:
            self.good += 1

    @property
    def share(self) -> float:
        return sum(self.wasted.values()) / self.pages


def lost(crawl: Crawl, web: GeneratedWeb) -> list[str]:
    """Good pages that a trap rule threw away."""
    state = crawl.state
    assert state is not None
    found = []
    for row in range(1, state.columns().size + 1):
        record = state.url_by_row(row)
        assert record is not None
        if record.status in (Outcome.TRAP, Outcome.TOO_LONG) and WILD not in record.url:
            truth = web.truth(record.url)
            if truth.kind not in ("trap", "missing", "failing") and not truth.original:
                found.append(f"{record.url} ({record.reason})")
    return found


async def measure(recipe: str, spec: WebSpec, budget: int) -> tuple[Count, list[str]]:
    web = GeneratedWeb(spec)
    name = web.topics[0]
    words = web.keywords(name)
    clock = VirtualClock(NOW)
    topic = Topic(
        name,
        keywords=tuple(words[:8]),
        seeds=(*seeds(web, name, distance=2), f"http://start.{WILD}/"),
    )
    crawl = Crawl(
        topic,
        recipe=recipe,
        clock=clock,
        fetcher=GeneratedFetcher(WithWildcard(web, words), clock),
        max_pages=budget,
        max_pages_per_domain="unlimited",
    )
    count = Count(web)
    async for event in crawl.run():
        if event.kind == "page":
            count.page(event.url)
    return count, lost(crawl, web)


Record = Callable[[str, object], None]


def check(count: Count, gone: list[str], budget: int, record: Record, *, kinds: int = 5) -> None:
    told = f"{100 * count.share:.2f} % of {count.pages} pages, {len(gone)} of {count.good} good pages lost"
    record("figure", f"traps: {told}")
    assert count.pages > 0.9 * budget
    assert count.wasted["wildcard"] > 0, "the wildcard domain was never entered"
    assert len(count.wasted) >= kinds, count.wasted
    assert count.share < 0.02, (count.share, count.wasted)
    assert len(gone) < 0.002 * count.good, gone[:20]


async def test_traps_take_little_of_1200_pages(record_property: Record) -> None:
    count, gone = await measure("best-first", WebSpec(hosts=62, pages=1_500, topics=6), 1_200)
    check(count, gone, 1_200, record_property, kinds=4)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["best-first", "breadth-first"])
async def test_traps_take_little_of_5000_pages(recipe: str, record_property: Record) -> None:
    count, gone = await measure(recipe, WebSpec(hosts=62, pages=6_000, topics=6), 5_000)
    check(count, gone, 5_000, record_property)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["best-first", "breadth-first"])
async def test_traps_take_little_of_100000_pages(recipe: str, record_property: Record) -> None:
    count, gone = await measure(recipe, WebSpec(hosts=1_240, pages=120_000, topics=20), 100_000)
    check(count, gone, 100_000, record_property)
