"""Connections: what is kept, what is not, and who has to wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from tests.fetch.servers import ok, serving

from honeyguide.fetch.base import Failure, Request, Response
from honeyguide.fetch.http import HttpFetcher, target_of
from honeyguide.fetch.room import Room
from honeyguide.model import Outcome

pytestmark = pytest.mark.realtime

Make = Callable[..., HttpFetcher]


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - the other end tells nobody
            await asyncio.sleep(0.005)


async def test_an_answer_that_nobody_asked_for_is_not_given_to_the_next(fetcher: Make) -> None:
    said: list[asyncio.StreamWriter] = []

    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        said.append(writer)
        writer.write(ok(b"asked"))

    async with fetcher() as http, serving(answer, keep_alive=True) as server:
        assert isinstance(await http.fetch(Request(server.url)), Response)
        said[0].write(ok(b"poison"))
        await said[0].drain()
        await until(said[0].transport.is_closing)
        result = await http.fetch(Request(server.url))
    assert isinstance(result, Response)
    assert result.body == b"asked"
    assert server.connections == 2


async def test_an_idle_connection_is_closed_after_its_time(fetcher: Make) -> None:
    said: list[asyncio.StreamWriter] = []

    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        said.append(writer)
        writer.write(ok(b"hi"))

    async with fetcher(keep_alive=0.05) as http, serving(answer, keep_alive=True) as server:
        assert isinstance(await http.fetch(Request(server.url)), Response)
        await until(said[0].transport.is_closing)


async def test_no_more_requests_are_on_the_wire_than_allowed(fetcher: Make) -> None:
    now = most = 0

    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.02)
        now -= 1
        writer.write(ok(b"hi"))

    async with fetcher(max_connections=2) as http, serving(answer) as server:
        results = await asyncio.gather(*(http.fetch(Request(server.url)) for _ in range(6)))
        assert all(isinstance(result, Response) for result in results)
        assert most == 2
        # Who gives up while waiting takes no turn along.
        waiting = [asyncio.create_task(http.fetch(Request(server.url))) for _ in range(6)]
        await asyncio.sleep(0.01)
        for task in waiting[1:5]:
            task.cancel()
        assert isinstance(await waiting[5], Response)
        assert isinstance(await waiting[0], Response)


async def test_who_waits_for_a_turn_waits_until_the_deadline(fetcher: Make) -> None:
    async def silence(head: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    async with fetcher(max_connections=1, deadline=0.3) as http, serving(silence) as server:
        results = await asyncio.gather(*(http.fetch(Request(server.url)) for _ in range(2)))
    assert [result.outcome for result in results if isinstance(result, Failure)] == [Outcome.TIMEOUT] * 2
    assert server.connections == 1


async def test_a_large_body_waits_for_room_and_then_goes_on(fetcher: Make) -> None:
    size = 3 << 20
    sent = 0

    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        for _ in range(size // 65_536):
            writer.write(bytes(65_536))
            await writer.drain()
            sent += 65_536

    room = Room(1 << 20)
    first = room.hold()
    assert first.fits(1 << 20)
    async with fetcher() as http, serving(answer) as server:
        task = asyncio.create_task(http.fetch(Request(server.url, hold=room.hold())))
        await until(lambda: room.used > 1 << 20)
        before = room.used
        await asyncio.sleep(0.1)
        assert room.used == before  # nothing is read meanwhile
        assert not task.done()
        first.give_back()
        result = await task
    assert isinstance(result, Response)
    assert len(result.body) == size


async def test_a_line_break_in_a_header_is_not_sent(fetcher: Make) -> None:
    async with fetcher() as http, serving(ok(b"hi")) as server:
        result = await http.fetch(Request(server.url, headers=(("X-A", "b\r\nCookie: c"),)))
        assert isinstance(result, Failure)
        assert server.connections == 0
        good = await http.fetch(Request(server.url, headers=(("accept", "text/plain"), ("X-B", "c"))))
    assert isinstance(good, Response)
    assert b"text/html" not in server.requests[0]
    assert b"accept: text/plain\r\nX-B: c\r\n" in server.requests[0]


@pytest.mark.parametrize(
    ("url", "place", "authority", "path"),
    [
        ("http://a.example", (False, "a.example", 80), "a.example", "/"),
        ("https://a.example:443/b?c#d", (True, "a.example", 443), "a.example", "/b?c"),
        ("http://a.example:8080?c", (False, "a.example", 8080), "a.example:8080", "/?c"),
        ("http://me:pass@word@[::1]:81/@b", (False, "::1", 81), "[::1]:81", "/@b"),
    ],
)
def test_targets(url: str, place: object, authority: str, path: str) -> None:
    target = target_of(url)
    assert target is not None
    assert (target.place, target.authority, target.path) == (place, authority, path)


@pytest.mark.parametrize(
    "url", ["http://a\\@b/", "http://a:99999/", "http://a:b/", "http://a b/", "http://[a]/", "http://@/"]
)
def test_what_is_no_target(url: str) -> None:
    assert target_of(url) is None


async def test_one_timer_looks_at_all_requests_of_a_connection(
    fetcher: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[float] = []
    loop = asyncio.get_running_loop()
    call_at = loop.call_at

    def counted(
        when: float, callback: Callable[..., object], *rest: Any, **named: Any
    ) -> asyncio.TimerHandle:
        made.extend([when] if getattr(callback, "__name__", "") == "_look" else [])
        return call_at(when, callback, *rest, **named)

    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        if b"GET /drips " not in head:
            writer.write(ok(b"asked"))
            return
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while True:
            writer.write(b"z")
            await asyncio.sleep(0.02)

    async with (
        fetcher(deadline=30.0, floor_after=0.4) as http,
        serving(answer, keep_alive=True) as server,
    ):
        monkeypatch.setattr(loop, "call_at", counted)
        for number in range(20):
            assert isinstance(await http.fetch(Request(f"{server.url}{number}")), Response)
        assert len(made) <= 2
        await asyncio.sleep(0.2)
        drips = await http.fetch(Request(f"{server.url}drips"))
        assert server.connections == 1
    assert isinstance(drips, Response)
    assert drips.truncated == "time"
    assert drips.seconds > 0.35  # the timer of those before rang at half of it


async def test_a_request_over_a_kept_connection_has_its_own_deadline(fetcher: Make) -> None:
    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        if b"GET /silence " not in head:
            writer.write(ok(b"asked"))

    async with fetcher(deadline=0.5) as http, serving(answer, keep_alive=True) as server:
        assert isinstance(await http.fetch(Request(server.url)), Response)
        await asyncio.sleep(0.3)
        late = await http.fetch(Request(f"{server.url}silence"))
    assert isinstance(late, Failure)
    assert late.outcome is Outcome.TIMEOUT
    assert late.seconds > 0.4
