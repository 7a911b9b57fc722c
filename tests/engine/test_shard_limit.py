"""A shard never says that it may have more pages than it was told, whatever else it is doing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from honeyguide.engine.clock import WallClock
from honeyguide.engine.neighbours import Mailbox, Neighbours
from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.generated import GeneratedFetcher, GeneratedWeb, WebSpec
from honeyguide.model import Topic

LIMIT = 5


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
                job.crawler._in_steps(busy())
    assert max(told) == LIMIT
