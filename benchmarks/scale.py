"""A crawl that knows a million URLs, and one of ten million: pages a second, memory, resume.

A generated web is answered in process as parsed pages, so that what is measured is the engine: judge, rank,
frontier, state, journal and index, on disk, with commits. Directory pages of 2,000 links each, all of them
seeds, make the crawl know as many URLs as asked, whatever the recipe; then pages of 50 links, 20 of them new,
are fetched and timed. The crawl is then resumed in a process of its own, and the time to the first page is
taken. CPU time beside wall time: machines are shared. Run:

    python benchmarks/scale.py [--thousands 50 500] [--pages 2000] [--recipe scout] [--full]

`--full` is 1 and 10 million URLs (about ten minutes, 6 GB of disk).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from compared.loop_watch import LoopWatch

from honeyguide.engine.clock import VirtualClock
from honeyguide.engine.visit import Visit
from honeyguide.frontier import Waiting
from honeyguide.job.crawl import Crawl
from honeyguide.model import Link, Outcome, Page, Topic
from honeyguide.web import url_id

DIRECTORY = 2_000
LINKS, NEW = 50, 20
MORE = 200
"""Pages after the timed ones: events come in groups, those of the last after everything was closed."""
URL = re.compile(r"(https://)([a-z]+)(\d*)\..*")


def memory() -> float:
    """Resident memory now, in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


class Directories:
    """Directories name leaves; leaves name leaves."""

    def __init__(self, known: int, clock: VirtualClock) -> None:
        self._clock = clock
        self.directories = max(1, known // DIRECTORY)
        self._hosts = max(1_000, known // 20)
        self._fresh = known
        self._random = np.random.default_rng(1)

    def leaf(self, number: int) -> str:
        """A URL of 70 characters; host k has a share of about 1/k."""
        mixed = (number * 0x9E3779B97F4A7C15 + 12345) & (1 << 64) - 1
        host = int(self._hosts ** ((mixed >> 11) / (1 << 53)))
        return f"https://host{host:07d}.example-{host % 9973}.org/{number:09d}/{'a' * 20}.html"

    async def visit(self, waiting: Waiting) -> Visit:
        """The page of a URL, parsed."""
        self._clock.advance(0.01)
        _, kind, number = URL.fullmatch(waiting.url).groups()  # type: ignore[union-attr]
        first = int(number or 0) * DIRECTORY
        if kind == "directory":
            urls = [self.leaf(n) for n in range(first, first + DIRECTORY)]
        else:
            urls = self._leaf_links()
        links = tuple([
            Link(url, url_id(url), anchor="a few words", context="some words before a few words and after")
            for url in urls
        ])  # fmt: skip
        unique = int(self._random.integers(1, 1 << 62))
        page = Page(
            waiting.url, waiting.id, title="A leaf", text="leaves fall in autumn " * 20, links=links,
            bytes=2_000, digest=f"sha1:{unique:032d}", simhash=unique,
        )  # fmt: skip
        return Visit(Outcome.FETCHED, page=page, requests=1, seconds=0.01, status=200)

    def _leaf_links(self) -> list[str]:
        fresh = range(self._fresh, self._fresh + NEW)
        self._fresh += NEW
        old = self._random.integers(0, self._fresh - NEW, LINKS - NEW).tolist()
        return [self.leaf(n) for n in (*old, *fresh)]

    async def close(self) -> None:
        """Nothing to let go of."""


def job(folder: Path, known: int, pages: int, recipe: str) -> Crawl:
    clock = VirtualClock()
    web = Directories(known, clock)
    seeds = tuple(f"https://directory{n}.names-{n}.org/" for n in range(web.directories))
    topic = Topic("owls", keywords=("owl",), seeds=seeds)
    options = {"max_pages": pages, "max_pages_per_domain": "unlimited"}
    return Crawl(topic, out=folder, recipe=recipe, clock=clock, visitor=web, **options)


async def grow(folder: Path, known: int, pages: int, recipe: str) -> dict[str, float | str]:
    """Know `known` URLs, then fetch `pages` leaves."""
    before = max(1, known // DIRECTORY)
    crawl = job(folder, known, before + pages + MORE, recipe)
    number = 0
    cpu = wall = cpu_before = wall_before = block = 0.0
    started = time.process_time()
    async with LoopWatch() as loop:
        async for event in crawl.run():
            number += event.kind == "page"
            if number == before and not wall_before:
                cpu_before, wall_before = time.process_time(), time.monotonic()
                loop.longest_ms = 0.0
            if number == before + pages and not wall:
                cpu, wall = time.process_time(), time.monotonic()
                block = loop.longest_ms
    return {
        "recipe": recipe,
        "urls": known,
        "fill_cpu_s": round(cpu_before - started, 1),
        "pages": pages,
        "cpu_ms_per_page": round(1000 * (cpu - cpu_before) / pages, 3),
        "pages_per_cpu_second": round(pages / (cpu - cpu_before), 1),
        "pages_per_second": round(pages / (wall - wall_before), 1),
        "resident_MB": round(memory()),
        "longest_block_ms": round(block, 1),
    }


async def resume(folder: Path, known: int, pages: int, recipe: str) -> dict[str, float | str]:
    """Open the collection again; time to the first page."""
    cpu, wall = time.process_time(), time.monotonic()
    crawl = job(folder, known, pages, recipe)
    facts: dict[str, float | str] = {}
    async for event in crawl.run():
        if event.kind == "page" and not facts:
            facts = {
                "resume_s": round(time.monotonic() - wall, 2),
                "resume_cpu_s": round(time.process_time() - cpu, 2),
                "resumed_MB": round(memory()),
            }
            crawl.stop()
    return facts


def child(what: str, folder: str, known: int, pages: int, recipe: str) -> dict[str, float | str]:
    command = [sys.executable, __file__, "--child", what, folder, str(known), str(pages), recipe]
    said = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    facts: dict[str, float | str] = json.loads(said.splitlines()[-1])
    return facts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--thousands", type=int, nargs="*", help="URLs to know, in thousands")
    parser.add_argument("--pages", type=int, default=2_000)
    parser.add_argument("--recipe", default="best-first")
    parser.add_argument("--full", action="store_true", help="1 and 10 million URLs")
    parser.add_argument("--child", nargs=5, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        what, folder, known, pages, recipe = given.child
        run = grow if what == "grow" else resume
        print(json.dumps(asyncio.run(run(Path(folder), int(known), int(pages), recipe))))
        return
    results = []
    for thousands in given.thousands or ([1_000, 10_000] if given.full else [50, 500]):
        with tempfile.TemporaryDirectory() as folder:
            out = str(Path(folder) / "out")
            facts = child("grow", out, thousands * 1000, given.pages, given.recipe)
            facts |= child("resume", out, thousands * 1000, 10**9, given.recipe)
            facts["file_MB"] = round((Path(out) / "state.sqlite").stat().st_size / 1e6)
        print(json.dumps(facts), flush=True)
        results.append(facts)
    ratio = float(results[0]["pages_per_cpu_second"]) / float(results[-1]["pages_per_cpu_second"])
    print(f"the larger is slower by a factor of {ratio:.2f} (of CPU time)")
    print(json.dumps({"sizes": results, "factor": ratio}))


if __name__ == "__main__":
    main()
