"""Fetching over HTTP/1.1, under limits that a hostile server cannot stretch.

There is no HTTP library between us and the socket: redirects, cookies, credentials, decompression, proxies
and retries have each been a security hole in some crawler, and a client that has them must be told not to use
them. Nothing is read from the environment here. `answer.py` reads answers, `connections.py` dials and keeps
connections, `body.py` takes bodies under their limits. Here a request is put together, and what became of it
is given its outcome.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import TracebackType
from typing import Any

from honeyguide.fetch.base import Failure, Request, Response
from honeyguide.fetch.body import Body
from honeyguide.fetch.connections import BadAnswer, BrokenOff, Connection, Connections, NoAddress, Place
from honeyguide.fetch.decode import BadEncoding
from honeyguide.fetch.egress import EgressGuard, EgressRefused, port_refusal
from honeyguide.fetch.options import FetchOptions
from honeyguide.fetch.proxy import Proxy, ProxyTrouble, is_public_name
from honeyguide.fetch.resolver import GuardedResolver, Lookup, ThreadLookup
from honeyguide.fetch.room import Room, give_back_large_blocks
from honeyguide.model import Outcome

LOOKED_UP_HERE = 5.0
"""Seconds for the lookup of a name whose host is asked through a proxy, which looks it up itself. Where a
proxy is needed, name servers often know none but the names inside."""

_RULES: tuple[tuple[tuple[type[BaseException], ...], Outcome], ...] = (
    ((EgressRefused,), Outcome.EGRESS),
    ((BadEncoding,), Outcome.BAD_ENCODING),
    ((TimeoutError,), Outcome.TIMEOUT),
    ((ssl.SSLError, ssl.CertificateError), Outcome.TLS),
    ((NoAddress, socket.gaierror), Outcome.DNS),
    ((BadAnswer,), Outcome.BAD_HTTP),
    ((BrokenOff, OSError), Outcome.CONNECTION),
)
"""First match wins; each rule is tried on the exception and on everything behind it."""


def outcome_of(error: BaseException) -> Outcome:
    """The outcome an exception stands for; `BAD_HTTP` when nothing else fits."""
    chain = tuple(_chain(error))
    for kinds, outcome in _RULES:
        if any(isinstance(link, kinds) for link in chain):
            return outcome
    return Outcome.BAD_HTTP


def detail_of(error: BaseException) -> str:
    """One short printable line about an exception."""
    refused = next((link for link in _chain(error) if isinstance(link, EgressRefused)), error)
    text = " ".join(str(refused).split()) or type(refused).__name__
    return "".join(char if char.isprintable() else "?" for char in text[:200])


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    for _ in range(5):
        if seen is None:
            return
        yield seen
        seen = seen.__cause__


def request_head(target: str, headers: Mapping[str, str]) -> bytes:
    r"""Request line and headers as sent.

    Example:
        >>> request_head("/a?b", {"Host": "example.org"})
        b'GET /a?b HTTP/1.1\r\nHost: example.org\r\n\r\n'
    """
    lines = [f"GET {target} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "surrogateescape")


_PLAIN = re.compile(
    r"(https?)://(?:[^/?#\\]*@)?([^/?#@:\[\]\\]+|\[[0-9A-Fa-f]*:[0-9A-Fa-f:.]*\])(?::([0-9]{1,5}))?([/?][\x21-\x7e]*|)(?:#.*)?",
    re.IGNORECASE,
)
_PRINTABLE = re.compile(r"[\x21-\x7e]+")
_PORTS = {"http": 80, "https": 443}
_BREAKS = re.compile(r"[\r\n\0]")


class Target:
    """Where a request goes and what it asks for."""

    __slots__ = ("authority", "path", "place", "scheme")

    def __init__(self, found: re.Match[str]) -> None:
        self.scheme = found[1].lower()
        usual = _PORTS[self.scheme]
        port = int(found[3]) if found[3] else usual
        self.place: Place = (self.scheme == "https", found[2].strip("[]"), port)
        self.authority = found[2] if port == usual else f"{found[2]}:{port}"
        path = found[4].partition("#")[0]
        self.path = path if path.startswith("/") else f"/{path}"

    @property
    def origin(self) -> str:
        """Scheme, host and port, the port only when it is not the scheme's own."""
        return f"{self.scheme}://{self.authority}"


def target_of(url: str) -> Target | None:
    """The target of a URL in canonical form; None where it is none.

    User name and password are left out: they are never sent.

    Example:
        >>> target_of("https://me:secret@example.org:8443/a?b").origin
        'https://example.org:8443'
    """
    found = _PLAIN.fullmatch(url) if _PRINTABLE.fullmatch(url) else None
    return Target(found) if found is not None and int(found[3] or 80) < 65_536 else None


