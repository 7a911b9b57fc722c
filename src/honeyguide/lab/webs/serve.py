"""A lab web over real HTTP/1.1 on loopback: by virtual host (Host header) or as a forward proxy.

The server is one plain `asyncio.Protocol`, since nothing else answers thousands of small pages a second
beside a crawler under test. It runs in a process of its own (`start_server`), and the web's `get` is
all it knows of the web. Slow hosts really wait, and failing hosts really reset the connection.

`python -m honeyguide.lab.webs.serve --spec SPEC.json` serves a generated web and prints its port.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import struct
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import responses
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self, cast

import msgspec

from honeyguide.errors import HoneyguideError
from honeyguide.lab.webs.generated.spec import DEMO, WebSpec
from honeyguide.lab.webs.generated.web import GeneratedWeb
from honeyguide.lab.webs.served import Servable, Served

_MOST = 64 * 1024
"""Longest request head that is read."""


class LogEntry(msgspec.Struct, frozen=True, array_like=True):
    """One request, as the server saw it: times are seconds of the system's monotonic clock."""

    host: str
    url: str
    status: int
    came: float
    left: float


class _Connection(asyncio.Protocol):
    """One keep-alive connection; pipelined requests are answered in order."""

    def __init__(self, server: WebServer) -> None:
        self._server = server
        self._transport: asyncio.Transport | None = None
        self._buffer = b""
        self._waiting: deque[tuple[str, bool, bool]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._busy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are asyncio.Transport in all but name.
        self._transport = cast(asyncio.Transport, transport)
        self._server.connections.add(self._transport)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is not None:
            self._server.connections.discard(self._transport)
        if self._timer is not None:
            self._timer.cancel()
        self._transport = None

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head, self._buffer = self._buffer[:end], self._buffer[end + 4 :]
            self._waiting.append(_parse(head))
        if len(self._buffer) > _MOST and self._transport is not None:
            self._transport.close()
        elif not self._busy:
            self._next()

    def _next(self) -> None:
        self._busy = False
        while self._waiting and not self._busy and self._transport is not None:
            url, keep, with_body = self._waiting.popleft()
            came = time.monotonic()
            answer = self._server.web.get(url) if url else Served(400, (), b"bad request")
            self._busy = answer.delay > 0 or answer.behaviour == "hang"
            if not self._busy:
                self._send(url, answer, came, keep=keep, with_body=with_body)
            elif answer.behaviour != "hang":
                loop = asyncio.get_running_loop()
                self._timer = loop.call_later(answer.delay, self._late, url, answer, came, keep, with_body)

    def _late(self, url: str, answer: Served, came: float, keep: bool, with_body: bool) -> None:
        self._timer = None
        self._send(url, answer, came, keep=keep, with_body=with_body)
        self._next()

    def _send(self, url: str, answer: Served, came: float, *, keep: bool, with_body: bool) -> None:
        transport = self._transport
        if transport is None:
            return
        # First the log, then the answer: whoever has read an answer finds it in the log.
        self._server.note(url, answer.status, came)
        if answer.behaviour == "reset":
            _reset(transport)
        else:
            transport.write(_bytes(answer, keep=keep, with_body=with_body))
            if not keep or answer.behaviour == "cut":
                transport.close()
                self._transport = None
                self._server.connections.discard(transport)


def _parse(head: bytes) -> tuple[str, bool, bool]:
    """URL, keep-alive, and whether a body is wanted; an empty URL for a request that is none."""
    lines = head.decode("latin-1").split("\r\n")
    parts = lines[0].split(" ")
    if len(parts) != 3 or parts[0] not in ("GET", "HEAD"):
        return "", False, True
    host, keep = "", parts[2] != "HTTP/1.0"
    for line in lines[1:]:
        name, _, value = line.partition(":")
        name = name.lower()
        if name == "host":
            host = value.strip()
        elif name == "connection":
            keep = value.strip().lower() != "close"
    target = parts[1]
    if target.startswith("/"):
        target = f"http://{host}{target}" if host else ""
    elif not target.startswith("http://"):
        target = ""
    return target, keep and bool(target), parts[0] == "GET"


def _bytes(answer: Served, *, keep: bool, with_body: bool) -> bytes:
    lines = [f"HTTP/1.1 {answer.status} {responses.get(answer.status, '')}"]
    lines += [f"{name}: {value}" for name, value in answer.headers]
    lines.append(f"Content-Length: {len(answer.body)}")
    if not keep:
        lines.append("Connection: close")
    body = answer.body if with_body else b""
    if answer.behaviour == "cut":
        body = body[: len(body) // 2]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def _reset(transport: asyncio.Transport) -> None:
    """Close with RST instead of FIN: linger on, for no time at all."""
    raw = transport.get_extra_info("socket")
    if raw is not None:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


class WebServer:
    """Serves a web on 127.0.0.1 inside a running event loop.

    Args:
        web: Anything with `get(url) -> Served`.
        log: A file for one JSON line a request, for proofs of politeness.
    """

    def __init__(self, web: Servable, *, log: Path | None = None) -> None:
        self.web = web
        self.connections: set[asyncio.Transport] = set()
        self._log_path = log
        self._log: BinaryIO | None = None
        self._server: asyncio.Server | None = None
        self.port = 0

    async def start(self, port: int = 0, *, address: str = "127.0.0.1") -> int:
        """Listen on an address of loopback; port 0 takes a free one. Gives the port."""
        if self._log_path is not None:
            self._log = await asyncio.to_thread(self._log_path.open, "wb")
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self), address, port, backlog=1024)
        self.port = int(self._server.sockets[0].getsockname()[1])
        return self.port

    async def stop(self) -> None:
        """Close all connections and the log."""
        if self._server is not None:
            self._server.close()
            for transport in list(self.connections):
                transport.abort()
            await self._server.wait_closed()
            self._server = None
        if self._log is not None:
            self._log.close()
            self._log = None

    async def __aenter__(self) -> Self:
        """Start on a free port."""
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        await self.stop()

    def note(self, url: str, status: int, came: float) -> None:
        """Write a request to the log, if there is one."""
        if self._log is not None:
            host = url.partition("://")[2].partition("/")[0].partition(":")[0]
            entry = LogEntry(host, url, status, came, time.monotonic())
            self._log.write(msgspec.json.encode(entry) + b"\n")
            self._log.flush()


