"""Fetching over HTTP/1.1 with aiohttp, under limits that a hostile server cannot stretch.

aiohttp is used for sockets, TLS and HTTP parsing only. Redirects, cookies, credentials, decompression,
proxies from the environment and retries are switched off or done here, because each of them has been a
security hole in some crawler.

An exchange in the order of the file: which outcome an exception stands for, what goes over the wire, the body
as it arrives (streamed, counted, decoded under a limit, kept when it breaks off), and the fetcher itself.
"""

from __future__ import annotations

import asyncio
import functools
import re
import socket
import ssl
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from types import TracebackType
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from honeyguide.fetch.base import Failure, Headers, Request, Response
from honeyguide.fetch.decode import PIECE, BadEncoding, Decoder, codings
from honeyguide.fetch.egress import EgressGuard, EgressRefused
from honeyguide.fetch.options import FetchOptions
from honeyguide.fetch.resolver import GuardedResolver, Lookup, ThreadLookup
from honeyguide.fetch.room import Hold, Room, give_back_large_blocks
from honeyguide.model import Outcome

_RULES: tuple[tuple[tuple[type[BaseException], ...], Outcome], ...] = (
    ((EgressRefused,), Outcome.EGRESS),
    ((BadEncoding,), Outcome.BAD_ENCODING),
    ((TimeoutError,), Outcome.TIMEOUT),
    ((aiohttp.ClientSSLError, ssl.SSLError, ssl.CertificateError), Outcome.TLS),
    ((aiohttp.ClientConnectorDNSError, socket.gaierror), Outcome.DNS),
    ((aiohttp.ClientPayloadError,), Outcome.CONNECTION),
    ((aiohttp.ClientResponseError, HttpProcessingError, aiohttp.InvalidURL), Outcome.BAD_HTTP),
    ((aiohttp.ClientConnectionError, OSError), Outcome.CONNECTION),
)
"""First match wins; each rule is tried on the exception and on everything behind it."""


def outcome_of(error: BaseException) -> Outcome:
    """The outcome an exception of the HTTP client stands for; `BAD_HTTP` when nothing else fits."""
    chain = tuple(_chain(error))
    for kinds, outcome in _RULES:
        if any(isinstance(link, kinds) for link in chain):
            return outcome
    return Outcome.BAD_HTTP


def detail_of(error: BaseException) -> str:
    """One short printable line about an exception."""
    refused = next((link for link in _chain(error) if isinstance(link, EgressRefused)), error)
    said = refused.message if isinstance(refused, aiohttp.ClientResponseError) else str(refused)
    text = " ".join(said.split()) or type(refused).__name__
    return "".join(char if char.isprintable() else "?" for char in text[:200])


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    for _ in range(5):
        if seen is None:
            return
        yield seen
        seen = seen.__cause__


_UNSAFE = bytes.maketrans(b"\r\n\x00", b"   ")


class Attempt:
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


ASKED: ContextVar[Attempt] = ContextVar("asked")


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


LARGE = 256 * 1024
"""Bytes from which a body needs room among the large ones."""


