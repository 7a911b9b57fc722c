"""What a case is, and the list of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

import msgspec

from honeyguide.model import Outcome

PAGE_OUTCOMES = frozenset({Outcome.FETCHED, Outcome.NOINDEX})


class Talk:
    """One request, and the way to answer it: raw bytes, in whatever order and time the case likes."""

    def __init__(
        self, writer: asyncio.StreamWriter, *, path: str = "", root: str = "", hello: bytes = b""
    ) -> None:
        self._writer = writer
        self.path = path
        self.root = root
        """`http://CASE.localhost:PORT` as the client called it."""
        self.hello = hello
        """The client's first message, where it speaks TLS."""

    async def send(self, data: bytes) -> None:
        """Send, and wait until the client has taken most of it."""
        self._writer.write(data)
        await self._writer.drain()

    async def drip(self, data: bytes, *, every: float = 1.0) -> None:
        """Send byte by byte."""
        for place in range(len(data)):
            await self.send(data[place : place + 1])
            await asyncio.sleep(every)

    async def flood(self, piece: bytes) -> None:
        """Send the same piece until the client has had enough."""
        while True:
            await self.send(piece)

    async def silence(self) -> None:
        """Say nothing until the client goes."""
        await asyncio.sleep(3600)

    def reset(self) -> None:
        """Drop the connection."""
        self._writer.transport.abort()

    async def answer(
        self,
        body: bytes,
        *headers: str,
        status: str = "200 OK",
        kind: str = "text/html",
        length: int | None = None,
    ) -> None:
        """A well-formed answer, but for what the arguments say."""
        size = len(body) if length is None else length
        lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {size}", *headers]
        await self.send("\r\n".join([*lines, "", ""]).encode("latin-1") + body)


Behaviour: TypeAlias = Callable[[Talk], Awaitable[None]]


class Case(msgspec.Struct, frozen=True):
    """One misbehaviour."""

    name: str
    """Also the first label of its host name."""
    group: str
    summary: str
    outcomes: frozenset[Outcome]
    """What may become of `http://CASE.localhost/`; a crawler that says otherwise was fooled."""
    behave: Behaviour
    scope: str = "page"
    """What the behaviour answers: `page` (everything but robots.txt), `robots` (only that), `all`, or `tls`
    (the handshake)."""

    @property
    def url(self) -> str:
        """Where it is, without the port."""
        return f"{'https' if self.scope == 'tls' else 'http'}://{self.name}.localhost/"


CASES: dict[str, Case] = {}
"""All cases by name."""


def case(
    name: str, summary: str, outcomes: Sequence[Outcome], *, group: str, scope: str = "page"
) -> Callable[[Behaviour], Behaviour]:
    """Enter a behaviour into the list."""

    def enter(behave: Behaviour) -> Behaviour:
        if name in CASES:
            raise ValueError(f"there are two cases called {name!r}; give one another name")
        CASES[name] = Case(name, group, summary, frozenset(outcomes), behave, scope)
        return behave

    return enter


def owls(*more: str) -> bytes:
    """A small good page, for cases in which the page is not the problem."""
    return f"<!doctype html><title>owls</title><p>barn owl</p>{''.join(more)}".encode()
