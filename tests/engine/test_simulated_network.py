"""A crawl of many hosts in virtual time: whatever they do, what was promised holds at every step."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator
from functools import partial
from pathlib import Path
from typing import cast

import pytest
from figures import RecordProperty
from loopback import config_for
from simulated import EPOCH, Network, Promises, run_virtually

from honeyguide.fetch.base import Request
from honeyguide.job import assemble
from honeyguide.job.crawl import Crawl
from honeyguide.model import Event
from honeyguide.parse.pool import ParsePool

PROMISES = Promises(delay=1.0, ip_delay=0.5, ip_at_once=4)


@pytest.fixture(autouse=True)
def parsed_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other processes know nothing of virtual time."""
    monkeypatch.setattr(assemble, "ParsePool", lambda *_, **__: ParsePool(0))


def conserved(crawl: Crawl) -> None:
    """Every known URL is waiting, in flight or ended, and none is counted twice."""
    assert crawl.crawler is not None
    frontier = crawl.crawler._frontier
    assert frontier.known == sum(frontier.counts.values())


def simulate(seed: int, hosts: int, pages: int, folder: Path, *, kills: int) -> Network:
    """A crawl of a network, killed a few times on the way; the promises are checked as it goes."""
    network = Network(seed, hosts=hosts, pages=pages, promises=PROMISES)
    seeds = [f"http://h{n}.example/" for n in range(0, hosts, 3)]
    config = config_for(
        seeds,
        {},
        crawl={"concurrency": 64, "max_pages": "unlimited", "max_seconds": 200_000.0},
        politeness={
            "delay": PROMISES.delay,
            "ip_delay": PROMISES.ip_delay,
            "max_retries": 2,
            "max_backoff": 600.0,
        },
        limits={"deadline": 30.0},
    )
    draw = random.Random(seed)
    seen: set[str] = set()

    async def session(most: int | None) -> None:
        crawl = Crawl(config, out=folder, fetcher=network, clock=network.clock)
        count = 0
        running = cast("AsyncGenerator[Event, None]", crawl.run())
        async for event in running:
            count += 1
            if event.kind == "page":
                assert event.url not in seen, f"twice: {event.url}"
                seen.add(event.url)
            if count % 50 == 0:
                conserved(crawl)
            if most is not None and count >= most:
                assert crawl.crawler is not None
                assert crawl.state is not None
                # Killed: nothing more is written, and no session is stopped.
                for thing, name in (
                    (crawl.crawler._committer, "commit"),
                    (crawl.crawler._checkpoints, "save"),
                    (crawl.state, "stop_session"),
                    (crawl.state, "commit"),
                ):
                    setattr(thing, name, lambda *_, **__: None)
                crawl.state.rollback()
                await running.aclose()
                return

    for number in range(kills + 1):
        most = draw.randrange(20, 20 + hosts) if number < kills else None
        run_virtually(partial(session, most), network.clock)
        if most is not None:
            network.died()
    return network


def check(network: Network) -> None:
    assert network.broken == [], network.broken[:20]
    # What was answered but not committed before a kill is asked for again; nothing else is.
    again = sum(times - 1 for times in network.answered.values())
    assert again <= 64 * network.deaths, network.answered.most_common(5)


@pytest.mark.parametrize("seed", [7, 8])
def test_thirty_hosts(tmp_path: Path, seed: int) -> None:
    network = simulate(seed, 30, 3, tmp_path / "out", kills=0)
    check(network)
    assert len(network.answered) > 30


def test_a_seed_gives_the_same_run_again(tmp_path: Path) -> None:
    runs = [simulate(9, 12, 2, tmp_path / name, kills=0) for name in "ab"]
    assert runs[0].answered == runs[1].answered
    assert runs[0].requests == runs[1].requests


def test_the_rules_find_violations() -> None:
    network = Network(1, hosts=10, pages=3, promises=PROMISES)

    async def rude() -> None:
        await asyncio.gather(*(network.fetch(Request("http://h1.example/")) for _ in range(2)))
        await network.fetch(Request("http://h1.example/"))

    run_virtually(rude, network.clock)
    assert any("two at once" in line for line in network.broken)
    assert any("too early" in line for line in network.broken)


def test_thirty_hosts_and_kills(tmp_path: Path) -> None:
    check(simulate(11, 30, 3, tmp_path / "out", kills=2))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_thousands_of_hosts(tmp_path: Path, seed: int, record_property: RecordProperty) -> None:
    """Two thousand hosts at three hundred addresses, killed five times; another network for each seed."""
    network = simulate(seed, 2_000, 6, tmp_path / "out", kills=5)
    check(network)
    told = f"{network.requests} requests, {len(network.answered)} pages, {network.clock.begin - EPOCH:.0f} s"
    record_property("figure", f"simulated network, seed {seed}: {told}, no promise broken")
