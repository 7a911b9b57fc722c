from __future__ import annotations

import asyncio
import gzip
import socket
import struct
import time
from collections.abc import Callable

import brotli
import pytest
import zstandard
from tests.fetch.servers import chunked, ok, serving

from honeyguide.fetch.base import Failure, Request, Response
from honeyguide.fetch.http import HttpFetcher
from honeyguide.model import Outcome

pytestmark = pytest.mark.realtime

Make = Callable[..., HttpFetcher]
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


async def get(make: Make, answer: object, *, request: dict[str, object] | None = None, **settings: object):  # type: ignore[no-untyped-def]
    async with make(**settings) as fetcher, serving(answer) as server:  # type: ignore[arg-type]
        return await fetcher.fetch(Request(server.url, **(request or {})))  # type: ignore[arg-type]


async def test_a_page_with_everything_the_archive_needs(fetcher: Make) -> None:
    answer = b"HTTP/1.1 200 Fine\r\nX-A: 1\r\nX-A: 2\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(
        b"he", b"llo"
    )
    settings = {"user_agent": "bird/1 (+https://example.org)", "accept_language": "en"}
    async with fetcher(**settings) as http, serving(answer) as server:
        result = await http.fetch(Request(server.url + "a%20b?c=%2f"))
    assert isinstance(result, Response)
    assert (result.status, result.reason, result.body, result.payload) == (200, "Fine", b"hello", b"hello")
    assert result.truncated == ""
    assert result.ip == "127.0.0.1"
    assert result.headers == (("X-A", "1"), ("X-A", "2"), ("Transfer-Encoding", "chunked"))
    assert result.response_head == (
        b"HTTP/1.1 200 Fine\r\nX-A: 1\r\nX-A: 2\r\nX-Crawler-Transfer-Encoding: chunked\r\n\r\n"
    )
    assert result.request_head == server.requests[0]
    assert result.request_head.startswith(b"GET /a%20b?c=%2f HTTP/1.1\r\n")
    assert b"User-Agent: bird/1 (+https://example.org)\r\n" in result.request_head
    assert b"Accept-Encoding: gzip, deflate, br, zstd\r\n" in result.request_head
    assert b"Accept-Language: en\r\n" in result.request_head
    for absent in (b"Cookie", b"Referer", b"Authorization"):
        assert absent not in result.request_head
    assert abs(result.started_at - time.time()) < 60
    assert result.seconds >= 0


@pytest.mark.parametrize(
    ("coding", "payload"),
    [
        ("gzip", gzip.compress(b"hello", mtime=0)),
        ("br", brotli.compress(b"hello")),
        ("zstd", zstandard.ZstdCompressor().compress(b"hello")),
        ("br, gzip", gzip.compress(brotli.compress(b"hello"), mtime=0)),
        ("identity", b"hello"),
        ("UTF-8", b"hello"),
        ("binary", b"hello"),
        ('"GZIP";q=1', gzip.compress(b"hello", mtime=0)),
    ],
)
async def test_encoded_bodies_are_decoded_and_kept_as_received(
    fetcher: Make, coding: str, payload: bytes
) -> None:
    result = await get(fetcher, ok(payload, f"Content-Encoding: {coding}"))
    assert (result.body, result.payload) == (b"hello", payload)


