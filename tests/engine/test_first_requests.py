"""Hosts that nobody has asked before, redirects of robots.txt, and what a kill must not make us forget."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import defaultdict
from pathlib import Path

import pytest
from loopback import config_for, crawl_all, page, recording, redirect

from honeyguide.engine.clock import WallClock
from honeyguide.engine.traffic import recovered
from honeyguide.fetch.politeness import PolitenessPolicy
from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.served import Served
from honeyguide.model import Host

SLACK = 0.01


class Log:
    """When each host, and the one address of all of them, was asked."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = defaultdict(list)

    def note(self, url: str) -> None:
        self.times[url.split("/")[2]].append(time.monotonic())
        self.times[""].append(time.monotonic())


async def test_an_address_is_spared_from_the_first_request_on(tmp_path: Path) -> None:
    log = Log()

    def write(url: str) -> Served | None:
        log.note(url)
        return None if url.endswith("robots.txt") else page()

    async with recording(write) as server:
        seeds = [f"http://h{n}.example/" for n in range(8)]
        politeness = {"delay": 0.0, "ip_delay": 0.05, "slow_factor": 0.0}
        config = config_for(seeds, server.connect_to, politeness=politeness)
        crawl, _ = await crawl_all(config, None)
    assert crawl.tally.pages == 8
    assert len(log.times[""]) == 16
    assert log.times[""][-1] - log.times[""][0] >= 15 * 0.05 - SLACK


async def test_redirects_of_robots_txt_are_polite_to_the_host_they_lead_to(tmp_path: Path) -> None:
    log = Log()

    def write(url: str) -> Served | None:
        log.note(url)
        if url.startswith("http://third"):
            return Served(200, (("Content-Type", "text/plain"),), b"User-agent: *\nDisallow: /no\n")
        name = url.split("/")[2].partition(".")[0]
        return redirect(f"http://third.example/{name}") if url.endswith("robots.txt") else page()

    async with recording(write) as server:
        seeds = [f"http://h{n}.example/" for n in range(6)]
        politeness = {"delay": 0.1, "ip_delay": 0.0, "slow_factor": 0.0, "ip_at_once": 100}
        config = config_for(seeds, server.connect_to, politeness=politeness)
        crawl, _ = await crawl_all(config, None)
    assert crawl.tally.pages == 6
    third = log.times["third.example"]
    assert len(third) == 6
    assert third[-1] - third[0] >= 5 * 0.1 - SLACK


async def test_redirects_of_robots_txt_keep_the_crawl_delay_of_the_host_they_lead_to(tmp_path: Path) -> None:
    """That host is crawled as well: what it asks for holds from its robots.txt on, and in later sessions."""
    log = Log()

    def write(url: str) -> Served | None:
        log.note(url)
        if url.startswith("http://third") and url.endswith((".txt", ".robots")):
            return Served(200, (("Content-Type", "text/plain"),), b"User-agent: *\nCrawl-delay: 0.5\n")
        name = url.split("/")[2].partition(".")[0]
        return redirect(f"http://third.example/{name}.robots") if url.endswith("robots.txt") else page()

    async with recording(write) as server:
        politeness = {"delay": 0.05, "ip_delay": 0.0, "slow_factor": 0.0, "ip_at_once": 100}
        seeds = [f"http://{name}.example/" for name in ("third", "h0", "h1", "h2", "h3")]
        for most in (2, 10):
            crawl = {"max_pages": most, "concurrency": 3}
            config = config_for(seeds, server.connect_to, politeness=politeness, crawl=crawl)
            await crawl_all(config, tmp_path / "out")
    third = log.times["third.example"]
    assert len(third) == 6  # robots.txt, four that were sent there, and its page
    assert min(later - earlier for earlier, later in itertools.pairwise(third)) >= 0.5 - SLACK


async def test_a_kill_does_not_forget_a_crawl_delay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The crawl dies right after its second request; the next one waits as long as the site asked for."""
    log = Log()

    def write(url: str) -> Served | None:
        log.note(url)
        if url.endswith("robots.txt"):
            return Served(200, (("Content-Type", "text/plain"),), b"User-agent: *\nCrawl-delay: 1.5\n")
        return page("/1", "/2")

    async with recording(write) as server:
        config = config_for(["http://h.example/"], server.connect_to, crawl={"max_pages": 2})
        crawl = Crawl(config, out=tmp_path / "out")

        async def run() -> None:
            async for _ in crawl.run():
                pass

        task = asyncio.create_task(run())
        while len(log.times[""]) < 2:  # noqa: ASYNC110 - the server knows nothing of events
            await asyncio.sleep(0.005)
        crawler = crawl.crawler
        assert crawler is not None
        # Killed: nothing more is committed, and no session is stopped.
        assert crawl.state is not None
        monkeypatch.setattr(crawler._committer, "commit", lambda _now: None)
        monkeypatch.setattr(crawl.state, "stop_session", lambda *_, **__: None)
        monkeypatch.setattr(crawl.state, "commit", lambda: None)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        killed = time.monotonic()
        _, _ = await crawl_all(config, tmp_path / "out")
    after = [at for at in log.times[""] if at > killed]
    assert after
    assert after[0] - log.times[""][1] >= 1.5 - SLACK
    assert not [url for url in server.urls[2:] if url.endswith("robots.txt")]  # it was committed at once


POLICY = PolitenessPolicy()


@pytest.mark.parametrize(
    ("ready", "saved", "crashed", "wanted"),
    [
        (1_000.0, 900.0, False, 1_000.0),  # as it was
        (1_000.0 + 864_000, 900.0, False, 1_000.0 + 86_400),  # ten days ahead: a day at most
        (8_230.0, 8_200.0, False, 1_030.0),  # the clock was set back by two hours: 30 s are left
        (0.0, 900.0, True, 1_001.0),  # killed: the delay counts from now
        (1_500.0, 900.0, True, 1_500.0),
    ],
)
def test_saved_times_are_bounded(ready: float, saved: float, crashed: bool, wanted: float) -> None:
    host = Host(1, "a.example", ready_at=ready)
    recovered([host], POLICY, now=1_000.0, saved=saved, crashed=crashed)
    assert host.ready_at == wanted


def test_a_crawl_delay_counts_after_a_kill() -> None:
    host = Host(1, "a.example", crawl_delay=25.0)
    assert recovered([host], POLICY, now=100.0, saved=99.0, crashed=True) == [host]
    assert host.ready_at == 125.0


def test_the_clock_does_not_step(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = WallClock()
    before = clock.now()
    assert abs(before - time.time()) < 1
    monkeypatch.setattr(time, "time", lambda: before - 7_200)
    assert 0 <= clock.now() - before < 5
