"""A long crawl in memory: does the crawler grow once it knows its web?

A web of tiny pages, answered in process with a virtual clock, is crawled breadth-first with everything on:
decode, parse, judge, rank, store, archive, index. The first pages name every other URL, so what a known URL
costs is paid in the warm-up; from then on memory should be flat but for what each fetched page leaves in the
tables of duplicates and links. Resident memory is printed as the crawl goes. Run:

    python benchmarks/soak.py [--pages 5000] [--full]

SQLite's caches, 48 MB in all, take some 40,000 pages to fill; short crawls make them small to see the rest.
`--full` fetches a million pages (about 20 minutes of one core, 1.5 GB of disk for the archive).
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import json
import resource
import sqlite3
import tempfile
import time
from pathlib import Path

import numpy as np
from compared.loop_watch import LoopWatch

from honeyguide.engine.clock import VirtualClock
from honeyguide.fetch.base import Failure, Request, Response
from honeyguide.job.crawl import Crawl
from honeyguide.model import Topic

PER_HOST = 600
STARTS = ("bar", "mel", "tor", "quin", "sha")
WORDS = [f"{start}{vowel}{end}" for start in STARTS for vowel in "aeiou" for end in ("nd", "rk", "sh", "lt")]


def memory() -> float:
    """Resident memory now, in MiB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / (1 << 20)


class SmallCache(sqlite3.Connection):
    """A connection whose cache is full after a few pages of a crawl."""

    def execute(self, sql: str, *parameters: object) -> sqlite3.Cursor:  # type: ignore[override]
        """As SQLite does, but for the size of the cache."""
        small = "PRAGMA cache_size = -500" if sql.startswith("PRAGMA cache_size") else sql
        return super().execute(small, *parameters)  # type: ignore[arg-type]


class TinyWeb:
    """A root that names all hosts, hosts that name all their pages, and pages of 60 words."""

    def __init__(self, hosts: int, clock: VirtualClock) -> None:
        self._hosts = hosts
        self._clock = clock

    async def fetch(self, request: Request) -> Response | Failure:
        """The page of a URL; robots.txt is missing everywhere."""
        started = self._clock.now()
        self._clock.advance(0.01)
        host, _, path = request.url.partition("://")[2].partition("/")
        if path == "robots.txt":
            return Response(request.url, 404, (), b"", b"", started_at=started, response_head=HEAD_404)
        body = self.page(host, path)
        return Response(
            request.url, 200, HEADERS, body, body, started_at=started, seconds=0.01, ip="192.0.2.1",
            request_head=b"GET / HTTP/1.1\r\n\r\n", response_head=HEAD_200,
        )  # fmt: skip

    async def close(self) -> None:
        """Nothing to let go of."""

    def page(self, host: str, path: str) -> bytes:
        if host == "root.example":
            names = [f"http://h{n}.example/" for n in range(self._hosts)]
        elif not path:
            names = [f"/{WORDS[n % 100]}/{n}.html" for n in range(PER_HOST)]
        else:
            number = int(path.rpartition("/")[2].removesuffix(".html"))
            names = [f"/{WORDS[n % 100]}/{n}.html" for n in (number // 2, (number * 7 + 1) % PER_HOST)]
            names.append(f"http://h{(number * 31) % self._hosts}.example/")
        draw = np.random.default_rng(abs(hash((host, path))) % (1 << 32)).integers(0, 100, 60)
        text = " ".join([WORDS[n] for n in draw])
        links = "".join([f'<a href="{name}">{name[-9:-5]}</a> ' for name in names])
        return f"<title>{host} {path}</title><p>{text} owl</p><p>{links}</p>".encode()


HEADERS = (("Content-Type", "text/html; charset=utf-8"),)
HEAD_200 = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
HEAD_404 = b"HTTP/1.1 404 Not Found\r\n\r\n"


async def soak(pages: int, every: int, folder: Path) -> list[tuple[int, float]]:
    """Crawl; pages and memory as it went."""
    clock = VirtualClock()
    hosts = min(2_000, max(20, pages // (PER_HOST * 8 // 10)))
    topic = Topic("owls", keywords=("owl", "barn owl"), seeds=("http://root.example/",))
    options = {"max_pages": pages, "max_pages_per_domain": "unlimited"}
    web = TinyWeb(hosts, clock)
    crawl = Crawl(topic, out=folder, recipe="breadth-first", clock=clock, fetcher=web, **options)
    samples: list[tuple[int, float]] = []
    fetched = 0
    started = time.process_time()
    async with LoopWatch() as loop:
        async for event in crawl.run():
            if event.kind == "page":
                fetched += 1
                if fetched % every == 0:
                    samples.append((fetched, memory()))
                    ms = 1000 * (time.process_time() - started) / fetched
                    print(f"{fetched:>9,} pages  {samples[-1][1]:7.1f} MiB  {ms:.2f} ms a page", flush=True)
    print(f"ended: {crawl.reason}; longest block of the loop: {loop.longest_ms:.0f} ms")
    return samples


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int)
    parser.add_argument("--full", action="store_true", help="a million pages")
    given = parser.parse_args()
    pages = given.pages or (1_000_000 if given.full else 5_000)
    if pages < 100_000:
        sqlite3.connect = functools.partial(sqlite3.connect, factory=SmallCache)  # type: ignore[assignment]
    with tempfile.TemporaryDirectory() as folder:
        samples = asyncio.run(soak(pages, max(1, pages // 20), Path(folder) / "out"))
    warm = [sample for sample in samples if sample[0] > pages // 4]
    slope = float(np.polyfit([n for n, _ in warm], [size for _, size in warm], 1)[0]) * 1e6
    print(f"after the warm-up: {slope:.1f} MiB more a million pages; {warm[-1][1]:.0f} MiB at the end")
    print(json.dumps({"pages": pages, "MiB_a_million_pages": round(slope, 1), "samples": samples}))


if __name__ == "__main__":
    main()
