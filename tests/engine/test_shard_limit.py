"""A shard never says that it may have more pages than it was told, whatever else it is doing."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from honeyguide.config.load import check_values
from honeyguide.engine.clock import WallClock
from honeyguide.engine.crawler import Crawler
from honeyguide.engine.neighbours import Mailbox, Neighbours
from honeyguide.engine.traffic import Slots
from honeyguide.fetch.base import Failure, Request, Response
from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.generated import GeneratedFetcher, GeneratedWeb, WebSpec
from honeyguide.model import Topic

LIMIT = 5


class Slow(GeneratedFetcher):
    """Takes its time once some pages were asked for."""

    def __init__(self, web: GeneratedWeb) -> None:
        super().__init__(web, WallClock())
        self.asked = 0

    async def fetch(self, request: Request) -> Response | Failure:
        self.asked += not request.url.endswith("/robots.txt")
        if self.asked >= LIMIT:
            await asyncio.sleep(1.0)
        return await super().fetch(request)


@pytest.mark.realtime
async def test_a_shard_that_has_spent_its_portion_waits_for_answers_without_turning_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web = GeneratedWeb(WebSpec(pages=400, hosts=20, crawl_delay=0.0))
    name = web.topics[0]
    topic = Topic(name, keywords=tuple(web.keywords(name)), seeds=tuple(web.seeds(name, distance=1)))
    mailbox, turns = Mailbox(), 0
    dispatch = Crawler._dispatch

    def counted(crawler: Crawler) -> None:
        nonlocal turns
        turns += 1
        dispatch(crawler)

    monkeypatch.setattr(Crawler, "_dispatch", counted)
    job = Crawl(
        topic,
        out=tmp_path / "shard",
        fetcher=Slow(web),
        neighbours=Neighbours("00", ("00",), lambda _: "00", mailbox),
        parse_workers=1,
    )
    mailbox.allow(LIMIT)
    async with asyncio.timeout(60):
        async for event in job.run():
            if event.kind == "page" and event.data["number"] == LIMIT:
                job.stop()
    assert mailbox.standing.limit == LIMIT
    assert turns < 100


@pytest.mark.realtime
async def test_work_that_brings_no_page_is_not_told_as_one(tmp_path: Path) -> None:
    web = GeneratedWeb(WebSpec(pages=400, hosts=20))
    name = web.topics[0]
    topic = Topic(name, keywords=tuple(web.keywords(name)), seeds=tuple(web.seeds(name, distance=1)))
    mailbox = Mailbox()
    neighbours = Neighbours("00", ("00",), lambda _: "00", mailbox)
    job = Crawl(
        topic,
        out=tmp_path / "shard",
        fetcher=GeneratedFetcher(web, WallClock()),
        neighbours=neighbours,
        parse_workers=1,
    )
    mailbox.allow(LIMIT)
    told: list[int] = []

    def busy() -> Iterator[None]:
        """Work of many steps, such as judging pages again."""
        until = time.monotonic() + 1.0
        while time.monotonic() < until:
            told.append(mailbox.standing.pages + mailbox.standing.in_flight)
            yield None
        job.stop()

    async with asyncio.timeout(60):
        async for event in job.run():
            if event.kind == "page" and event.data["number"] == LIMIT:
                assert job.crawler is not None
                job.crawler._done.append(partial(setattr, job.crawler, "_slow", busy()))
    assert max(told) == LIMIT


class Counted(GeneratedFetcher):
    """Knows how many requests were under way at once."""

    def __init__(self, web: GeneratedWeb) -> None:
        super().__init__(web, WallClock())
        self.under_way = self.most = 0

    async def fetch(self, request: Request) -> Response | Failure:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(0.01)
        self.under_way -= 1
        return await super().fetch(request)


@pytest.mark.realtime
@pytest.mark.parametrize(("told", "most"), [(0, 4), (2, 2), (9, 9)])
async def test_a_shard_has_as_many_requests_under_way_as_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: int, most: int
) -> None:
    # On a busy machine a request may be slow, and give its slot up to one more: another rule than this one.
    monkeypatch.setattr(Slots, "patience", math.inf)
    web = GeneratedWeb(WebSpec(pages=600, hosts=40, crawl_delay=0.0, slow=0.0))
    seeds = [url for name in web.topics for url in web.seeds(name, distance=1)]
    crawl = {"seeds": seeds, "recipe": "best-first", "concurrency": 4, "parse_workers": 1}
    polite = {"delay": 0.0, "ip_delay": 0.0, "slow_factor": 0.0, "ip_at_once": 100}
    topic = {"name": "any", "keywords": list(web.keywords(web.topics[0]))}
    fetcher, mailbox = Counted(web), Mailbox()
    job = Crawl(
        check_values({"topic": topic, "crawl": crawl, "politeness": polite}),
        out=tmp_path / "shard",
        fetcher=fetcher,
        neighbours=Neighbours("00", ("00",), lambda _: "00", mailbox),
    )
    mailbox.allow(1000, told)
    async with asyncio.timeout(60):
        async for event in job.run():
            if event.kind == "page" and event.data["number"] == 100:
                job.stop()
    assert fetcher.most == most
