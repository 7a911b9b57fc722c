"""Connections: dialled after the guard has seen the address, asked one thing at a time, kept for the next.

What arrives is read where it arrives, in the event loop's own callback: the task that asked is woken once,
when the answer is whole. A thousand servers that send a byte a second so cost a thousand short calls a
second, not a thousand tasks that wake, look and sleep again.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections import deque
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from aiohappyeyeballs import start_connection

from honeyguide.fetch.answer import AnswerReader
from honeyguide.fetch.body import LARGE, Body
from honeyguide.fetch.options import FetchOptions
from honeyguide.fetch.proxy import Proxy, open_tunnel
from honeyguide.fetch.resolver import GuardedResolver

NEXT_ADDRESS: Final = 0.25
"""Seconds after which the next address of a host is tried beside the first (RFC 8305)."""

Place: TypeAlias = tuple[bool, str, int]
"""Where a connection goes: TLS or not, host and port."""
OpenSocket: TypeAlias = Callable[[tuple[Any, ...]], socket.socket]
"""From an address, as `getaddrinfo` gives it, to a socket that is not connected yet."""


class BadAnswer(Exception):
    """What came is not HTTP."""


class BrokenOff(Exception):
    """The server hung up before its answer was whole."""


class NoAddress(Exception):
    """The name has no address."""


class Connection(asyncio.Protocol):
    """One connection.

    Args:
        options: Limits.
        place: Where it goes.
        lost: Called when it is gone while nobody asks.
    """

    def __init__(
        self, options: FetchOptions, place: Place, lost: Callable[[Connection], None] | None = None
    ) -> None:
        self._options = options
        self.place = place
        self._lost = lost
        self.loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self.ip = ""
        """Of the server; empty behind a proxy."""
        self.proxy: Proxy | None = None
        """What it goes through."""
        self.closed = False
        self.heard = False
        """Whether anything came back since it was asked last."""
        self.kept_since = 0.0
        self._reader: AnswerReader | None = None
        self._body: Body | None = None
        self._answered: asyncio.Future[bool] | None = None
        self._timer: asyncio.TimerHandle | None = None
        """Goes on over many requests: making one for each would take longer than all that it looks for."""
        self._asked = 0.0
        self._until = 0.0
        self._body_began = 0.0
        self._waiting: asyncio.Task[None] | None = None

    def ask(self, head: bytes, body: Body, until: float) -> asyncio.Future[bool]:
        """Send a request; the answer goes into `body`.

        Args:
            head: Request line and headers.
            body: Where the answer goes.
            until: The loop's time at which it must be whole.

        Returns:
            Whether the connection may be kept, once the answer is whole or `body` wants no more of it.
            Raises what broke it off: `TimeoutError`, `BadAnswer`, `BrokenOff` or `OSError`.
        """
        options = self._options
        self._reader = AnswerReader(max_headers=options.max_headers, max_line=options.max_header_bytes)
        self._body = body
        self._answered = answered = self.loop.create_future()
        self.heard = False
        self._until = until
        self._body_began = 0.0
        if self.closed or self._transport is None:
            self._finish(BrokenOff("the server has closed the connection"))
            return answered
        self._transport.write(head)
        self._asked = now = self.loop.time()
        first = min(until, now + options.floor_after) if options.floor_speed else until
        if self._timer is not None and self._timer.when() > first:
            self._timer.cancel()
            self._timer = None
        if self._timer is None:
            self._timer = self.loop.call_at(first, self._look)
        return answered

    def close(self) -> None:
        """Hang up, whatever is under way."""
        if self._answered is not None:
            self._finish(BrokenOff("the connection was closed"))
        self.closed = True
        self._forget_timer()
        if self._transport is not None:
            self._transport.abort()

    # Called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It is open."""
        self._transport = transport  # type: ignore[assignment]
        peer = transport.get_extra_info("peername")
        self.ip = str(peer[0]) if peer else ""

    def data_received(self, data: bytes) -> None:
        """Bytes have come."""
        reader, body = self._reader, self._body
        if reader is None or body is None:
            self.close()  # nobody asked: what comes now would pass for the next answer
            if self._lost is not None:
                self._lost(self)
            return
        self.heard = True
        piece = reader.feed(data)
        if reader.fault and reader.head is None:
            self._finish(BadAnswer(reader.fault))
            return
        if body.head is None:
            if reader.head is None:
                return
            if not body.begin(reader.head, self._options.max_error_bytes):
                self._finish(keep=reader.done and reader.keeps)
                return
        if piece:
            if not self._body_began:
                self._body_began = self.loop.time()
            if not body.take(piece):
                self._finish()
                return
        if reader.fault:
            self._finish(BadAnswer(reader.fault))
        elif reader.done:
            self._finish(keep=reader.keeps)
        elif body.size > LARGE and not body.hold.fits(body.size):
            # Many large bodies at once would fill the memory; the others' senders have to wait.
            assert self._transport is not None
            self._transport.pause_reading()
            self._waiting = self.loop.create_task(self._go_on(body))

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone."""
        self.closed = True
        self._forget_timer()
        reader = self._reader
        if reader is None:
            if self._lost is not None:
                self._lost(self)
        elif exc is None and reader.ended():
            self._finish()
        else:
            self._finish(exc or BrokenOff("the server hung up before its answer was whole"))

    async def _go_on(self, body: Body) -> None:
        """Read on when there is room."""
        await body.hold.grow(body.size)
        if self._transport is not None and not self.closed:
            self._transport.resume_reading()

    def _look(self) -> None:
        """End what takes too long, by the deadline or by its average speed; else look again later."""
        now, options, body = self.loop.time(), self._options, self._body
        self._timer = None
        if body is None:
            return
        if now >= self._until:
            self._finish(TimeoutError())
            return
        then = self._until
        if options.floor_speed:
            seconds = now - self._body_began
            if self._asked + options.floor_after > now:  # made for an earlier request
                then = self._asked + options.floor_after
            elif not self._body_began:
                then = now + options.floor_after
            elif seconds < options.floor_after:
                then = self._body_began + options.floor_after
            elif body.received < options.floor_speed * seconds:
                body.slow = True
                self._finish(TimeoutError())
                return
            else:
                then = now + 1.0
        self._timer = self.loop.call_at(min(then, self._until), self._look)

    def _forget_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _finish(self, error: Exception | None = None, *, keep: bool = False) -> None:
        answered = self._answered
        self._reader = self._body = self._answered = None
        if self.closed:
            self._forget_timer()
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        if answered is None or answered.done():
            return
        if error is None:
            answered.set_result(keep and not self.closed)
        else:
            answered.set_exception(error)


class Connections:
    """Those that are open, idle ones by where they go.

    Args:
        options: Limits.
        resolver: Finds the addresses of a host.
    """

    def __init__(self, options: FetchOptions, resolver: GuardedResolver) -> None:
        self._options = options
        self._resolver = resolver
        self._idle: dict[Place, list[Connection]] = {}
        self._idle_count = 0
        self._busy: set[Connection] = set()
        self._under_way = 0
        self._queue: deque[asyncio.Future[None]] = deque()
        self._sweep: asyncio.TimerHandle | None = None
        self._tls: ssl.SSLContext | None = None
        self._proxy_answered = False

    def begins(self) -> bool:
        """Whether another request may be on the wire at once; else it waits for its `turn`."""
        if self._under_way >= self._options.max_connections:
            return False
        self._under_way += 1
        return True

    async def turn(self) -> None:
        """Wait until another request may be on the wire; `done` gives the turn to the next."""
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.done()  # it was our turn, which we cannot take
            raise

    def done(self) -> None:
        """A request is over."""
        while self._queue:
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._under_way -= 1

    def kept(self, place: Place) -> Connection | None:
        """An idle connection, where there is one."""
        idle = self._idle.get(place)
        if not idle:
            return None
        connection = idle.pop()
        if not idle:
            del self._idle[place]
        self._idle_count -= 1
        self._busy.add(connection)
        return connection

    async def dial(self, place: Place, open_socket: OpenSocket) -> Connection:
        """A new connection.

        Args:
            place: Where it goes.
            open_socket: Makes the socket for an address, once the guard has seen it.

        Raises:
            EgressRefused: When the guard does not let the address be dialled.
            NoAddress: When the name has none.
            OSError: When nobody answers there.
        """
        _, host, port = place
        loop = asyncio.get_running_loop()
        try:
            found = await self._resolver.resolve(host, port)
        except OSError as error:
            raise NoAddress(str(error)) from error
        infos = [
            (each.family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (each.host, each.port))
            for each in found
        ]
        async with asyncio.timeout(self._options.connect_timeout):
            if len(infos) == 1:
                opened = open_socket(infos[0])
                try:
                    opened.setblocking(False)
                    await loop.sock_connect(opened, infos[0][4])
                except BaseException:
                    opened.close()
                    raise
            else:
                opened = await start_connection(
                    infos,
                    happy_eyeballs_delay=NEXT_ADDRESS,
                    interleave=1,
                    loop=loop,
                    socket_factory=open_socket,
                )
        return await self._speak(place, opened)

    async def dial_through(self, proxy: Proxy, place: Place, until: float) -> Connection:
        """A new connection through a proxy.

        Args:
            proxy: A proxy. One that has answered before is waited for when it does not.
            place: Where the connection goes.
            until: The loop's time at which the request must be over.

        Raises:
            TunnelRefused: When the proxy does not lead there.
            ProxyTrouble: When it cannot be reached, or asks for a password.
            OSError: When the host does not speak TLS as it should.
        """
        tls, host, port = place
        loop = asyncio.get_running_loop()
        until -= 0.5  # late enough, and before the request's own deadline, which would blame the host
        pause = 0.25
        while True:
            try:
                opened = await self._reach(proxy, until)
                break
            except (OSError, TimeoutError) as error:
                if not self._proxy_answered or loop.time() + pause > until:
                    said = "it takes too long" if isinstance(error, TimeoutError) else error.strerror
                    if not isinstance(error, TimeoutError) and (error.errno or 0) > 0:
                        said = os.strerror(
                            error.errno or 0
                        ).lower()  # the loop's own words are for programmers
                    raise proxy.trouble(f"does not answer: {said or error}") from error
                await asyncio.sleep(pause)
                pause = min(4.0, 2 * pause)
        self._proxy_answered = True
        try:
            if tls:
                await open_tunnel(opened, proxy, host.rstrip("."), port)
        except BaseException:
            opened.close()
            raise
        connection = await self._speak(place, opened)
        connection.proxy, connection.ip = proxy, ""
        return connection

    async def _reach(self, proxy: Proxy, until: float) -> socket.socket:
        """A socket that is connected with a proxy."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout_at(min(until, loop.time() + self._options.connect_timeout)):
            infos = await loop.getaddrinfo(proxy.host, proxy.port, type=socket.SOCK_STREAM)
            return await start_connection(infos, happy_eyeballs_delay=NEXT_ADDRESS, interleave=1, loop=loop)

    async def _speak(self, place: Place, opened: socket.socket) -> Connection:
        """A connection over a connected socket, with TLS where the place has it."""
        tls, host, _ = place
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._options.connect_timeout):
                _, connection = await loop.create_connection(
                    lambda: Connection(self._options, place, self._gone),
                    sock=opened,
                    ssl=self._context() if tls else None,
                    server_hostname=host.rstrip(".") if tls else None,
                )
        except BaseException:
            opened.close()
            raise
        self._busy.add(connection)
        return connection

    def give_back(self, connection: Connection, *, keep: bool) -> None:
        """A request is over: keep the connection for the next one, or hang up."""
        self._busy.discard(connection)
        if not keep or connection.closed or self._idle_count >= self._options.idle_connections:
            connection.close()
            return
        loop = connection.loop
        connection.kept_since = loop.time()
        self._idle.setdefault(connection.place, []).append(connection)
        self._idle_count += 1
        if self._sweep is None:
            self._sweep = loop.call_later(self._options.keep_alive, self._hang_up)

    def _hang_up(self) -> None:
        """Let go of connections that were idle for too long. One timer looks at all of them."""
        loop = asyncio.get_running_loop()
        since = loop.time() - self._options.keep_alive
        for connection in [one for idle in self._idle.values() for one in idle if one.kept_since <= since]:
            self._gone(connection)
            connection.close()
        left = self._options.keep_alive / 4
        self._sweep = loop.call_later(left, self._hang_up) if self._idle else None

    def _gone(self, connection: Connection) -> None:
        """An idle connection was closed."""
        idle = self._idle.get(connection.place, [])
        if connection in idle:
            idle.remove(connection)
            self._idle_count -= 1
            if not idle:
                del self._idle[connection.place]

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = ssl.create_default_context()
            self._tls.set_alpn_protocols(["http/1.1"])
            if self._options.ca_file:
                self._tls.load_verify_locations(cafile=self._options.ca_file)
        return self._tls

    async def close(self) -> None:
        """Hang up everywhere."""
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None
        for connection in (*self._busy, *(one for idle in self._idle.values() for one in idle)):
            connection.close()
        self._busy.clear()
        self._idle.clear()
        self._idle_count = 0
        await asyncio.sleep(0)  # the loop closes the sockets in its next turn
