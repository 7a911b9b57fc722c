"""Serves all cases on one port of 127.0.0.1."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from types import TracebackType
from typing import Self

from honeyguide.lab.webs.hostile.bombs import prepare
from honeyguide.lab.webs.hostile.case import CASES, Behaviour, Case, Talk, owls
from honeyguide.lab.webs.hostile.tls import TLS_RECORD, server_name

_HEAD_LIMIT = 64 * 1024


class HostileServer:
    """A server for hostile cases; the first label of the host name says which one.

    Hosts that name no case answer a page that links to all of them.

    Args:
        cases: Those to serve; all by default.
    """

    def __init__(self, cases: dict[str, Case] | None = None) -> None:
        self.cases = CASES if cases is None else cases
        self.port = 0
        self.requests: dict[str, int] = {}
        """Connections to each case that sent a request."""
        self.held: dict[str, float] = {}
        """The longest time a client stayed with each case, in seconds."""
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def url(self, case: Case) -> str:
        """The case's address with the port, for clients that resolve `*.localhost`."""
        return f"{case.url.rstrip('/')}:{self.port}/"

    async def start(self, port: int = 0) -> int:
        """Listen; port 0 takes a free one. Gives the port."""
        await asyncio.to_thread(prepare)
        self._server = await asyncio.start_server(
            self._connected, "127.0.0.1", port, limit=_HEAD_LIMIT, backlog=1024
        )
        self.port = int(self._server.sockets[0].getsockname()[1])
        return self.port

    async def stop(self) -> None:
        """Close everything."""
        if self._server is not None:
            self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def __aenter__(self) -> Self:
        """Start on a free port."""
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        await self.stop()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        started, name = time.monotonic(), ""
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                name, talk, behave = await self._read(reader, writer)
                self.requests[name] = self.requests.get(name, 0) + 1
                gone = asyncio.ensure_future(reader.read())  # a client that hangs up ends the case
                work = asyncio.ensure_future(behave(talk))
                try:
                    await asyncio.wait({gone, work}, return_when=asyncio.FIRST_COMPLETED)
                    if work.done():
                        await work
                        await self._finish(writer)
                finally:
                    gone.cancel()
                    work.cancel()
                    await asyncio.gather(gone, work, return_exceptions=True)
        finally:
            writer.transport.abort()
            self.held[name] = max(self.held.get(name, 0.0), time.monotonic() - started)

    @staticmethod
    async def _finish(writer: asyncio.StreamWriter) -> None:
        """Close with everything sent: an abort would take back what the client has not read yet."""
        if not writer.transport.is_closing():
            writer.close()
            with suppress(ConnectionError, TimeoutError):
                await asyncio.wait_for(writer.wait_closed(), 30.0)

    async def _read(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> tuple[str, Talk, Behaviour]:
        """The case's name, and who answers how."""
        first = await reader.readexactly(1)
        if first == TLS_RECORD:
            first += await reader.readexactly(4)
            first += await reader.readexactly(int.from_bytes(first[3:5], "big"))
            name = server_name(first).partition(".")[0]
            case = self.cases.get(name)
            behave = case.behave if case is not None and case.scope == "tls" else _drop
            return name, Talk(writer, hello=first), behave
        head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        host = next((line[5:].strip() for line in head if line.lower().startswith("host:")), "")
        path = [*head[0].split(" "), "/"][1]
        name = host.partition(".")[0]
        return name, Talk(writer, path=path, root=f"http://{host}"), self._behaviour(name, path)

    def _behaviour(self, name: str, path: str) -> Behaviour:
        case = self.cases.get(name)
        robots = path.partition("?")[0] == "/robots.txt"
        if case is None:
            return _missing if robots else self._list
        if case.scope == "all" or (case.scope == "robots") == robots:
            return case.behave
        return _missing if robots else _good

    async def _list(self, talk: Talk) -> None:
        links = (f'<a href="{self.url(case)}">{case.summary}</a><br>' for case in self.cases.values())
        await talk.answer(owls(*links))


async def _missing(talk: Talk) -> None:
    await talk.answer(b"", status="404 Not Found")


async def _good(talk: Talk) -> None:
    await talk.answer(owls())


async def _drop(talk: Talk) -> None:
    talk.reset()
