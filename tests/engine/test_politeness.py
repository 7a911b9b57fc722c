"""Politeness as the servers see it: their own log, not the crawler's intentions."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from loopback import config_for, crawl_all

from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.serve import LogEntry, WebServer, read_log
from honeyguide.lab.webs.served import Served

pytestmark = pytest.mark.realtime

DELAY = 0.05
CRAWL_DELAY = 0.15
RETRY_AFTER = 1
SLACK = 0.003
"""The crawler's clock is not the servers'."""


class Site:
    """Hosts whose pages link to their own next pages and to the other hosts."""

    def __init__(self, hosts: int, pages: int) -> None:
        self.hosts = hosts
        self.pages = pages
        self.asked: dict[str, int] = defaultdict(int)
        self.refused = 0

    def number(self, url: str) -> int:
        return int(url.partition("//h")[2].partition(".")[0])

    def asks_for_delay(self, host: str) -> bool:
        return self.number(f"//{host}") % 5 == 1

    def asks_to_wait(self, host: str) -> bool:
        return self.number(f"//{host}") % 7 == 3

    def get(self, url: str) -> Served:
        number, path = self.number(url), url.split("/", 3)[3]
        host = f"h{number}.example"
        if path == "robots.txt":
            slow = f"User-agent: *\nCrawl-delay: {CRAWL_DELAY}\n" if self.asks_for_delay(host) else ""
            return Served(200, (("Content-Type", "text/plain"),), slow.encode())
        self.asked[host] += 1
        if self.asks_to_wait(host) and self.asked[host] % 9 == 5:
            self.refused += 1
            status = 429 if self.asked[host] % 2 else 503
            return Served(status, (("Retry-After", str(RETRY_AFTER)),), b"later")
        page = int(path or 0)
        own = [f"/{page * 2 + step}" for step in (1, 2) if page * 2 + step < self.pages]
        own.append(f"/{(page - 1) // 2 if page > 1 else ''}")  # and back: the site is not an endless tree
        other = [f"http://h{(number * 3 + step) % self.hosts}.example/" for step in range(3)]
        links = "".join(f'<a href="{link}">owl</a> ' for link in own + other)
        text = f"<title>owl {number} {page}</title><p>owl {number * 7919 % 1000}</p>{links}"
        return Served(200, (("Content-Type", "text/html"),), text.encode(), delay=0.002)


@asynccontextmanager
async def farm(site: Site, folder: Path, addresses: int) -> AsyncIterator[dict[str, str]]:
    """Serve the site's hosts on so many addresses; the table that connects each host to its own."""
    async with AsyncExitStack() as stack:
        places = []
        for n in range(addresses):
            server = WebServer(site, log=folder / f"log-{n}")
            port = await server.start(address=f"127.0.0.{n + 2}")
            stack.push_async_callback(server.stop)
            places.append(f"127.0.0.{n + 2}:{port}")
        yield {f"h{n}.example": places[n % addresses] for n in range(site.hosts)}


def by_host(folder: Path) -> dict[str, list[LogEntry]]:
    found: dict[str, list[LogEntry]] = defaultdict(list)
    for path in folder.glob("log-*"):
        for entry in read_log(path):
            found[entry.host].append(entry)
    for entries in found.values():
        entries.sort(key=lambda entry: entry.came)
    return found


def violations(site: Site, logs: dict[str, list[LogEntry]]) -> list[str]:
    """Requests that came too soon, by the rule they broke."""
    found = []
    for host, entries in logs.items():
        for one, two in pairwise(entries):
            gap = two.came - one.left
            wait = CRAWL_DELAY if site.asks_for_delay(host) and not one.url.endswith("robots.txt") else DELAY
            if one.status in (429, 503):
                wait = max(wait, RETRY_AFTER)
            if gap < wait - SLACK:
                found.append(f"{host}: {gap:.4f} s instead of {wait} after {one.status} {one.url}")
    return found