def read_log(path: Path) -> list[LogEntry]:
    """All requests of a server's log, in order of their answers."""
    return [msgspec.json.decode(line, type=LogEntry) for line in path.read_bytes().splitlines()]


class ServerHandle:
    """A server in a process of its own."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self._process = process
        self.port = port

    @property
    def proxy(self) -> str:
        """Its address as a forward proxy."""
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        """End the process. Safe to call twice."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


@contextmanager
def start_server(spec: WebSpec = DEMO, *, log: Path | None = None, port: int = 0) -> Iterator[ServerHandle]:
    """Serve a generated web from a new process; it ends with the block, or when this process dies."""
    command = [sys.executable, "-m", "honeyguide.lab.webs.serve", "--port", str(port), "--until-end-of-input"]
    command += ["--spec", msgspec.json.encode(spec).decode()]
    if log is not None:
        command += ["--log", str(log)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
    assert process.stdout is not None
    line = process.stdout.readline()
    handle = ServerHandle(process, int(line) if line.strip().isdigit() else 0)
    try:
        if not handle.port:
            raise HoneyguideError("the lab server did not start: see its message above")
        yield handle
    finally:
        handle.stop()


def read_spec(text: str) -> WebSpec:
    """A spec from JSON, or from a file that holds it."""
    source = text if text.lstrip().startswith("{") else Path(text).read_text(encoding="utf-8")
    try:
        return msgspec.json.decode(source, type=WebSpec)
    except msgspec.MsgspecError as error:
        raise HoneyguideError(f"this is not a spec of a generated web ({error}): correct its JSON") from error


async def _serve(web: Servable, *, port: int, log: Path | None, until_end_of_input: bool) -> None:
    server = WebServer(web, log=log)
    await server.start(port)
    sys.stdout.write(f"{server.port}\n")
    sys.stdout.flush()
    try:
        if until_end_of_input:
            await asyncio.to_thread(sys.stdin.buffer.read)
        else:
            await asyncio.Event().wait()
    finally:
        await server.stop()


def main(arguments: list[str] | None = None) -> None:
    """Serve a generated web until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m honeyguide.lab.webs.serve", description=main.__doc__)
    parser.add_argument("--spec", default="{}", help="JSON of a WebSpec, or a file with it")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1; 0 takes a free one")
    parser.add_argument("--log", type=Path, help="file for one JSON line a request")
    parser.add_argument("--until-end-of-input", action="store_true", help="stop when standard input ends")
    given = parser.parse_args(arguments)
    try:
        web = GeneratedWeb(read_spec(given.spec))
    except (HoneyguideError, OSError) as error:
        sys.exit(str(error))
    job = _serve(web, port=given.port, log=given.log, until_end_of_input=given.until_end_of_input)
    with suppress(KeyboardInterrupt), asyncio.Runner(loop_factory=_new_loop) as runner:
        runner.run(job)


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:  # there is none for Windows
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


if __name__ == "__main__":
    main()
