"""A crawl steered through its control file, as the portal does from another process."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from crawls import WEB, small_topic

from honeyguide.collection.collection import Collection
from honeyguide.engine.budget import Budget
from honeyguide.engine.clock import WallClock
from honeyguide.engine.control import OBEYED, Control, Obeyed, ask, checked_limits, read, with_limits
from honeyguide.errors import CollectionError, HoneyguideError
from honeyguide.fetch.base import Failure, Request, Response
from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.generated import GeneratedFetcher

pytestmark = pytest.mark.realtime


class Slow:
    """The generated web, a little slower, so that there is time to steer."""

    def __init__(self) -> None:
        self._inner = GeneratedFetcher(WEB, WallClock())

    async def fetch(self, request: Request) -> Response | Failure:
        await asyncio.sleep(0.02)
        return await self._inner.fetch(request)

    async def close(self) -> None:
        await self._inner.close()


def crawl_of(out: Path) -> Crawl:
    return Crawl(
        small_topic(), out=out, recipe="breadth-first", fetcher=Slow(), max_pages=5_000, parse_workers=1,
        concurrency=4,
    )  # fmt: skip


async def until(condition: Callable[[], object], seconds: float = 20.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - what is waited for is in files
            await asyncio.sleep(0.02)


def obeyed(out: Path) -> Obeyed:
    with Collection.open(out) as collection:
        return msgspec.convert(collection.state.setting(OBEYED), Obeyed)


async def test_pause_go_on_change_the_budget_and_stop(tmp_path: Path) -> None:
    out = tmp_path / "collection"
    job = crawl_of(out)
    reviewed: list[int] = []

    async def work() -> None:
        async for _ in job.run():
            if job.crawler is not None and job.crawler.retraining is not None:
                job.crawler.retraining.ask = lambda: reviewed.append(job.tally.pages)  # type: ignore[method-assign]

    running = asyncio.ensure_future(work())
    await until(lambda: job.tally.pages >= 10)
    crawler = job.crawler
    assert crawler is not None
    with Collection.open(out) as collection:
        session = collection.state.sessions()[-1].number
    assert obeyed(out) == Obeyed(session, paused=False, budget=Budget(max_pages=5_000))

    ask(out, session=session, paused=True)
    await until(lambda: crawler.paused and crawler.in_flight == 0)
    pages, seconds, since = job.tally.pages, job.tally.seconds, time.time()
    await until(lambda: obeyed(out).paused)
    await until(lambda: time.time() > since + 0.4)
    assert job.tally.pages == pages
    ask(out, reviews=1)
    await until(lambda: reviewed)
    assert crawler.paused, "a review says nothing about pausing"

    ask(out, session=session, paused=False, budget={"max_relevant": 400, "max_seconds": None})
    await until(lambda: job.tally.pages > pages + 5)
    assert (time.time() - since) - (job.tally.seconds - seconds) > 0.39, "rest is not work"
    assert crawler.budget.max_relevant == 400
    ask(out, session=session, stop=True)
    async with asyncio.timeout(20):
        await running
    assert job.reason == "stopped from the portal"

    # The next run ignores what was said to the last one.
    again = crawl_of(out)
    before = job.tally.pages
    ask(out, budget={"max_pages": 1})

    async def go_on() -> None:
        async for _ in again.run():
            if again.tally.pages > before + 3:
                again.stop("enough")

    async with asyncio.timeout(30):
        await go_on()
    assert again.reason == "enough"


def test_what_is_not_said_stays(tmp_path: Path) -> None:
    ask(tmp_path, session=3, paused=True, budget={"max_pages": 10})
    ask(tmp_path, reviews=2)
    assert read(tmp_path) == Control(session=3, paused=True, budget={"max_pages": 10}, reviews=2)
    assert ask(tmp_path, session=4) == Control(session=4, reviews=2)


def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    writers = [
        threading.Thread(target=lambda: [ask(tmp_path, reviews=1) for _ in range(10)]) for _ in range(5)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert read(tmp_path).reviews == 50


@pytest.mark.parametrize(
    ("name", "value"), [("max_pages", 0), ("max_pages", 2.5), ("max_seconds", float("nan")), ("pages", 5)]
)
def test_limits_that_make_no_sense(tmp_path: Path, name: str, value: float) -> None:
    with pytest.raises(HoneyguideError, match=r"; (leave|choose)"):
        ask(tmp_path, budget={name: value})
    assert not (tmp_path / "control.json").exists()
    budget = Budget(max_pages=7)
    assert with_limits(budget, {name: value}) == budget


def test_damaged_files_wish_nothing(tmp_path: Path) -> None:
    for text in ("", "{", '{"session": "one"}', "[" * 100_000):
        (tmp_path / "control.json").write_text(text)
        assert read(tmp_path) == Control()
    with pytest.raises(CollectionError):
        ask(tmp_path / "missing", paused=True)


def test_limits_are_whole_but_for_seconds() -> None:
    assert checked_limits({"max_pages": 5.0, "max_seconds": 1.5}) == {"max_pages": 5, "max_seconds": 1.5}