class Body:
    """The body of one answer while it arrives.

    `read` takes bytes until the end, a limit, the deadline or a fault; `end` then says what the exchange
    amounts to. A 2xx page that is too large or cannot be decoded is a failure; other answers keep what
    came, since their status and headers are what matters.
    """

    def __init__(
        self,
        answer: aiohttp.ClientResponse,
        request: Request,
        *,
        options: FetchOptions,
        hold: Hold,
    ) -> None:
        self._answer = answer
        self._request = request
        self._options = options
        self._hold = hold
        self._good = 200 <= answer.status < 300
        limit = min(request.max_bytes, options.max_bytes)
        self.limit = limit if self._good else min(limit, options.max_error_bytes)
        self._pieces: list[bytes] = []
        self.received = 0
        """Bytes as sent, transfer coding removed."""
        self._over = False
        self._slow = False
        self._decoder: Decoder | None = None
        self._fault: BadEncoding | None = None
        self._unwanted = ""
        self._body_began = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def read(self, scope: asyncio.Timeout) -> None:
        """Read until the end or a limit. Network faults and the deadline are raised, to be given to `end`."""
        if self._good and self._refused():
            return
        names = codings(",".join(self._answer.headers.getall("Content-Encoding", ())))
        try:
            self._decoder = Decoder(names, self.limit) if names else None
            await self._stream(scope)
        except BadEncoding as error:
            self._fault = error

    def _refused(self) -> bool:
        """Answers that need not be read: of a type nobody wants, or too large by their own account."""
        kind = self._answer.headers.get("Content-Type", "").strip().lower()
        if self._request.types and kind and not kind.startswith(self._request.types):
            self._unwanted = kind.partition(";")[0][:80]
            return True
        length = self._answer.headers.get("Content-Length", "")
        self._over = self._request.purpose == "page" and length.isdecimal() and int(length[:18]) > self.limit
        return self._over

    async def _stream(self, scope: asyncio.Timeout) -> None:
        content = self._answer.content
        try:
            while piece := await content.readany():
                if not self._take(piece):
                    return
                if self._size > LARGE:
                    # Many large bodies at once would fill the memory; the others' senders have to wait.
                    await self._hold.grow(self._size)
                if self._timer is None and self._options.floor_speed and not content.is_eof():
                    self._watch(scope)
        except BadEncoding:
            raise
        except Exception:
            # aiohttp raises before it hands out what it had already received.
            buffered = getattr(content, "_buffer", None)
            for piece in tuple(buffered or ()):
                if not self._take(bytes(piece)):
                    break
            raise
        finally:
            if self._timer is not None:
                self._timer.cancel()

    def _take(self, piece: bytes) -> bool:
        """Count, keep and decode one piece; false when a limit is reached."""
        room = self.limit - self.received if self._decoder is None else self.limit + PIECE - self.received
        if len(piece) > room:
            self._over = True
            piece = piece[: max(0, room)]
        self.received += len(piece)
        self._pieces.append(piece)
        if self._decoder is not None and not self._decoder.feed(piece):
            self._over = True
        if self._over and self._good and self._request.purpose == "page":
            # Such an answer ends as a failure: what it wanted to fill the memory with is let go of.
            self.drop()
        return not self._over

    def drop(self) -> None:
        """Let go of what was received."""
        self._pieces.clear()
        if self._decoder is not None:
            self._decoder.drop()

    @property
    def _size(self) -> int:
        """Bytes held."""
        return self.received + (0 if self._decoder is None else self._decoder.decoded)

    def _watch(self, scope: asyncio.Timeout) -> None:
        """Look at the average speed once the grace time has passed, and every second from then on."""
        loop = asyncio.get_running_loop()
        self._body_began = loop.time()

        def look() -> None:
            seconds = loop.time() - self._body_began
            if self.received < self._options.floor_speed * seconds:
                self._slow = True
                if not scope.expired():  # the deadline may be passing this very moment
                    scope.reschedule(loop.time())
            else:
                self._timer = loop.call_later(1.0, look)

        self._timer = loop.call_later(self._options.floor_after, look)

    @property
    def payload(self) -> bytes:
        """What was received, content coding still on."""
        if len(self._pieces) != 1:
            self._pieces = [b"".join(self._pieces)]
        return self._pieces[0]

    @property
    def decoded(self) -> bytes:
        """The body with its content coding removed."""
        if self._fault is not None:
            return b""
        return self.payload if self._decoder is None else self._decoder.body()

    def end(self, trouble: Exception | None) -> tuple[Outcome, str]:
        """`FETCHED` with why the body is incomplete (or nothing), or another outcome with a detail."""
        if self._unwanted:
            return Outcome.NOT_A_PAGE, f"content type {self._unwanted}"
        if self._over and self._good and self._request.purpose == "page":
            return Outcome.TOO_LARGE, f"more than {self.limit} bytes"
        if trouble is not None:
            return self._broken_off(trouble)
        if self._fault is not None:
            return (
                (Outcome.BAD_ENCODING, detail_of(self._fault))
                if self._good
                else (Outcome.FETCHED, "encoding")
            )
        if self._over:
            return Outcome.FETCHED, "length"
        whole = self._decoder is None or self._decoder.complete
        return Outcome.FETCHED, "" if whole else "disconnect"

    def _broken_off(self, trouble: Exception) -> tuple[Outcome, str]:
        outcome = outcome_of(trouble)
        late = outcome is Outcome.TIMEOUT
        if self._good and not self.received:
            if late:
                return outcome, "too slow" if self._slow else "deadline passed in the body"
            return outcome, detail_of(trouble)
        if self._fault is not None and self._good:
            return Outcome.BAD_ENCODING, detail_of(self._fault)
        return Outcome.FETCHED, "time" if late else "disconnect"


