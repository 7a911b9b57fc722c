"""A forward proxy on loopback that leads to one server, whatever host is named."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from listening import listening


class RunningProxy:
    """Where it listens, and the request heads that it was sent."""

    def __init__(self) -> None:
        self.port = 0
        self.heads: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def lines(self) -> list[str]:
        return [head.partition("\r\n")[0] for head in self.heads]


@asynccontextmanager
async def proxying(
    to: int, *, password: str = "", refused: frozenset[str] = frozenset(), port: int = 0
) -> AsyncIterator[RunningProxy]:
    """A proxy that leads to the server at port `to`.

    Args:
        to: What answers for every host.
        password: Value of Proxy-Authorization that is asked for.
        refused: Hosts that are refused with 403.
        port: Where to listen; any free one by default.
    """
    proxy = RunningProxy()
    onwards: list[asyncio.StreamWriter] = []

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()
        writer.close()

    def rewritten(head: str) -> bytes:
        """A request as the server gets it."""
        line, _, rest = head.partition("\r\n")
        path = "/" + line.split(" ")[1].removeprefix("http://").partition("/")[2]
        own = [one for one in rest.split("\r\n") if not one.startswith("Proxy-")]
        return "\r\n".join([f"GET {path} HTTP/1.1", *own]).encode()

    async def pass_on(head: str, reader: asyncio.StreamReader, onward: asyncio.StreamWriter) -> None:
        while True:
            onward.write(rewritten(head))
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            proxy.heads.append(head)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            proxy.heads.append(head)
            method, target, _ = head.partition("\r\n")[0].split(" ")
            status = ""
            if password and f"Proxy-Authorization: {password}\r\n" not in head:
                status = "407 Proxy Authentication Required"
            elif target.removeprefix("http://").partition("/")[0].partition(":")[0] in refused:
                status = "403 Forbidden"
            if status:
                writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nno".encode())
            else:
                there, onward = await asyncio.open_connection("127.0.0.1", to)
                onwards.append(onward)
                if method == "CONNECT":
                    writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                there_and = copy(reader, onward) if method == "CONNECT" else pass_on(head, reader, onward)
                await asyncio.gather(there_and, copy(there, writer))
            await writer.drain()

    async with listening(talk, port=port) as proxy.port:
        try:
            yield proxy
        finally:
            for onward in onwards:
                onward.transport.abort()
