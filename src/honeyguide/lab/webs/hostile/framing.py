"""Answers that are not HTTP, or nearly not."""

from __future__ import annotations

import functools

from honeyguide.lab.webs.hostile.case import Talk, case, owls
from honeyguide.model import Outcome

_case = functools.partial(case, group="http")
_BAD = (Outcome.BAD_HTTP, Outcome.CONNECTION)
_ANY = (Outcome.FETCHED, *_BAD)
"""Lenient and strict readings are both right, as long as there is one."""
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
_FLOODED = (Outcome.BAD_HTTP,)


@_case("header-flood", "headers without end, as fast as it goes", _FLOODED)
async def _header_flood(talk: Talk) -> None:
    await talk.send(_HEAD)
    await talk.flood(b"X-More: again\r\n" * 512)


@_case("many-headers", "ten thousand headers, then a page", _FLOODED)
async def _many_headers(talk: Talk) -> None:
    await talk.send(_HEAD + b"".join(b"X-%d: y\r\n" % n for n in range(10_000)) + b"\r\n" + owls())


@_case("long-header", "one header of ten megabytes", _FLOODED)
async def _long_header(talk: Talk) -> None:
    await talk.send(_HEAD + b"X-Long: " + b"y" * 10_000_000 + b"\r\n\r\n" + owls())


@_case("long-status", "a status line without end", _FLOODED)
async def _long_status(talk: Talk) -> None:
    await talk.send(b"HTTP/1.1 200 ")
    await talk.flood(b"OK " * 16384)


def _fixed(name: str, summary: str, outcomes: tuple[Outcome, ...], data: bytes) -> None:
    """A case that always sends the same bytes and closes."""

    @_case(name, summary, outcomes)
    async def _send(talk: Talk) -> None:
        await talk.send(data)


async def _drop(talk: Talk) -> None:
    talk.reset()


_case("reset", "drops the connection", (Outcome.CONNECTION,))(_drop)
_fixed("empty", "closes without a byte", _BAD, b"")
_fixed("garbage", "random bytes instead of HTTP", _BAD, bytes(range(256)) * 64)
_fixed("no-head", "a page without status line and headers (HTTP/0.9)", _BAD, owls())
_fixed("other-protocol", "a greeting of another protocol", _BAD, b"SSH-2.0-OpenSSH_9.6\r\n" * 3)
_fixed("bad-status", "a status that is not a number", _BAD, b"HTTP/1.1 OK 200\r\n\r\n" + owls())
_fixed("high-status", "status 9999", _BAD, b"HTTP/1.1 9999 Over\r\nContent-Length: 3\r\n\r\nowl")
_fixed("other-version", "HTTP/7.7", _ANY, b"HTTP/7.7 200 OK\r\nContent-Length: 3\r\n\r\nowl")
_fixed("nul-header", "NUL bytes in a header", _ANY, _HEAD + b"X-N: a\0b\r\nContent-Length: 3\r\n\r\nowl")
_fixed("no-colon", "a header without a colon", _ANY, _HEAD + b"No colon here\r\nContent-Length: 3\r\n\r\nowl")
_fixed("folded", "folded header lines", _ANY, _HEAD + b"X-F: a\r\n b\r\n\tc\r\nContent-Length: 3\r\n\r\nowl")
_fixed("bare-lf", "line feeds without carriage returns", _ANY, _HEAD.replace(b"\r", b"") + b"\n" + owls())
_fixed("latin-header", "headers in no known charset", _ANY, _HEAD + b"X-\xff: \xfe\x80\r\n\r\n" + owls())
_fixed(
    "length-long",
    "says 100,000 bytes and sends few",
    _ANY,
    _HEAD + b"Content-Length: 100000\r\n\r\n" + owls(),
)
_fixed(
    "length-short", "says 10 bytes and sends many", _ANY, _HEAD + b"Content-Length: 10\r\n\r\n" + owls() * 9
)
_fixed("length-negative", "a negative length", _BAD, _HEAD + b"Content-Length: -5\r\n\r\n" + owls())
_fixed("length-word", "a length that is not a number", _BAD, _HEAD + b"Content-Length: many\r\n\r\n" + owls())
_fixed(
    "length-twice",
    "two lengths that differ",
    _ANY,
    _HEAD + b"Content-Length: 3\r\nContent-Length: 40\r\n\r\n" + owls(),
)
_fixed(
    "length-huge",
    "a length of an exabyte",
    (Outcome.TOO_LARGE, *_BAD),
    _HEAD + b"Content-Length: 1000000000000000000\r\n\r\n" + owls(),
)
_CHUNKED = _HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
_fixed("chunk-word", "a chunk whose size is not a number", _ANY, _CHUNKED + b"3\r\nowl\r\nmany\r\nowls\r\n")
_fixed("chunk-huge", "a chunk of 2^64 bytes", _ANY, _CHUNKED + b"FFFFFFFFFFFFFFFFF\r\nowl")
_fixed("chunk-cut", "chunks that break off", _ANY, _CHUNKED + b"3\r\nowl\r\nff\r\nowl")
_fixed(
    "chunk-long-line",
    "a chunk size of a megabyte",
    _ANY,
    _CHUNKED + b"0" * 1_000_000 + b"3\r\nowl\r\n0\r\n\r\n",
)
_fixed(
    "chunk-and-length",
    "chunks and a length at once, as request smugglers do",
    _ANY,
    _HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n3\r\nowl\r\n0\r\n\r\n",
)
_fixed(
    "two-answers",
    "a second answer that nobody asked for",
    (Outcome.FETCHED,),
    _HEAD + b"Content-Length: 3\r\n\r\nowl" + _HEAD + b"Content-Length: 4\r\n\r\nevil",
)
