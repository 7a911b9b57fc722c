"""Politeness as the server sees it: per host and per address, over shards, across a kill and across moves."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from shards import recording_aside, sharded_config, write

from honeyguide.cluster.coordinator import ShardedCrawl
from honeyguide.cluster.ray_cluster import Connection
from honeyguide.lab.webs.served import Served

pytestmark = [pytest.mark.slow, pytest.mark.realtime, pytest.mark.filterwarnings("ignore::ResourceWarning")]


@pytest.fixture(scope="module", autouse=True)
def one_ray() -> Iterator[None]:
    connection = Connection("")
    yield
    connection.close()


async def crawl(
    tmp_path: Path, pages: int, *, leave: bool = False, **politeness: float
) -> list[tuple[float, str]]:
    """Crawl with three shards, one of which is killed on the way; when each request came, and for what.

    Args:
        tmp_path: For the collection.
        pages: That are fetched.
        leave: Two shards hand their hosts over, instead of one being killed.
        politeness: Settings.
    """
    came: list[tuple[float, str]] = []

    def answer(url: str) -> Served | None:
        came.append((time.monotonic(), url))
        return write(url)

    with recording_aside(answer) as server:
        config = sharded_config(server.connect_to, politeness=dict(politeness))
        job = ShardedCrawl(config, out=tmp_path / "many", shards=3, max_pages=pages)
        killed = False
        async for progress in job.run():
            if not killed and progress.pages >= pages // 3:
                killed = True
                if leave:
                    job.remove_shards(2)
                    continue
                call = job.actors["01"].process.remote()
                os.kill(await asyncio.wrap_future(call.future()), signal.SIGKILL)
        assert killed
        assert job.tally.pages == pages
    return came


async def test_one_address_for_all(tmp_path: Path) -> None:
    came = await crawl(tmp_path, 40, ip_delay=0.3, ip_at_once=4)
    gaps = [later - earlier for (earlier, _), (later, _) in pairwise(sorted(came))]
    # Requests are spaced when they are sent; on a busy machine one may overtake a little on its way.
    assert min(gaps) >= 0.25
    assert len({url.split("/")[2] for _, url in came}) > 6


@pytest.mark.parametrize("leave", [False, True])
async def test_each_host_by_itself(tmp_path: Path, *, leave: bool) -> None:
    came = await crawl(tmp_path, 90, leave=leave, delay=0.4)
    by_host: dict[str, list[float]] = {}
    for moment, url in came:
        by_host.setdefault(url.split("/")[2], []).append(moment)
    for host, moments in by_host.items():
        gaps = [later - earlier for earlier, later in pairwise(sorted(moments))]
        assert min(gaps, default=1.0) >= 0.35, host
