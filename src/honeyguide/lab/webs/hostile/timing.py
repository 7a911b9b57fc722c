"""Servers that are slow, silent or never finish."""

from __future__ import annotations

import functools

from honeyguide.lab.webs.hostile.case import Talk, case, owls
from honeyguide.model import Outcome

_case = functools.partial(case, group="time")
_LATE = (Outcome.TIMEOUT,)
_CUT = (Outcome.FETCHED, Outcome.TIMEOUT)
"""What came before the deadline may be kept, marked as cut off."""
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


@_case("silent", "takes the request and never answers", _LATE)
async def _silent(talk: Talk) -> None:
    await talk.silence()


@_case("drip-status", "the status line at a byte a second", _LATE)
async def _drip_status(talk: Talk) -> None:
    await talk.drip(_HEAD)


@_case("drip-headers", "headers without end, a byte a second", _LATE)
async def _drip_headers(talk: Talk) -> None:
    await talk.send(_HEAD)
    await talk.drip(b"X-More: again\r\n" * 1000)


@_case("drip-body", "a page at a byte a second", _CUT)
async def _drip_body(talk: Talk) -> None:
    await talk.send(_HEAD + b"Content-Length: 100000\r\n\r\n")
    await talk.drip(owls() * 1000)


@_case("drip-chunks", "chunks of one byte, one a second", _CUT)
async def _drip_chunks(talk: Talk) -> None:
    await talk.send(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    while True:
        await talk.drip(b"1\r\nx\r\n", every=0.2)


@_case("stalled-body", "half a page, then silence", _CUT)
async def _stalled_body(talk: Talk) -> None:
    await talk.answer(owls(), length=100_000)
    await talk.silence()


@_case("stalled-headers", "half the headers, then silence", _LATE)
async def _stalled_headers(talk: Talk) -> None:
    await talk.send(_HEAD)
    await talk.silence()


# Large bodies share some memory. One that waits for its turn until the deadline is kept as far as it came.
@_case(
    "endless-body", "a page without length or end, as fast as it goes", (Outcome.TOO_LARGE, Outcome.FETCHED)
)
async def _endless_body(talk: Talk) -> None:
    await talk.send(_HEAD + b"Connection: close\r\n\r\n")
    await talk.flood(b"<p>barn owl</p>\n" * 4096)


@_case("endless-chunks", "chunks without end, as fast as it goes", (Outcome.TOO_LARGE, Outcome.FETCHED))
async def _endless_chunks(talk: Talk) -> None:
    piece = b"<p>barn owl</p>\n" * 1024
    await talk.send(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    await talk.flood(b"%x\r\n%s\r\n" % (len(piece), piece))


@_case("endless-film", "a film without end", (Outcome.TOO_LARGE, Outcome.NOT_A_PAGE))
async def _endless_film(talk: Talk) -> None:
    await talk.send(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nConnection: close\r\n\r\n")
    await talk.flood(b"\0" * 65536)


@_case("endless-error", "an error page without end", (Outcome.CLIENT_ERROR,))
async def _endless_error(talk: Talk) -> None:
    await talk.send(b"HTTP/1.1 404 Gone\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n")
    await talk.flood(b"<p>no owl</p>\n" * 4096)


@_case("endless-continue", "100 Continue for ever", (Outcome.TIMEOUT, Outcome.BAD_HTTP))
async def _endless_continue(talk: Talk) -> None:
    while True:
        await talk.drip(b"HTTP/1.1 100 Continue\r\n\r\n", every=0.001)
