"""Clean Markdown of hostile pages: made in a process that is killed when a page takes too long."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

import msgspec

from honeyguide.errors import HoneyguideError, MissingExtra
from honeyguide.parse.base import ParseJob
from honeyguide.parse.worker import FAILURE, HEADER

DEADLINE: Final = 10.0
MEMORY: Final = 2 << 30
_START: Final = 60.0


class MarkdownMaker:
    r"""Turns documents into Markdown, one at a time; threads may share it. Use it as a context, or close it.

    Args:
        deadline: Seconds for one page. What takes longer has no Markdown.

    Example:
        >>> with MarkdownMaker() as maker:
        ...     maker.make(b"<h1>Owls</h1><p>They hunt at night.</p>", url="https://example.org/")
        '# Owls\n\nThey hunt at night.'
    """

    def __init__(self, *, deadline: float = DEADLINE) -> None:
        self.deadline = deadline
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._encode = msgspec.msgpack.Encoder().encode

    def __enter__(self) -> Self:
        """The maker itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the process."""
        self.close()

    def make(self, body: bytes, *, url: str, content_type: str = "text/html") -> str:
        """The Markdown of a document; empty when it has no main part, or took too long.

        Raises:
            MissingExtra: The extractor is not installed.
        """
        job = self._encode(ParseJob(url, body, content_type))
        with self._lock:
            try:
                connection = self._socket or self._start()
                connection.settimeout(self.deadline)
                connection.sendall(HEADER.pack(len(job), 0) + job)
                kind, data = _frame(connection)
            except (TimeoutError, OSError):
                self._stop()
                return ""
        if kind == FAILURE:
            raise HoneyguideError(data.decode("utf-8", "replace"))
        return data.decode("utf-8", "replace")

    def close(self) -> None:
        """End the process; the next page starts a new one."""
        with self._lock:
            self._stop()

    def _start(self) -> socket.socket:
        from importlib.util import find_spec

        if find_spec("trafilatura") is None:
            raise MissingExtra("clean text", "markdown")
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [
                    sys.executable,
                    "-P",  # a file in the current folder must not stand in for one of our modules
                    "-m",
                    "honeyguide.parse.markdown_worker",
                    str(theirs.fileno()),
                    str(MEMORY),
                    str(self.deadline),
                ],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        self._socket = ours
        ours.settimeout(_START)
        _frame(ours)
        return ours

    def _stop(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._process is not None:
            with suppress(OSError):
                self._process.kill()
            self._process.wait()
            self._process = None


def _frame(connection: socket.socket) -> tuple[int, bytes]:
    length, kind = HEADER.unpack(_exactly(connection, HEADER.size))
    return kind, _exactly(connection, length)


def _exactly(connection: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        piece = connection.recv(min(1 << 20, size - len(parts)))
        if not piece:
            raise ConnectionError("the worker hung up")
        parts += piece
    return bytes(parts)
