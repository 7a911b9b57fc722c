"""What shards cost and bring: CPU a page beside one crawl, messages and bytes a page, growth with shards.

    python benchmarks/cluster.py [--quick] [--only cost growth] [--shards 1 2 4 8] [--repeat 3] [--pages N]

Cost: the same generated web on loopback, crawled by one ordinary crawl and by shards of a local Ray, without
delays, in turns; medians. CPU is that of all processes (crawl, parse workers, Ray's own), read from /proc, in
two figures: a page beyond the first tenth of them, which is what a crawl of any length goes on paying, told
by part; and all of it divided by all pages, with the start of every process and what is learned from the
first pages. Beside them, as many ordinary crawls as there are shards, at the same time, each with its part of
the pages: what the same number of processes costs on this machine when they have nothing to do with each
other. Each of those asks for every robots.txt itself, which shards do not.

Growth: webs where all but a seventh of the servers take 0.4 s for each answer, and eight requests at a time a
shard: waiting is the bottleneck. The web grows with the shards (50 hosts and 400 pages to fetch for each), so
that robots.txt is the same part of all requests. Pages and requests a second from the first tenth of the
pages on, and how many cores were busy.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

import honeyguide
from honeyguide.cluster.coordinator import ShardedCrawl
from honeyguide.config.load import check_values
from honeyguide.config.schema import Config
from honeyguide.job.crawl import Crawl, run_here
from honeyguide.lab.webs.generated import GeneratedWeb, WebSpec, seeds
from honeyguide.lab.webs.serve import start_server


def plain_web(pages: int) -> WebSpec:
    """A web with half as many pages again as are crawled, or more."""
    return WebSpec(
        seed=3, hosts=200, pages=max(6000, pages * 3 // 2), topics=4, traps=0.0, failing=0.0, slow=0.0,
        crawl_delay=0.0, tunnels=0.0,
    )  # fmt: skip


PARTS = ("own process", "shards", "parse workers", "ray")


def slow_web(shards: int) -> WebSpec:
    return WebSpec(
        seed=3, hosts=50 * shards, pages=1000 * shards, topics=4, traps=0.0, failing=0.0,
        crawl_delay=0.0, tunnels=0.0, mirrors=0.0, redirecting=0.0, slow=0.85, slow_seconds=0.4,
    )  # fmt: skip


def config(spec: WebSpec, port: int, pages: int, concurrency: int) -> Config:
    web = GeneratedWeb(spec)
    topic = web.topics[0]
    return check_values(
        {
            "topic": {"name": topic, "keywords": list(web.keywords(topic)[:8])},
            "crawl": {
                "seeds": [one for name in web.topics for one in seeds(web, name, distance=1)],
                "recipe": "best-first",
                "max_pages": pages,
                "max_pages_per_domain": "unlimited",
                "concurrency": concurrency,
                "parse_workers": 1,
            },
            "identity": {"user_agent": "honeyguide-benchmark (+https://example.org/)"},
            "politeness": {"delay": 0.0, "ip_delay": 0.0, "slow_factor": 0.0, "ip_at_once": 100},
            "network": {"connect_to": {"*": f"127.0.0.1:{port}"}},
        }
    )


def part_of(number: int, command: str) -> str:
    """Which part of a crawl a process is."""
    if number == os.getpid():
        return "own process"
    if "ray::" in command and "Directory" not in command:
        return "shards"
    return "parse workers" if "honeyguide.parse.worker" in command else "ray"


def tree_cpu() -> dict[str, float]:
    """Seconds of CPU of this process and all that descend from it, by part."""
    parents: dict[int, int] = {}
    commands: dict[int, str] = {}
    used: dict[int, tuple[float, float]] = {}
    """Of the process itself, and of its children that have ended."""
    tick = os.sysconf("SC_CLK_TCK")
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
            command = path.with_name("cmdline").read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        number = int(path.parent.name)
        parents[number], commands[number] = int(fields[1]), command
        used[number] = sum(map(int, fields[11:13])) / tick, sum(map(int, fields[13:15])) / tick
    mine, total = os.getpid(), dict.fromkeys(PARTS, 0.0)
    for number, (seconds, ended) in used.items():
        at = number
        while at not in (0, 1, mine):
            at = parents.get(at, 0)
        if at == mine:
            part = part_of(number, commands[number])
            total[part] += seconds
            total["ray" if part == "ray" else "parse workers"] += ended
    return total


async def crawl(job: dict[str, Any]) -> dict[str, Any]:
    """One crawl in this process; what it took."""
    spec = slow_web(job["shards"]) if job["slow"] else plain_web(job["web"])
    settings = config(spec, job["port"], job["pages"], job["concurrency"])
    moments: list[tuple[float, int, int]] = []
    spent: list[tuple[int, dict[str, float]]] = []
    looked = 0.0
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        one = Crawl(settings, out=out) if not job["shards"] else None
        many = ShardedCrawl(settings, out=out, shards=job["shards"]) if job["shards"] else None
        async for _ in one.run() if one is not None else many.run():  # type: ignore[union-attr]
            tally = (one or many).tally  # type: ignore[union-attr]
            moments.append((time.monotonic(), tally.pages, tally.requests))
            if time.monotonic() - looked > 1.0 and (not many or not many.ended):
                looked = time.monotonic()
                spent.append((tally.pages, tree_cpu()))
        pages = (one or many).tally.pages  # type: ignore[union-attr]
    first = next(each for each in spent if each[0] >= pages / 10)
    begin = next(moment for moment in moments if moment[1] >= pages / 10)
    end = next(moment for moment in moments if moment[1] >= pages)
    seconds = max(0.001, end[0] - begin[0])
    ended = many.ended.values() if many is not None else ()
    counted = max(1, spent[-1][0] - first[0])
    parts = {part: (spent[-1][1][part] - first[1][part]) / counted for part in PARTS}
    return {
        "pages": pages,
        "cpu": sum(parts.values()),
        "whole": sum(spent[-1][1].values()) / spent[-1][0],
        "requested": tally.requests / pages,
        "parts": parts,
        "rate": (end[1] - begin[1]) / seconds,
        "requests": (end[2] - begin[2]) / seconds,
        "calls": sum(one.calls for one in ended) + (many.calls if many is not None else 0),
        "sent": sum(one.sent for one in ended),
    }


def aside(**job: Any) -> dict[str, Any]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--child", json.dumps(job)]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    found: dict[str, Any] = json.loads(said.decode().strip().splitlines()[-1])
    return found


def side_by_side(count: int, **job: Any) -> dict[str, Any]:
    """So many ordinary crawls at the same time, as one."""
    with ThreadPoolExecutor(count) as pool:
        found = list(pool.map(lambda _: aside(shards=0, **job), range(count)))
    pages = sum(one["pages"] for one in found)
    return {
        "pages": pages,
        **{
            name: sum(one[name] * one["pages"] for one in found) / pages
            for name in ("cpu", "whole", "requested")
        },
        "parts": {part: sum(one["parts"][part] * one["pages"] for one in found) / pages for part in PARTS},
        "rate": sum(one["rate"] for one in found),
        "calls": 0.0,
        "sent": 0.0,
    }


def cost(counts: list[int], *, pages: int, repeat: int) -> list[dict[str, float]]:
    rows = []
    with start_server(plain_web(pages)) as server:
        job = {"slow": False, "web": pages, "port": server.port, "concurrency": 32}
        runs: dict[tuple[int, int], list[dict[str, Any]]] = {}
        for crawls, shards in (
            (1, 0),
            *((1, n) for n in counts),
            *((n, 0) for n in counts if n > 1),
        ) * repeat:
            found = (
                aside(pages=pages, shards=shards, **job)
                if crawls == 1
                else side_by_side(crawls, pages=pages // crawls, **job)
            )
            runs.setdefault((crawls, shards), []).append(found)
        for (crawls, shards), many in runs.items():
            row = {
                "shards": shards,
                "crawls": crawls,
                "ms a page": 1000 * median(one["cpu"] for one in many),
                "ms a page with the start": 1000 * median(one["whole"] for one in many),
                "requests a page": median(one["requested"] for one in many),
                "messages a page": median(one["calls"] / one["pages"] for one in many),
                "bytes a page": median(one["sent"] / one["pages"] for one in many),
                "pages a second": median(one["rate"] for one in many),
            }
            rows.append(row)
            name = f"{shards} shards" if shards else "one crawl" if crawls == 1 else f"{crawls} crawls"
            more, in_all = (
                100 * (row[key] / rows[0][key] - 1) for key in ("ms a page", "ms a page with the start")
            )
            each = ", ".join(f"{1000 * one['cpu']:.2f}" for one in many)
            print(
                f"{name:>10}: {row['ms a page']:6.2f} ms CPU a page beyond the start"
                f" ({more:+.0f} %; runs {each}),"
                f" {row['ms a page with the start']:.2f} with it ({in_all:+.0f} %),"
                f" {row['requests a page']:.2f} requests, {row['messages a page']:.3f} messages and"
                f" {row['bytes a page']:.0f} bytes a page, {row['pages a second']:.0f} pages a second",
                flush=True,
            )
            told = {part: 1000 * median(one["parts"][part] for one in many) for part in PARTS}
            print(" " * 12 + ", ".join(f"{part} {value:.2f}" for part, value in told.items() if value))
    return rows


def growth(counts: list[int], *, each: int) -> list[dict[str, float]]:
    rows: list[dict[str, float]] = []
    for shards in counts:
        with start_server(slow_web(shards)) as server:
            found = aside(slow=True, port=server.port, pages=each * shards, concurrency=8, shards=shards)
        row = {
            "shards": shards,
            "pages a second": found["rate"],
            "requests a second": found["requests"],
            "cores": found["cpu"] * found["rate"],
        }
        rows.append(row)
        share = row["pages a second"] / (rows[0]["pages a second"] / rows[0]["shards"] * shards)
        print(
            f"{shards:>3} shards: {row['pages a second']:6.1f} pages a second, {100 * share:.0f} % of linear;"
            f" {row['requests a second']:.1f} requests a second, {row['cores']:.2f} cores",
            flush=True,
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer pages")
    parser.add_argument("--only", nargs="+", choices=("cost", "growth"), default=("cost", "growth"))
    parser.add_argument("--shards", nargs="+", type=int, default=[1, 2, 4, 8])
    parser.add_argument("--repeat", type=int, default=3, help="runs of each for the cost")
    parser.add_argument("--pages", type=int, default=16_000, help="pages of a crawl whose cost is told")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        found_there: list[dict[str, float]] = []

        async def measured() -> None:
            found_there.append(await crawl(json.loads(given.child)))

        run_here(measured)  # as the command line does: shards have the same event loop
        print(json.dumps(found_there[0]))
        return
    # As an installation does, or every process would compile the modules anew: a shard is 0.5 s dearer then.
    compileall.compile_dir(Path(honeyguide.__file__).parent, quiet=2)
    found: dict[str, object] = {}
    if "cost" in given.only:
        counts = [count for count in given.shards if count in (1, 4)]
        found["cost"] = cost(counts, pages=800 if given.quick else given.pages, repeat=given.repeat)
    if "growth" in given.only:
        found["growth"] = growth(given.shards, each=150 if given.quick else 400)
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
