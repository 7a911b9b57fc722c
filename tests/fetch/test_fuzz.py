"""Mutated answers: whatever a server sends, a fetch ends with an answer or an outcome."""

from __future__ import annotations

import gzip
import random
import time
from ipaddress import ip_network

import pytest
from tests.fetch.servers import chunked, ok, serving

from honeyguide.fetch.base import Failure, Request, Response
from honeyguide.fetch.egress import EgressGuard
from honeyguide.fetch.http import HttpFetcher
from honeyguide.fetch.options import FetchOptions

pytestmark = pytest.mark.realtime

GOOD = (
    ok(b"<html>hello</html>", "ETag: x"),
    ok(gzip.compress(b"hello " * 100), "Content-Encoding: gzip"),
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(b"hello", b"world"),
    ok(b"", "Location: /next", status="302 Found"),
)
SPICE = (
    b"\r\n",
    b"\0",
    b"\xff",
    b":",
    b" ",
    b"0",
    b"99999999999999999999",
    b"chunked",
    b"Content-Length: 3\r\n",
    b"",
)


def mutate(choose: random.Random) -> bytes:
    data = bytearray(choose.choice(GOOD))
    for _ in range(choose.randint(1, 4)):
        at = choose.randrange(len(data) or 1)
        end = at + choose.choice((0, 1, 1, 5, 30))
        data[at:end] = choose.choice(SPICE) if choose.random() < 0.7 else bytes([choose.randrange(256)])
    return bytes(data)


async def check(count: int, seed: int) -> None:
    choose = random.Random(seed)
    current = b""

    async def serve(head: bytes, writer: object) -> None:
        writer.write(current)  # type: ignore[attr-defined]

    options = FetchOptions(deadline=5.0)
    guard = EgressGuard([ip_network("127.0.0.0/8")])
    async with HttpFetcher(options, clock=time.time, guard=guard) as http, serving(serve) as server:
        for number in range(count):
            current = mutate(choose)
            result = await http.fetch(Request(server.url))
            assert isinstance(result, Response | Failure), (seed, number, current)
            assert result.seconds < 4, (seed, number, current)


async def test_mutated_answers_end_somehow() -> None:
    await check(500, seed=1)


@pytest.mark.slow
async def test_ten_thousand_mutated_answers_end_somehow() -> None:
    await check(10_000, seed=2)
