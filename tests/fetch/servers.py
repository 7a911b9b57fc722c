"""A scriptable server: bytes in, scripted bytes out. It knows no HTTP, so it can break every rule of it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias

from listening import listening

Handler: TypeAlias = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


class Script:
    """A listening server: where it is, what it was sent, and how often it was connected to."""

    def __init__(self) -> None:
        self.port = 0
        self.connections = 0
        self.requests: list[bytes] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"


@asynccontextmanager
async def serving(
    answer: bytes | Handler,
    *,
    keep_alive: bool = False,
    host: str = "127.0.0.1",
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[Script]:
    """A server that answers every request head with the given bytes, or by calling the handler."""
    script = Script()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        script.connections += 1
        with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                script.requests.append(head)
                if callable(answer):
                    await answer(head, writer)
                else:
                    writer.write(answer)
                    await writer.drain()
                if not keep_alive:
                    break

    async with listening(talk, host=host, tls=tls) as script.port:
        yield script


def ok(body: bytes, *headers: str, status: str = "200 OK", length: int | None = None) -> bytes:
    """A plain answer with a Content-Length."""
    size = len(body) if length is None else length
    lines = [f"HTTP/1.1 {status}", "Content-Type: text/html", f"Content-Length: {size}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def chunked(*pieces: bytes, end: bool = True) -> bytes:
    """Pieces in chunked coding."""
    coded = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return coded + (b"0\r\n\r\n" if end else b"")
