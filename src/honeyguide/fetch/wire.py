"""What goes over the wire: aiohttp made to tell more and lose less, and heads as the archive keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler

from honeyguide.fetch.base import Headers, Request
from honeyguide.fetch.body import Body

_UNSAFE = bytes.maketrans(b"\r\n\x00", b"   ")


class Asked:
    """What is learnt about one request on its way; shared with aiohttp's callbacks by a context variable."""

    __slots__ = ("answer", "body", "close_after", "dialled", "ip", "request", "started", "started_at")

    def __init__(self, request: Request, *, started_at: float, started: float) -> None:
        self.request = request
        self.started_at = started_at
        self.started = started
        self.dialled = False
        self.close_after = False
        self.ip = ""
        self.answer: aiohttp.ClientResponse | None = None
        self.body: Body | None = None


ASKED: ContextVar[Asked] = ContextVar("asked")


class NotedResponse(aiohttp.ClientResponse):
    """aiohttp's response, which notes its peer before a short body lets the connection go."""

    async def start(self, connection: Any) -> aiohttp.ClientResponse:
        """Called by aiohttp when the request has been sent."""
        asked = ASKED.get()
        peer = connection.transport.get_extra_info("peername") if connection.transport else None
        if peer:
            asked.ip = str(peer[0])
        if asked.close_after and connection.protocol is not None:
            connection.protocol.force_close()
        return await super().start(connection)


class Handler(ResponseHandler):
    """aiohttp's protocol, fed with the head of an answer first and the rest after it.

    When bytes follow the stated length (a common mistake: characters counted instead of bytes), the parser
    refuses everything it was given in one piece, the good answer included. Fed apart, the answer is
    already delivered when the refusal comes, and the refusal only ends the connection.

    Two private names of aiohttp are used (`_payload`, and the connector's `_factory`). Should they go,
    answers with a wrong length end as `BAD_HTTP` and broken chunks wait for the deadline; no worse.
    """

    _in_head = True

    def set_response_params(self, **settings: Any) -> None:
        """Called by aiohttp before each answer."""
        self._in_head = True
        super().set_response_params(**settings)

    def data_received(self, data: bytes) -> None:
        """Called by the event loop."""
        if self._in_head and (end := data.find(b"\r\n\r\n") + 4) > 3:
            self._in_head = False
            if end < len(data):
                super().data_received(data[:end])
                data = data[end:]
                if self.exception() is not None:
                    return
        body = getattr(self, "_payload", None)
        super().data_received(data)
        fault = self.exception()
        if fault is not None and body is not None and not body.is_eof() and body.exception() is None:
            # aiohttp tells nobody that the chunks broke; the reader would wait for its deadline.
            body.set_exception(aiohttp.ClientPayloadError(str(fault)))


def request_head(target: str, headers: Mapping[str, str]) -> bytes:
    r"""Request line and headers as sent.

    Example:
        >>> request_head("/a?b", {"Host": "example.org"})
        b'GET /a?b HTTP/1.1\r\nHost: example.org\r\n\r\n'
    """
    lines = [f"GET {target} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "surrogateescape")


def response_head(
    version: tuple[int, int], status: int, *, reason: str, headers: Iterable[tuple[bytes, bytes]]
) -> bytes:
    """Status line and headers as received.

    The payload is kept without its transfer coding, so `Transfer-Encoding` is renamed to
    `X-Crawler-Transfer-Encoding`, as archive tools expect; otherwise they would look for chunks.
    """
    lines = [b"HTTP/%d.%d %03d %s" % (*version, status, reason.encode("utf-8", "replace"))]
    for name, value in headers:
        kept = b"X-Crawler-Transfer-Encoding" if name.lower() == b"transfer-encoding" else name
        lines.append(kept + b": " + value.translate(_UNSAFE))
    lines.append(b"\r\n")
    return b"\r\n".join(lines)


def header_text(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Raw headers as text: UTF-8 where it is valid, else Latin-1 (as HTTP/1.1 once had it)."""
    return tuple((_text(name), _text(value)) for name, value in headers)


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")