_PLAIN = re.compile(r"https?://[\x21-\x7e]+", re.IGNORECASE)


class HttpFetcher:
    """The fetcher for the open web.

    Args:
        options: Limits and identity.
        clock: The crawl's clock; stamps `started_at`. Durations use the event loop's clock.
        guard: Decides which addresses may be dialled.
        lookup: How names are looked up; the system's resolver in threads when left out.

    Use it inside one event loop and `close` it, or use it as an async context manager. One request at a
    time per host, delays and robots.txt are the caller's duty.
    """

    def __init__(
        self,
        options: FetchOptions,
        *,
        clock: Callable[[], float],
        guard: EgressGuard,
        lookup: Lookup | None = None,
    ) -> None:
        give_back_large_blocks()
        self.options = options
        self._clock = clock
        self._guard = guard
        self._resolver = GuardedResolver(
            guard,
            lookup or ThreadLookup(options.dns_threads),
            connect_to=options.connect_to,
            ttl=options.dns_ttl,
            size=options.dns_names,
        )
        self._sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()
        self._session: aiohttp.ClientSession | None = None
        self._room = Room(options.large_bytes)
        self._under_way = 0
        self._authorisation = {
            str(URL(origin).origin()): value for origin, value in options.authorisation.items()
        }

    async def __aenter__(self) -> HttpFetcher:
        """The fetcher itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        await self.close()

    async def fetch(self, request: Request) -> Response | Failure:
        """The answer, or why there is none. Only cancellation is raised."""
        loop = asyncio.get_running_loop()
        asked = Attempt(request, started_at=self._clock(), started=loop.time())
        if not _PLAIN.fullmatch(request.url):
            return self._failure(asked, Outcome.BAD_HTTP, "not an http(s) URL in canonical form")
        ASKED.set(asked)
        trouble: Exception | None = None
        hold = request.hold or self._room.hold()
        self._under_way += 1
        try:
            async with asyncio.timeout(self.options.deadline) as scope:
                asked.answer = answer = await self._ask(asked)
                asked.body = body = Body(answer, request, options=self.options, hold=hold)
                await body.read(scope)
        except Exception as error:  # everything the web does becomes an outcome
            trouble = error
        finally:
            self._under_way -= 1
            if request.hold is None:
                hold.give_back()
            if asked.answer is not None:
                asked.answer.close()  # does nothing once the body was read to its end
        if asked.answer is None or asked.body is None:
            assert trouble is not None
            return self._failure(asked, outcome_of(trouble), detail_of(trouble))
        result = self._result(asked, asked.answer, asked.body.end(trouble))
        asked.body.drop()
        return result

    async def look_up(self, host: str) -> str:
        """The address that would be dialled for a host; empty when there is none that may be."""
        try:
            async with asyncio.timeout(self.options.deadline):
                return str((await self._resolver.resolve(host.strip("[]")))[0]["host"])
        except (OSError, TimeoutError):
            return ""

    def address(self, host: str) -> str:
        """The address that would be dialled for a host now; empty when it has to be looked up first."""
        return self._resolver.known(host.strip("[]"))

    async def _ask(self, asked: Attempt) -> aiohttp.ClientResponse:
        session = self._session or self._open()
        asked.close_after = len(self._sockets) - self._under_way > self.options.idle_connections
        url = URL(asked.request.url, encoded=True)
        if url.raw_user is not None or url.raw_password is not None:
            url = url.with_user(None)  # aiohttp would send credentials found in a URL
        headers = dict(asked.request.headers)
        if self._authorisation and (value := self._authorisation.get(str(url.origin()))):
            headers["Authorization"] = value
        try:
            return await session.get(url, headers=headers or None, allow_redirects=False)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as error:
            # A kept connection may have been closed by the server meanwhile: that is not an answer to our
            # request, so ask once more. A fresh connection that drops us is an answer.
            if asked.dialled or isinstance(error, aiohttp.ClientConnectorError):
                raise
            return await session.get(url, headers=headers or None, allow_redirects=False)

    def _open(self) -> aiohttp.ClientSession:
        options = self.options
        headers = {"User-Agent": options.user_agent, "Accept": options.accept}
        if options.accept_language:
            headers["Accept-Language"] = options.accept_language
        headers["Accept-Encoding"] = "gzip, deflate, br, zstd"
        headers.update(options.extra_headers)
        context: ssl.SSLContext | bool = True
        if options.ca_file:
            context = ssl.create_default_context()
            context.load_verify_locations(cafile=options.ca_file)
        connector = aiohttp.TCPConnector(
            resolver=self._resolver,
            use_dns_cache=False,
            socket_factory=self._dial,
            limit=options.max_connections,
            keepalive_timeout=options.keep_alive,
            ssl=context,
        )
        handler: type[ResponseHandler] = Handler
        connector._factory = functools.partial(handler, loop=asyncio.get_running_loop())
        self._session = aiohttp.ClientSession(
            connector=connector,
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=options.connect_timeout),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            response_class=NotedResponse,
            max_line_size=options.max_header_bytes,
            max_field_size=options.max_header_bytes,
            max_headers=options.max_headers,
        )
        # aiohttp would repeat a request that was dropped, also on a fresh connection: see `_ask`.
        self._session._retry_connection = False
        return self._session

    def _dial(self, info: tuple[Any, ...]) -> socket.socket:
        """A socket for one address, after the guard has seen it (aiohttp's `socket_factory`)."""
        asked = ASKED.get()
        asked.dialled = True
        asked.ip = str(info[4][0])
        if (asked.ip, info[4][1]) in self._resolver.pinned:
            opened = socket.socket(family=info[0], type=info[1], proto=info[2])
        else:
            opened = self._guard.open_socket(info)
        self._sockets.add(opened)
        return opened

    def _result(
        self, asked: Attempt, answer: aiohttp.ClientResponse, end: tuple[Outcome, str]
    ) -> Response | Failure:
        body, (outcome, detail) = asked.body, end
        assert body is not None
        if outcome is not Outcome.FETCHED:
            return self._failure(asked, outcome, detail)
        sent = answer.request_info
        version = answer.version or (1, 1)
        reason = answer.reason or ""
        return Response(
            url=asked.request.url,
            status=answer.status,
            headers=header_text(answer.raw_headers),
            body=body.decoded,
            payload=body.payload,
            reason=reason,
            truncated=detail,
            ip=asked.ip,
            started_at=asked.started_at,
            seconds=self._seconds(asked),
            request_head=request_head(sent.url.raw_path_qs, sent.headers),
            response_head=response_head(
                (version[0], version[1]), answer.status, reason=reason, headers=answer.raw_headers
            ),
        )

    def _failure(self, asked: Attempt, outcome: Outcome, detail: str) -> Failure:
        return Failure(
            url=asked.request.url,
            outcome=outcome,
            detail=detail,
            ip=asked.ip,
            started_at=asked.started_at,
            seconds=self._seconds(asked),
        )

    @staticmethod
    def _seconds(asked: Attempt) -> float:
        return asyncio.get_running_loop().time() - asked.started

    async def close(self) -> None:
        """Close connections and end lookups."""
        if self._session is not None:
            await self._session.close()
            self._session = None
        await self._resolver.close()
