"""Nothing that the crawl does at a stretch holds the event loop up for long."""

from __future__ import annotations

import asyncio
import time
from collections import deque

import pytest

from honeyguide.engine import crawler as crawler_module
from honeyguide.engine.crawler import Crawler


class Waiting:
    """A crawler's turn, as far as it takes pages in."""

    virtual = False


def made() -> Crawler:
    made = Crawler.__new__(Crawler)
    made._clock = Waiting()  # type: ignore[assignment]
    made._options = crawler_module.CrawlOptions()
    made._done = deque()
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