class _Attempt:
    """What is learnt about one request on its way."""

    __slots__ = ("ip", "loop", "request", "sent", "started", "started_at")

    def __init__(self, request: Request, *, started_at: float) -> None:
        self.request = request
        self.started_at = started_at
        self.loop = asyncio.get_running_loop()  # asked for once: Python asks the system each time
        self.started = self.loop.time()
        self.ip = ""
        self.sent = b""


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
        self._connections = Connections(options, self._resolver)
        self._room = Room(options.large_bytes)
        self._headers = _said(options)
        self._told = request_head("", self._headers).partition(b"\r\n")[2]
        """The headers of every request, as they are sent."""
        self._authorisation = {
            target.origin: value
            for origin, value in options.authorisation.items()
            if (target := target_of(origin)) is not None
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
        """The answer, or why there is none.

        Raises:
            ProxyTrouble: The proxy lets nothing through, which no outcome of this URL could tell.
        """
        asked = _Attempt(request, started_at=self._clock())
        target = target_of(request.url)
        if target is None:
            return self._failure(asked, Outcome.BAD_HTTP, "not an http(s) URL in canonical form")
        trouble: Exception | None = None
        hold = request.hold or self._room.hold()
        body = Body(request, self.options, hold)
        try:
            asked.sent = self._request(request, target)
            await self._ask(asked, target, body)
        except ProxyTrouble:
            raise
        except Exception as error:  # everything the web does becomes an outcome
            trouble = error
        finally:
            if request.hold is None:
                hold.give_back()
        if body.head is None:
            assert trouble is not None
            return self._failure(asked, outcome_of(trouble), detail_of(trouble))
        outcome, detail = end_of(body, trouble)
        if outcome is not Outcome.FETCHED:
            result: Response | Failure = self._failure(asked, outcome, detail)
        else:
            result = self._response(asked, body, detail)
        body.drop()
        return result

    async def look_up(self, host: str) -> str:
        """The address that would be dialled for a host; empty when there is none that may be."""
        seconds = self.options.deadline if self.options.proxies is None else LOOKED_UP_HERE
        try:
            async with asyncio.timeout(seconds):
                return (await self._resolver.resolve(host.strip("[]")))[0].host
        except (OSError, TimeoutError):
            return ""

    def address(self, host: str) -> str:
        """The address that would be dialled for a host now; empty when it has to be looked up first."""
        return self._resolver.known(host.strip("[]"))

    def _request(self, request: Request, target: Target) -> bytes:
        """The bytes of a request."""
        more = dict(request.headers)
        if self._authorisation and (value := self._authorisation.get(target.origin)):
            more["Authorization"] = value
        if not more:
            line = f"GET {target.path} HTTP/1.1\r\nHost: {target.authority}\r\n"
            return line.encode() + self._told
        taken = {name.lower() for name in more}
        headers = {name: value for name, value in self._headers.items() if name.lower() not in taken}
        own = {} if "host" in taken else {"Host": target.authority}
        said = {**own, **headers, **more}
        if any(_BREAKS.search(text) for pair in said.items() for text in pair):
            raise ValueError("a line break in a header of the request")
        return request_head(target.path, said)

    async def _ask(self, asked: _Attempt, target: Target, body: Body) -> None:
        """Ask over a kept connection or a new one, until the answer is in `body`."""
        place = target.place
        until = asked.started + self.options.deadline
        connections = self._connections
        if not connections.begins():
            async with asyncio.timeout_at(until):
                await connections.turn()
        try:
            kept = connections.kept(place)
            if kept is not None:
                asked.ip = kept.ip
                try:
                    await self._answer(kept, asked, target, body, until)
                    return
                except (BrokenOff, OSError) as error:
                    # A kept connection may have been closed by the server meanwhile: that is not an answer to
                    # our request, so ask once more. A fresh connection that drops us is an answer.
                    if kept.heard or isinstance(error, TimeoutError):
                        raise
            async with asyncio.timeout_at(until):
                proxy = await self._proxy(place)
                if proxy is None:
                    fresh = await connections.dial(place, partial(self._open_socket, asked))
                    asked.ip = fresh.ip or asked.ip
                else:
                    fresh = await connections.dial_through(proxy, place, until)
            await self._answer(fresh, asked, target, body, until)
        finally:
            connections.done()

    async def _answer(
        self, connection: Connection, asked: _Attempt, target: Target, body: Body, until: float
    ) -> None:
        keep = False
        sent = asked.sent
        proxy = None if target.place[0] else connection.proxy
        if proxy is not None:
            # The whole URL, and a header for the proxy alone. The archive keeps what the server is told.
            line, _, rest = sent.partition(b"\r\n")
            whole = line.replace(b" ", f" {target.origin}".encode(), 1)
            sent = whole + b"\r\n" + proxy.told + rest
        try:
            keep = await connection.ask(sent, body, until)
        finally:
            self._connections.give_back(connection, keep=keep)
        if proxy is not None and body.head is not None and body.head.status == 407:
            raise proxy.needs_password()

    async def _proxy(self, place: Place) -> Proxy | None:
        """The proxy that a host is asked through; None: directly.

        The proxy looks names up by itself, so what it dials cannot be checked. What can: addresses written as
        such, names that this machine knows to be private, and names that only a private network can know.

        Raises:
            EgressRefused: When the host is not a public one.
        """
        tls, host, port = place
        proxies = self.options.proxies
        if proxies is None or self._resolver.named(host):
            return None
        proxy = proxies.through(tls, host, port)
        if proxy is None:
            return None
        if why := port_refusal(port):
            raise EgressRefused(why)
        try:
            async with asyncio.timeout(LOOKED_UP_HERE):
                addresses = await self._resolver.addresses(host)
        except EgressRefused:
            raise
        except (OSError, TimeoutError):
            if not is_public_name(host):
                raise EgressRefused(f"{host} is no name of the public web") from None
            return proxy
        return None if any(self._guard.opened(address) for address in addresses) else proxy

    def _open_socket(self, asked: _Attempt, info: tuple[Any, ...]) -> socket.socket:
        """A socket for one address, after the guard has seen it."""
        asked.ip = str(info[4][0])
        if (asked.ip, info[4][1]) in self._resolver.pinned:
            return socket.socket(family=info[0], type=info[1], proto=info[2])
        return self._guard.open_socket(info)

    def _response(self, asked: _Attempt, body: Body, truncated: str) -> Response:
        head = body.head
        assert head is not None
        return Response(
            url=asked.request.url,
            status=head.status,
            headers=head.headers,
            body=body.decoded,
            payload=body.payload,
            reason=head.reason,
            truncated=truncated,
            ip=asked.ip,
            started_at=asked.started_at,
            seconds=self._seconds(asked),
            request_head=asked.sent,
            response_head=head.archived(),
        )

    def _failure(self, asked: _Attempt, outcome: Outcome, detail: str) -> Failure:
        return Failure(
            url=asked.request.url,
            outcome=outcome,
            detail=detail,
            ip=asked.ip,
            started_at=asked.started_at,
            seconds=self._seconds(asked),
        )

    @staticmethod
    def _seconds(asked: _Attempt) -> float:
        return asked.loop.time() - asked.started

    async def close(self) -> None:
        """Close connections and end lookups."""
        await self._connections.close()
        await self._resolver.close()


def _said(options: FetchOptions) -> dict[str, str]:
    """The headers of every request."""
    headers = {"User-Agent": options.user_agent, "Accept": options.accept}
    if options.accept_language:
        headers["Accept-Language"] = options.accept_language
    headers["Accept-Encoding"] = "gzip, deflate, br, zstd"
    for name, value in options.extra_headers:
        same = next((known for known in headers if known.lower() == name.lower()), name)
        headers[same] = value
    return {_BREAKS.sub(" ", name): _BREAKS.sub(" ", value) for name, value in headers.items()}


def end_of(body: Body, trouble: Exception | None) -> tuple[Outcome, str]:
    """`FETCHED` with why the body is incomplete (or nothing), or another outcome with a detail."""
    if body.unwanted:
        return Outcome.NOT_A_PAGE, f"content type {body.unwanted}"
    if body.refused:
        return Outcome.TOO_LARGE, f"more than {body.limit} bytes"
    if trouble is not None:
        return _broken_off(body, trouble)
    if body.fault is not None:
        return (Outcome.BAD_ENCODING, detail_of(body.fault)) if body.good else (Outcome.FETCHED, "encoding")
    if body.over:
        return Outcome.FETCHED, "length"
    return Outcome.FETCHED, "" if body.complete else "disconnect"


def _broken_off(body: Body, trouble: Exception) -> tuple[Outcome, str]:
    outcome = outcome_of(trouble)
    late = outcome is Outcome.TIMEOUT
    if body.good and not body.received:
        if late:
            return outcome, "too slow" if body.slow else "deadline passed in the body"
        return outcome, detail_of(trouble)
    if body.fault is not None and body.good:
        return Outcome.BAD_ENCODING, detail_of(body.fault)
    return Outcome.FETCHED, "time" if late else "disconnect"
