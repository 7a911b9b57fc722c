"""CPU time of parsing a 1.37 MB robots.txt, of compiling it for one agent, and of one question; and what the
robots.txt of 100,000 hosts take in memory, kept as a crawl keeps them.

The files of the hosts have 3 to 300 rules (20 in the middle), one in ten hosts has none, and one in a
thousand has half a megabyte. Run:

    python benchmarks/robots.py [--hosts 100000]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import time
from pathlib import Path

from jwm.robotstxt.googlebot import RobotsMatcher

from honeyguide.fetch.base import Failure, Request, Response
from honeyguide.fetch.robots import RobotsCache, RobotsOptions
from honeyguide.web.robots import Robots

SIZE = 1_370_000
SMALL = 4096
"""Bytes; longer files are read where pages are parsed (`honeyguide.fetch.robots`)."""


def large_file() -> bytes:
    """A file of many sections, some with wildcards, cut to the size of the largest seen in the wild."""
    lines = ["User-agent: *"]
    length = 0
    number = 0
    while length < SIZE:
        tail = ("/", "/*.pdf$", "*sort=", "/print/")[number % 4]
        lines.append(f"Disallow: /catalogue/section-{number}{tail}")
        length += len(lines[-1]) + 1
        number += 1
    return "\n".join(lines).encode()[:SIZE]


def milliseconds(start: float) -> float:
    return (time.process_time() - start) * 1e3


def file_of(host: int) -> bytes:
    """A robots.txt as hosts have them."""
    draw = random.Random(host)
    rules = 12_000 if host % 1000 == 0 else min(300, max(3, int(draw.lognormvariate(3.0, 1.0))))
    own = "\n".join(
        f"Disallow: /{draw.choice(('cgi', 'tmp', 'search', 'user'))}/{n}/*sort=" for n in range(rules)
    )
    return f"User-agent: *\n{own}\nCrawl-delay: 1\nSitemap: https://h{host}.example/sitemap.xml\n".encode()


class NoFetcher:
    """Nothing is fetched: answers are taken as a resumed crawl takes them."""

    async def fetch(self, request: Request) -> Response | Failure:
        raise NotImplementedError(request.url)

    async def close(self) -> None:
        """There is nothing to close."""


def resident() -> float:
    """Memory of this process in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


async def keep(hosts: int) -> None:
    """Load the rules of many hosts, and ask for all of them again."""
    cache = RobotsCache(NoFetcher(), "honeyguide", clock=time.time)
    before = resident()
    read = longest = 0.0
    for host in range(hosts):
        body = file_of(host) if host % 10 else b""
        started = time.process_time()
        await cache.restore(f"https://h{host}.example", 200 if body else 404, body, time.time())
        spent = time.process_time() - started
        read += spent
        longest = max(longest, spent if len(body) <= SMALL else 0.0)
    took = resident() - before
    kept = sum(cache.peek(f"https://h{host}.example") is not None for host in range(hosts))
    print(f"{hosts:,} hosts: {kept:,} kept in {took:.0f} MB ({1e6 * took / hosts:.0f} bytes each)")
    print(f"  read in {1e6 * read / hosts:.0f} µs each, at most {1e3 * longest:.1f} ms (files of up to 4 KB)")
    started = time.process_time()
    gc.collect()
    print(f"  a collection of garbage takes {1e3 * (time.process_time() - started):.0f} ms")
    options = RobotsOptions()
    print(f"  bounds: {options.size:,} hosts, {options.max_bytes >> 20} MiB of packed rules")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=100_000)
    given = parser.parse_args()
    gc.set_threshold(20_000, *gc.get_threshold()[1:])  # as a crawl has it
    asyncio.run(keep(given.hosts))
    body = large_file()
    text = body.decode()
    url = "https://example.org/catalogue/section-4321/x/y.pdf?sort=1"
    parse = compiled = asked = float("inf")
    for _ in range(5):
        start = time.process_time()
        robots = Robots.parse(body)
        parse = min(parse, milliseconds(start))
        start = time.process_time()
        robots.allowed("honeyguide", url)
        compiled = min(compiled, milliseconds(start))
        start = time.process_time()
        for _ in range(1000):
            robots.allowed("honeyguide", url)
        asked = min(asked, milliseconds(start))
    start = time.process_time()
    RobotsMatcher().OneAgentAllowedByRobots(text, "honeyguide", url)
    google = milliseconds(start)
    print(f"parse {len(body):,} bytes               {parse:8.1f} ms")
    print(f"compile for one agent (once)        {compiled:8.1f} ms")
    print(f"one question                        {asked:8.2f} µs")
    print(f"one question, parsing anew in C++   {google * 1e3:8.0f} µs")


if __name__ == "__main__":
    main()
