"""CPU time of a fetched page: Honeyguide's fetcher beside plain aiohttp, on loopback.

The server runs in a process of its own, so only the client's CPU time is counted. Run:
    python benchmarks/fetch.py [--pages 5000] [--concurrency 50]
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import multiprocessing
import random
import time
from collections.abc import Awaitable, Callable
from ipaddress import ip_network
from multiprocessing.connection import Connection

import aiohttp
import uvloop

from honeyguide.fetch.base import Request, Response
from honeyguide.fetch.egress import EgressGuard
from honeyguide.fetch.http import HttpFetcher
from honeyguide.fetch.options import FetchOptions


def page(size: int) -> bytes:
    choose = random.Random(1)
    words = ["".join(choose.choices("abcdefghiklmnoprstu", k=choose.randint(2, 9))) for _ in range(3000)]
    return (" ".join(choose.choices(words, k=size // 6))).encode()[:size]


class Server(asyncio.Protocol):
    """Answers every request head with the same bytes."""

    answer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.transport.write(self.answer)  # type: ignore[attr-defined]


def serve(pipe: Connection, body: bytes) -> None:
    payload = gzip.compress(body)
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nServer: bench\r\nCache-Control: max-age=60\r\n"
    head += f"Content-Encoding: gzip\r\nContent-Length: {len(payload)}\r\n\r\n"
    Server.answer = head.encode() + payload

    async def run() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Server, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    uvloop.run(run())


async def measure(
    fetch: Callable[[int], Awaitable[int]], *, pages: int, concurrency: int
) -> dict[str, float]:
    numbers = iter(range(pages))

    async def worker() -> None:
        for number in numbers:
            await fetch(number)

    await asyncio.gather(*(fetch(number) for number in range(concurrency)))
    cpu, wall = time.process_time(), time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(concurrency)))
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return {"pages_per_cpu_second": pages / cpu, "cpu_ms_per_page": 1000 * cpu / pages, "wall_s": wall}


async def compare(port: int, body: bytes, *, pages: int, concurrency: int) -> dict[str, dict[str, float]]:
    results = {}
    async with aiohttp.ClientSession() as session:

        async def plain(number: int) -> int:
            async with session.get(f"http://127.0.0.1:{port}/page/{number}") as response:
                return len(await response.read())

        results["plain aiohttp"] = await measure(plain, pages=pages, concurrency=concurrency)
    guard = EgressGuard([ip_network("127.0.0.0/8")])
    async with HttpFetcher(FetchOptions(), clock=time.time, guard=guard) as fetcher:

        async def ours(number: int) -> int:
            result = await fetcher.fetch(Request(f"http://127.0.0.1:{port}/page/{number}"))
            assert isinstance(result, Response), result
            assert len(result.body) == len(body)
            return len(result.body)

        results["honeyguide"] = await measure(ours, pages=pages, concurrency=concurrency)
    return results


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("--concurrency", type=int, default=50)
    parser.add_argument("--size", type=int, default=20_000)
    arguments = parser.parse_args()
    body = page(arguments.size)
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs, body), daemon=True)
    process.start()
    try:
        port = ours.recv()
        results = uvloop.run(compare(port, body, pages=arguments.pages, concurrency=arguments.concurrency))
    finally:
        process.terminate()
        process.join()
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