def table(**more: object) -> dict[str, dict[str, object]]:
    return {
        "crawl": {"max_pages": "unlimited", "concurrency": 64, **more},
        "politeness": {"delay": DELAY, "max_retries": 3, "give_up_after": 50, "ip_at_once": 100},
    }


async def crawl_politely(tmp_path: Path, hosts: int, pages: int, **more: object) -> None:
    site = Site(hosts, pages)
    async with farm(site, tmp_path, 20) as connect_to:
        config = config_for(["http://h0.example/", "http://h1.example/"], connect_to, **table(**more))
        crawl, _ = await crawl_all(config, tmp_path / "out")
    logs = by_host(tmp_path)
    assert len(logs) == hosts
    assert violations(site, logs) == []
    assert crawl.tally.requests == sum(map(len, logs.values()))
    assert any(entry.status in (429, 503) for entries in logs.values() for entry in entries)


async def test_the_rules_find_violations() -> None:
    site = Site(10, 10)
    entries = [LogEntry("h0.example", "http://h0.example/", 200, 1.0, 1.1)]
    assert (
        violations(site, {"h0.example": [*entries, LogEntry("h0.example", "/", 200, 1.1 + DELAY, 2.0)]}) == []
    )
    assert violations(site, {"h0.example": [*entries, LogEntry("h0.example", "/", 200, 1.05, 2.0)]})
    assert violations(site, {"h1.example": [*entries, LogEntry("h1.example", "/", 200, 1.1 + DELAY, 2.0)]})


async def test_nobody_is_asked_at_once_or_too_soon(tmp_path: Path) -> None:
    await crawl_politely(tmp_path, hosts=30, pages=14)


@pytest.mark.slow
async def test_20000_requests_to_300_hosts(tmp_path: Path) -> None:
    await crawl_politely(tmp_path, hosts=300, pages=66)
    assert sum(map(len, by_host(tmp_path).values())) >= 20_000


async def test_a_restart_does_not_forget_who_asked_to_be_left_alone(tmp_path: Path) -> None:
    site = Site(8, 30)
    async with farm(site, tmp_path, 20) as connect_to:
        seeds = [f"http://h{n}.example/" for n in range(8)]
        config = config_for(seeds, connect_to, **table())
        sessions = 0
        while sessions < 12:
            sessions += 1
            crawl = Crawl(config, out=tmp_path / "out")
            before, told = site.refused, False
            async for _ in crawl.run():
                # Stop right after the first refusal of this session, while the host is to be left alone. Two
                # stops would break off, and nobody would hear what the host said.
                if site.refused > before and not told:
                    told = True
                    crawl.stop()
            if crawl.reason == "nothing left to fetch":
                break
    logs = by_host(tmp_path)
    assert sessions > 1
    assert [entry for entry in logs["h3.example"] if entry.status in (429, 503)]
    assert violations(site, logs) == []
    assert len({entry.url for entries in logs.values() for entry in entries}) >= 8 * 31


class Late(Site):
    """Breaks the crawl off as soon as it has asked for a page."""

    crawl: Crawl

    def get(self, url: str) -> Served:
        answer = super().get(url)
        if url.endswith("robots.txt"):
            return answer
        for _ in range(2):
            asyncio.get_running_loop().call_soon(self.crawl.stop)
        return msgspec.structs.replace(answer, delay=30.0)


async def test_a_request_that_was_broken_off_counts(tmp_path: Path) -> None:
    """Stopped at once, and taken up at once: the host is left alone for as long as after an answer."""
    delay = 1.2
    site = Late(1, 5)
    ends = []
    async with farm(site, tmp_path, 1) as connect_to:
        wanted = table()
        wanted["politeness"]["delay"] = delay
        config = config_for(["http://h0.example/"], connect_to, **wanted)
        for _ in range(2):
            site.crawl = Crawl(config, out=tmp_path / "out")
            async for _ in site.crawl.run():
                pass
            ends.append(time.monotonic())
    assert site.asked["h0.example"] == 2
    assert ends[1] - ends[0] > delay - 0.2