KEPT = {
    "length too long": (ok(b"hi", length=10), 200, b"hi", "disconnect"),
    "length too short": (ok(b"hello world", length=5), 200, b"hello", ""),
    "broken chunk": (CHUNKED + b"5\r\nhello\r\nzz\r\n", 200, b"hello", "disconnect"),
    "truncated between chunks": (CHUNKED + chunked(b"hello", end=False), 200, b"hello", "disconnect"),
    "truncated inside a chunk": (CHUNKED + b"5\r\nhel", 200, b"hel", "disconnect"),
    "truncated gzip": (
        ok(gzip.compress(b"x" * 99, mtime=0)[:-9], "Content-Encoding: gzip"),
        200,
        None,
        "disconnect",
    ),
    "truncated zstd": (
        ok(zstandard.compress(bytes(range(256)))[:-9], "Content-Encoding: zstd"),
        200,
        None,
        "disconnect",
    ),
    "no length": (b"HTTP/1.1 200 OK\r\n\r\nhello", 200, b"hello", ""),
    "HTTP/1.0": (b"HTTP/1.0 200 OK\r\n\r\nhello", 200, b"hello", ""),
    "bare line feeds": (b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", 200, b"hello", ""),
    "no reason": (b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi", 200, b"hi", ""),
    "strange status": (ok(b"no", status="999 Denied"), 999, b"no", ""),
    "continue first": (b"HTTP/1.1 100 Continue\r\n\r\n" + ok(b"hi"), 200, b"hi", ""),
    "no content": (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b"", ""),
    "not modified": (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n", 304, b"", ""),
    "empty": (ok(b""), 200, b"", ""),
    "no line of a header": (ok(b"hi", "HTTP/1.1 200 OK", "Foo Bar: x"), 200, b"hi", ""),
    "length and chunks": (
        CHUNKED.replace(b"OK\r\n", b"OK\r\nContent-Length: 3\r\n") + chunked(b"hello"),
        200,
        b"hello",
        "",
    ),
    "empty gzip": (ok(b"", "Content-Encoding: gzip"), 200, b"", ""),
    "latin-1 header": (ok(b"hi").replace(b"text/html", b"text/\xe9"), 200, b"hi", ""),
    "broken encoding of an error": (
        ok(b"junk", "Content-Encoding: gzip", status="404 No"),
        404,
        b"",
        "encoding",
    ),
}


@pytest.mark.parametrize("case", KEPT)
async def test_odd_answers_are_kept(fetcher: Make, case: str) -> None:
    answer, status, body, truncated = KEPT[case]
    result = await get(fetcher, answer)
    assert isinstance(result, Response), result
    assert (result.status, result.truncated) == (status, truncated)
    if body is not None:
        assert result.body == body


REFUSED = {
    "garbage": (b"what is this\r\n\r\nhello", Outcome.BAD_HTTP),
    "another protocol": (b"SSH-2.0-OpenSSH_9.9\r\n", Outcome.BAD_HTTP),
    "status of two digits": (b"HTTP/1.1 99 Nope\r\n\r\n", Outcome.BAD_HTTP),
    "NUL in a header": (b"HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 2\r\n\r\nhi", Outcome.BAD_HTTP),
    "negative length": (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello", Outcome.BAD_HTTP),
    "two lengths": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        Outcome.BAD_HTTP,
    ),
    "a transfer coding that nobody asked for": (
        CHUNKED.replace(b"chunked", b"gzip, chunked"),
        Outcome.BAD_HTTP,
    ),
    "chunks said, none sent": (CHUNKED + b"<html>\n", Outcome.BAD_HTTP),
    "header flood": (
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % i for i in range(5000)) + b"\r\nhi",
        Outcome.BAD_HTTP,
    ),
    "endless header": (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 1_000_000 + b"\r\n\r\nhi", Outcome.BAD_HTTP),
    "nothing": (b"", Outcome.CONNECTION),
    "half a head": (b"HTTP/1.1 200 OK\r\nContent-Le", Outcome.CONNECTION),
    "not gzip": (ok(b"<html>not compressed", "Content-Encoding: gzip"), Outcome.BAD_ENCODING),
    "unknown coding": (ok(b"hi", "Content-Encoding: compress"), Outcome.BAD_ENCODING),
    "three codings": (ok(b"hi", "Content-Encoding: gzip, gzip, gzip"), Outcome.BAD_ENCODING),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_broken_answers_become_outcomes(fetcher: Make, case: str) -> None:
    answer, outcome = REFUSED[case]
    result = await get(fetcher, answer)
    assert isinstance(result, Failure), result
    assert result.outcome is outcome
    assert result.ip == "127.0.0.1"
    assert 0 < len(result.detail) <= 200
    assert result.detail.isprintable()


async def test_a_redirect_is_returned_not_followed(fetcher: Make) -> None:
    answer = b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"
    async with fetcher() as http, serving(answer) as server:
        result = await http.fetch(Request(server.url))
    assert isinstance(result, Response)
    assert result.status == 302
    assert result.header("location") == "file:///etc/passwd"
    assert server.connections == 1


async def endless(head: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(CHUNKED)
    while True:
        writer.write(chunked(b"x" * 10_000, end=False))
        await writer.drain()


@pytest.mark.parametrize("size", [8 << 20, None])
async def test_a_page_too_large_is_refused(fetcher: Make, size: int | None) -> None:
    answer = endless if size is None else ok(b"", length=size)
    result = await get(fetcher, answer, request={"max_bytes": 100_000})
    assert isinstance(result, Failure)
    assert result.outcome is Outcome.TOO_LARGE


async def test_other_purposes_keep_the_beginning(fetcher: Make) -> None:
    result = await get(fetcher, endless, request={"max_bytes": 123_456, "purpose": "robots"})
    assert isinstance(result, Response)
    assert (len(result.body), result.truncated) == (123_456, "length")


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "gzip, gzip"])
async def test_bombs_are_refused(fetcher: Make, coding: str) -> None:
    payload = bytes(50 << 20)
    for name in coding.split(", "):
        compress = {
            "gzip": gzip.compress,
            "br": lambda data: brotli.compress(data, quality=3),
            "zstd": zstandard.ZstdCompressor().compress,
        }[name]
        payload = compress(payload)
    result = await get(fetcher, ok(payload, f"Content-Encoding: {coding}"), request={"max_bytes": 1 << 20})
    assert isinstance(result, Failure)
    assert result.outcome is Outcome.TOO_LARGE


async def test_unwanted_types_are_not_downloaded(fetcher: Make) -> None:
    async def film(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n")
        await asyncio.sleep(60)

    result = await get(fetcher, film, request={"types": ("text/", "application/xhtml")})
    assert isinstance(result, Failure)
    assert result.outcome is Outcome.NOT_A_PAGE
    assert result.detail == "content type video/mp4"


@pytest.mark.parametrize("part", ["silence", "headers", "body", "redirect"])
async def test_drips_end_at_the_deadline(fetcher: Make, part: str) -> None:
    async def drip(head: bytes, writer: asyncio.StreamWriter) -> None:
        if part == "headers":
            writer.write(b"HTTP/1.1 200 OK\r\nX: ")
        elif part != "silence":
            status = b"301 Moved\r\nLocation: /x" if part == "redirect" else b"200 OK"
            writer.write(b"HTTP/1.1 %s\r\nContent-Length: 100000\r\n\r\n" % status)
        while True:
            await asyncio.sleep(0.02)
            writer.write(b"" if part == "silence" else b"z")

    result = await get(fetcher, drip, deadline=0.4)
    assert 0.3 < result.seconds < 3
    if part in ("silence", "headers"):
        assert isinstance(result, Failure)
        assert result.outcome is Outcome.TIMEOUT
    else:
        assert isinstance(result, Response)
        assert result.truncated == "time"
        assert result.body.startswith(b"zz")
        assert result.status == (301 if part == "redirect" else 200)


async def test_the_floor_speed_ends_a_drip_before_the_deadline(fetcher: Make) -> None:
    async def drip(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while True:
            writer.write(b"z")
            await asyncio.sleep(0.02)

    result = await get(fetcher, drip, deadline=30.0, floor_after=0.3)
    assert isinstance(result, Response)
    assert result.truncated == "time"
    assert result.seconds < 10


async def test_a_body_that_never_begins_is_a_time_out(fetcher: Make) -> None:
    result = await get(fetcher, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", deadline=0.3)
    assert isinstance(result, Failure)
    assert result.outcome is Outcome.CONNECTION  # the server closes first

    async def wait(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        await asyncio.sleep(60)

    result = await get(fetcher, wait, deadline=0.3)
    assert isinstance(result, Failure)
    assert result.outcome is Outcome.TIMEOUT


async def test_refused_and_reset_connections(fetcher: Make) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/"
        async with fetcher() as http:
            result = await http.fetch(Request(url))
    assert isinstance(result, Failure)
    assert result.outcome is Outcome.CONNECTION

    async def reset(head: bytes, writer: asyncio.StreamWriter) -> None:
        raw = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    async with fetcher() as http, serving(reset) as server:
        result = await http.fetch(Request(server.url))
    assert isinstance(result, Failure)
    assert result.outcome is Outcome.CONNECTION
    assert server.connections == 1  # a fresh connection that drops us is not asked again


async def test_connections_are_reused_and_a_stale_one_is_replaced(fetcher: Make) -> None:
    async with fetcher() as http, serving(ok(b"hi"), keep_alive=True) as server:
        for _ in range(3):
            assert isinstance(await http.fetch(Request(server.url)), Response)
        assert server.connections == 1

    served = 0

    async def once(head: bytes, writer: asyncio.StreamWriter) -> None:
        nonlocal served
        served += 1
        if served == 2:  # the second request meets a server that has just hung up
            writer.transport.abort()
            return
        writer.write(ok(b"hi"))

    async with fetcher() as http, serving(once, keep_alive=True) as server:
        assert isinstance(await http.fetch(Request(server.url)), Response)
        result = await http.fetch(Request(server.url))
        assert isinstance(result, Response)
        assert result.body == b"hi"
        assert server.connections == 2


async def test_too_many_idle_sockets_are_not_kept(fetcher: Make) -> None:
    async with serving(ok(b"hi"), keep_alive=True) as server:
        table = {"*.example": f"127.0.0.1:{server.port}"}
        async with fetcher(max_connections=1, idle_connections=4, connect_to=table) as http:
            for number in range(20):
                assert isinstance(await http.fetch(Request(f"http://h{number}.example/")), Response)
            before = server.connections
            for number in range(20):
                assert isinstance(await http.fetch(Request(f"http://h{number}.example/")), Response)
    assert before == 20
    assert 30 <= server.connections <= 38  # about five of the twenty were kept for reuse


async def test_connect_to_serves_virtual_hosts_and_passes_the_guard() -> None:
    from honeyguide.fetch.egress import EgressGuard
    from honeyguide.fetch.options import FetchOptions

    async with serving(ok(b"hi")) as server:
        table = {"*.example": f"127.0.0.1:{server.port}"}
        options = FetchOptions(connect_to=table)
        async with HttpFetcher(options, clock=time.time, guard=EgressGuard()) as http:
            result = await http.fetch(Request("http://birds.example:8000/x"))
            assert isinstance(result, Response)
            assert b"Host: birds.example:8000\r\n" in server.requests[0]
            other = server.port + 1 if server.port < 65535 else server.port - 1
            refused = await http.fetch(Request(f"http://127.0.0.1:{other}/"))
            assert isinstance(refused, Failure)
            assert refused.outcome is Outcome.EGRESS


async def test_credentials_go_to_their_origin_only(fetcher: Make) -> None:
    async with serving(ok(b"hi")) as ours, serving(ok(b"hi")) as theirs:
        origin = f"http://127.0.0.1:{ours.port}"
        async with fetcher(authorisation={origin: "Bearer secret"}) as http:
            await http.fetch(Request(ours.url))
            await http.fetch(Request(theirs.url))
            await http.fetch(Request(theirs.url.replace("127", "user:secret@127")))
    assert b"Authorization: Bearer secret" in ours.requests[0]
    assert len(theirs.requests) == 2
    assert all(b"uthorization" not in head and b"secret" not in head for head in theirs.requests)


async def test_cookies_are_never_sent_back(fetcher: Make) -> None:
    async with fetcher() as http, serving(ok(b"hi", "Set-Cookie: a=b; Path=/")) as server:
        await http.fetch(Request(server.url))
        await http.fetch(Request(server.url))
    assert len(server.requests) == 2
    assert b"Cookie" not in server.requests[1]


async def test_cancellation_passes_through(fetcher: Make) -> None:
    asked = asyncio.Event()

    async def wait(head: bytes, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await asyncio.sleep(60)

    async with fetcher() as http, serving(wait) as server:
        task = asyncio.create_task(http.fetch(Request(server.url)))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "http://a b/", "http://a/\r\nX: y", "http:///x", "ftp://a/"]
)
async def test_what_is_no_canonical_url_is_not_asked(fetcher: Make, url: str) -> None:
    async with fetcher() as http:
        result = await http.fetch(Request(url))
    assert isinstance(result, Failure)
    assert result.outcome is Outcome.BAD_HTTP
