"""Strangers who connect and say nothing must not keep the portal from answering."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from crawls import finish, small_crawl
from portals import TOKEN, RunningPortal, running_portal

from honeyguide.ui.connections import MOST, PatientProtocol


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("crawled") / "owls"
    asyncio.run(finish(small_crawl(out, max_pages=20)))
    return out


@pytest.fixture
def mine(folder: Path) -> Iterator[RunningPortal]:
    with running_portal(folder) as portal:
        yield portal


def connected(portal: RunningPortal, stack: ExitStack, sent: bytes) -> socket.socket:
    made = stack.enter_context(socket.create_connection(("127.0.0.1", portal.port), timeout=20))
    with suppress(OSError):  # it may have been closed already
        made.sendall(sent)
    return made


def closed(sock: socket.socket) -> bool:
    """Whether the other side has closed, or closes in good time."""
    try:
        while sock.recv(4096):
            pass
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True


def test_half_sent_requests_keep_nobody_out(mine: RunningPortal) -> None:
    with ExitStack() as stack:
        silent = [connected(mine, stack, b"GET / HTTP/1.1\r\nHost: a") for _ in range(1_100)]
        for _ in range(5):
            started, used = time.monotonic(), time.process_time()
            assert mine.get("/").status == 200
            assert time.monotonic() - started < 5
            assert time.process_time() - used < 3
        assert all(closed(sock) for sock in silent[: 1_100 - MOST])


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\n"])
def test_a_request_that_never_comes_is_let_go(
    mine: RunningPortal, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(PatientProtocol, "head_seconds", 0.3)
    with ExitStack() as stack:
        assert closed(connected(mine, stack, sent))


def test_a_trickle_does_not_stretch_the_deadline(
    mine: RunningPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PatientProtocol, "head_seconds", 0.5)
    with ExitStack() as stack:
        sock = connected(mine, stack, b"GET / HTTP/1.1\r\nX: ")
        started = time.monotonic()
        with suppress(OSError):
            while time.monotonic() - started < 15:
                sock.sendall(b"a")
                time.sleep(0.02)
        assert time.monotonic() - started < 10


def test_those_who_are_answered_stay(mine: RunningPortal, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full house of silent strangers does not cost a reader of the live view his connection."""
    monkeypatch.setattr(PatientProtocol, "most", 8)
    monkeypatch.setattr(PatientProtocol, "head_seconds", 0.5)
    with ExitStack() as stack:
        head = f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{mine.port}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
        reader = connected(mine, stack, head.encode())
        assert reader.recv(12) == b"HTTP/1.1 200"
        silent = [connected(mine, stack, b"G") for _ in range(30)]
        assert mine.get("/").status == 200
        assert all(closed(sock) for sock in silent)  # also by their deadline, which is not the reader's
        reader.settimeout(0.2)
        assert not closed(reader)
