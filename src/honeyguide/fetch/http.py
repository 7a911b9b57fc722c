"""Fetching over HTTP/1.1 with aiohttp, under limits that a hostile server cannot stretch.

aiohttp is used for sockets, TLS and HTTP parsing only. Redirects, cookies, credentials, decompression,
proxies from the environment and retries are switched off or done here, because each of them has been a
security hole in some crawler.
"""

from __future__ import annotations

import asyncio
import functools
import re
import socket
import ssl
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler
from yarl import URL

from honeyguide.fetch.base import Failure, Request, Response
from honeyguide.fetch.body import Body
from honeyguide.fetch.egress import EgressGuard
from honeyguide.fetch.options import FetchOptions
from honeyguide.fetch.resolver import GuardedResolver, Lookup, ThreadLookup
from honeyguide.fetch.room import Room, give_back_large_blocks
from honeyguide.fetch.trouble import detail_of, outcome_of
from honeyguide.fetch.wire import (
    ASKED,
    Asked,
    Handler,
    NotedResponse,
    header_text,
    request_head,
    response_head,
)
from honeyguide.model import Outcome

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
        asked = Asked(request, started_at=self._clock(), started=loop.time())
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

    async def _ask(self, asked: Asked) -> aiohttp.ClientResponse:
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
        self, asked: Asked, answer: aiohttp.ClientResponse, end: tuple[Outcome, str]
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

    def _failure(self, asked: Asked, outcome: Outcome, detail: str) -> Failure:
        return Failure(
            url=asked.request.url,
            outcome=outcome,
            detail=detail,
            ip=asked.ip,
            started_at=asked.started_at,
            seconds=self._seconds(asked),
        )

    @staticmethod
    def _seconds(asked: Asked) -> float:
        return asyncio.get_running_loop().time() - asked.started

    async def close(self) -> None:
        """Close connections and end lookups."""
        if self._session is not None:
            await self._session.close()
            self._session = None
        await self._resolver.close()
