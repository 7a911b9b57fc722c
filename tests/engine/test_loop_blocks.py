"""Nothing that the crawl does at a stretch holds the event loop up for long."""

from __future__ import annotations

import asyncio
import gc
import time
from collections import deque
from concurrent.futures import Future

import pytest

from honeyguide.engine import crawler as crawler_module
from honeyguide.engine.crawler import Crawler, Steps
from honeyguide.job.crawl import _startup_frozen


class Waiting:
    """A crawler's turn, as far as it takes pages in."""

    virtual = False


def made() -> Crawler:
    made = Crawler.__new__(Crawler)
    made._clock = Waiting()  # type: ignore[assignment]
    made._options = crawler_module.CrawlOptions()
    made._done = deque()
    made._slow = None
    made._loop = made._alarm = None
    made._wake = asyncio.Event()
    return made


async def ticks(work: asyncio.Task[None]) -> int:
    count = 0
    while not work.done():
        await asyncio.sleep(0)
        count += 1
    return count


def test_others_run_while_pages_are_taken_in() -> None:
    async def run() -> int:
        one = made()
        one._done.extend([lambda: time.sleep(0.006)] * 20)
        return await ticks(asyncio.create_task(one._take_in()))

    assert asyncio.run(run()) >= 8


@pytest.mark.parametrize("virtual", [False, True])
def test_what_a_page_brings_about_is_done_before_the_next_with_time_for_others(*, virtual: bool) -> None:
    async def run() -> tuple[int, list[str]]:
        one = made()
        one._clock.virtual = virtual
        done: list[str] = []
        written: Future[None] = Future()

        def judging_again() -> Steps:
            for number in range(20):
                done.append(f"judged {number}")
                yield None
            asyncio.get_running_loop().call_later(0.01, written.set_result, None)
            yield written
            done.append("written" if written.done() else "not written")

        def first_page() -> None:
            done.append("first")
            one._slow = judging_again()

        one._done.extend([first_page, lambda: done.append("second")])
        return await ticks(asyncio.create_task(one._take_in())), done

    turns, done = asyncio.run(run())
    assert turns >= 20
    assert done == ["first", *(f"judged {number}" for number in range(20)), "written", "second"]


@pytest.mark.parametrize("again", [1, 50])
def test_others_run_where_the_next_turn_comes_at_once(again: int) -> None:
    """Judging pages again asks for one turn after the other; sockets must not starve meanwhile."""

    async def turns(one: Crawler) -> None:
        for _ in range(again):
            one._wake.set()
            await one._woken()

    async def run() -> int:
        return await ticks(asyncio.create_task(turns(made())))

    assert asyncio.run(run()) >= again


def test_who_waits_for_a_time_that_has_come_runs_in_one_pause() -> None:
    """One round of the loop notes the time, the next wakes the task: a shorter pause only seems to be one."""

    async def run() -> list[str]:
        done: list[str] = []

        async def waits() -> None:
            await asyncio.sleep(0.001)
            done.append("its time came")

        def works() -> None:
            time.sleep(0.005)

        waiting = asyncio.create_task(waits())
        await asyncio.sleep(0)
        works()
        await crawler_module._others_turn()
        done.append("went on")
        await waiting
        return done

    assert asyncio.run(run()) == ["its time came", "went on"]


def test_a_live_crawl_leaves_what_it_started_with_to_itself() -> None:
    """A full collection over all modules takes 50 ms."""
    assert gc.get_freeze_count() == 0
    with _startup_frozen(live=False):
        assert gc.get_freeze_count() == 0
    with _startup_frozen(live=True):
        assert gc.get_freeze_count() > 10_000
    assert gc.get_freeze_count() == 0
