"""What a thousand dripping hosts cost a thousand good ones.

Two crawls over real sockets, one after the other, as often as asked: the good hosts alone, and the same with
as many hosts beside them that send a byte a second, all of them seeds, one of each in turn. Every host is a
loopback address of its own, with twelve small pages (`--per-host`). Wall time is what counts here, so compare
ratios, and repeat on a machine that does other things. Run:

    python benchmarks/drip.py [--hosts 1000] [--pages 6000] [--per-host 12] [--repeat 3] [--full]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import statistics
import tempfile
import time
from pathlib import Path

from compared.loop_watch import LoopWatch

PORT = 8767
STARTING = 40
"""Pages that are not watched for blocks: the first ones import what they need."""


def address(number: int, *, good: bool) -> str:
    return f"127.{2 if good else 3}.{number // 250}.{number % 250 + 1}:{PORT}"


def page(host: str, path: str, per_host: int) -> bytes:
    """A small page that links to eleven others of its host, as `--per-host` says how many there are."""
    first = int(path.strip("/").removesuffix(".html") or 0)
    numbers = [(first + step) % per_host for step in range(1, 12)]
    links = "".join(f'<li><a href="/{n}.html">barn owl number {n}</a></li>' for n in numbers)
    text = f"owls of {host} on {path}, which hunt at night and sleep by day. " * 30
    body = f"<title>Owls {path}</title><h1>Owls</h1><p>{text}</p><ul>{links}</ul>".encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body


class Talk(asyncio.Protocol):
    """Answers at once, or a byte a second."""

    def __init__(self, per_host: int) -> None:
        self.per_host = per_host

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: asyncio.WriteTransport = transport  # type: ignore[assignment]
        self.host = transport.get_extra_info("sockname")[0]

    def data_received(self, data: bytes) -> None:
        path = data.split(b" ", 2)[1].decode()
        if self.host.startswith("127.3."):
            self.transport.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99999\r\n\r\n"
            )
            self.drip()
        elif path == "/robots.txt":
            self.transport.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        else:
            self.transport.write(page(self.host, path, self.per_host))

    def drip(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(b"x")
            asyncio.get_running_loop().call_later(1.0, self.drip)


def serve(per_host: int) -> None:
    """The web, in a process of its own."""

    async def run() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Talk(per_host), "0.0.0.0", PORT, backlog=4096)
        await server.serve_forever()

    asyncio.run(run())


def crawl(hosts: int, pages: int, *, dripping: bool) -> dict[str, float]:
    """One crawl in this process; pages a second from the first commit to the last."""
    from honeyguide.config.load import check_values
    from honeyguide.job.crawl import Crawl, run_here

    seeds = []
    for number in range(hosts):
        if dripping:
            seeds.append(f"http://{address(number, good=False)}/")
        seeds.append(f"http://{address(number, good=True)}/")
    config = check_values(
        {
            "topic": {"name": "owls", "keywords": ["owl"]},
            "crawl": {
                "seeds": seeds,
                "recipe": "breadth-first",
                "max_pages": pages,
                "max_pages_per_domain": "unlimited",
            },
            "identity": {"user_agent": "honeyguide-bench/0.1 (+https://example.org/)"},
            "politeness": {"delay": 0.0, "ip_delay": 0.0, "slow_factor": 0.0},
            "network": {"allow_net": ["127.0.0.0/8"]},
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        job = Crawl(config, out=Path(folder) / "out")
        times: list[float] = []
        blocks: list[float] = []

        async def watch() -> None:
            async with LoopWatch() as loop:
                async for event in job.run():
                    if event.kind == "page":
                        times.append(time.monotonic())
                        if len(times) == STARTING:
                            loop.longest_ms = 0.0
            blocks.append(loop.longest_ms)

        started = time.process_time()
        run_here(watch)
        cpu = time.process_time() - started
    return {
        "pages": len(times),
        "pages_per_second": (len(times) - 1) / (times[-1] - times[0]),
        "main_cpu_ms_per_page": 1000 * cpu / len(times),
        "longest_block_ms": blocks[0],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int)
    parser.add_argument("--pages", type=int)
    parser.add_argument("--per-host", type=int, default=12, help="pages of a good host")
    parser.add_argument("--repeat", type=int)
    parser.add_argument("--full", action="store_true", help="1,000 hosts, 10,000 pages, three times")
    given = parser.parse_args()
    hosts = given.hosts or (1_000 if given.full else 250)
    pages = given.pages or (10_000 if given.full else 1_500)
    context = multiprocessing.get_context("spawn")
    server = context.Process(target=serve, args=(given.per_host,), daemon=True)
    server.start()
    time.sleep(1.5)
    runs: dict[bool, list[dict[str, float]]] = {False: [], True: []}
    try:
        for _ in range(given.repeat or (3 if given.full else 1)):
            for dripping in (False, True):
                runs[dripping].append(crawl(hosts, pages, dripping=dripping))
                print("dripping" if dripping else "good only", runs[dripping][-1], flush=True)
    finally:
        server.terminate()
    medians = {
        dripping: statistics.median(run["pages_per_second"] for run in those)
        for dripping, those in runs.items()
    }
    ratio = medians[True] / medians[False]
    print(f"throughput with {hosts} dripping hosts: {100 * ratio:.1f} % of that without")
    spent = {
        dripping: statistics.median(run["main_cpu_ms_per_page"] for run in those)
        for dripping, those in runs.items()
    }
    cpu_ratio = spent[False] / spent[True]
    # The servers' share of the machine is not in this one.
    print(f"pages per second of the crawl's CPU: {100 * cpu_ratio:.1f} % of that without")
    block = max(run["longest_block_ms"] for those in runs.values() for run in those)
    print(f"longest block of the loop: {block:.0f} ms")
    print(
        json.dumps(
            {
                "hosts": hosts,
                "pages": pages,
                "ratio": ratio,
                "cpu_ratio": cpu_ratio,
                "longest_block_ms": block,
            }
        )
    )


if __name__ == "__main__":
    main()
