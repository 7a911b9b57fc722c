"""Answers of servers that others wrote, over loopback: they do what no script of ours would think of."""

from __future__ import annotations

import asyncio
import http.server
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import brotli
import pytest
import uvicorn

from honeyguide.fetch.base import Request, Response
from honeyguide.fetch.http import HttpFetcher

pytestmark = pytest.mark.realtime

Make = Callable[..., HttpFetcher]
SMALL = "<p>Käuzchen</p>".encode() * 10
LARGE = b"<p>barn owls and other birds</p>\n" * 20_000


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("served")
    (made / "small.html").write_bytes(SMALL)
    (made / "large.html").write_bytes(LARGE)
    (made / "empty.html").write_bytes(b"")
    return made


@contextmanager
def standard_library(folder: Path, protocol: str) -> Iterator[str]:
    """HTTP/1.0 with a close after each answer, or HTTP/1.1 that keeps connections."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        protocol_version = protocol

        def __init__(self, *args: Any) -> None:
            super().__init__(*args, directory=str(folder))

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


@contextmanager
def nginx(folder: Path) -> Iterator[str]:
    """nginx that compresses, and closes a connection after three requests."""
    program = shutil.which("nginx")
    if program is None:
        pytest.skip("no nginx here: install nginx to run this test")
    port = free_port()
    paths = "".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    who = "user root;" if os.geteuid() == 0 else ""  # its workers could not read the folder otherwise
    (folder / "nginx.conf").write_text(
        f"{who} daemon off; pid {folder}/pid; error_log {folder}/error.log; worker_processes 1;"
        f"events {{ worker_connections 64; }} http {{ access_log off; {paths} types {{ text/html html; }}"
        f"server {{ listen 127.0.0.1:{port}; root {folder}; gzip on; gzip_min_length 1; keepalive_requests 3;"
        'location /none { return 204; } location /moved { return 302 "/kä uz.html"; } } }'
    )
    server = subprocess.Popen([program, "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")])
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(10)


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """In ASGI, so that the server chooses how to send it: a body of no stated length goes in chunks."""
    if scope["type"] != "http":
        return
    path = scope["path"]
    headers = [(b"content-type", b"text/html")]
    if path == "/brotli":
        headers.append((b"content-encoding", b"br"))
    bodies = {
        "/small.html": [SMALL],
        "/large.html": [LARGE[at : at + 5000] for at in range(0, len(LARGE), 5000)],
        "/brotli": [brotli.compress(LARGE)],
        "/empty.html": [b""],
        "/none": [],
    }
    status = 204 if path == "/none" else 200 if path in bodies else 404
    await send({"type": "http.response.start", "status": status, "headers": headers})
    for piece in bodies.get(path, [b"no"]):
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


@asynccontextmanager
async def asgi(**settings: Any) -> AsyncIterator[str]:
    port = free_port()
    config = uvicorn.Config(application, port=port, lifespan="off", log_level="critical", **settings)
    server = uvicorn.Server(config)
    running = asyncio.create_task(server._serve())  # not serve(): that takes the signals from pytest
    for _ in range(500):
        await asyncio.sleep(0.01)
        if server.started:
            break
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await running


async def pages(http: HttpFetcher, base: str) -> None:
    """Pages of all sizes, one after the other and many at once, all of them whole."""
    wanted = {"small.html": (200, SMALL), "large.html": (200, LARGE), "empty.html": (200, b"")}
    for name in ("small.html", "small.html", "large.html", "empty.html", "small.html"):
        answer = await http.fetch(Request(f"{base}/{name}"))
        assert isinstance(answer, Response), answer
        assert (answer.status, len(answer.body), answer.truncated) == (200, len(wanted[name][1]), "")
        assert answer.body == wanted[name][1]
    missing = await http.fetch(Request(f"{base}/missing.html"))
    assert isinstance(missing, Response)
    assert missing.status == 404
    names = ("small.html", "large.html") * 8
    answers = await asyncio.gather(*(http.fetch(Request(f"{base}/{name}")) for name in names))
    for name, answer in zip(names, answers, strict=True):
        assert isinstance(answer, Response), answer
        assert answer.body == wanted[name][1]
        assert answer.truncated == ""


@pytest.mark.parametrize("protocol", ["HTTP/1.0", "HTTP/1.1"])
async def test_the_standard_library(fetcher: Make, folder: Path, protocol: str) -> None:
    with standard_library(folder, protocol) as base:
        async with fetcher() as http:
            await pages(http, base)
            first = await http.fetch(Request(f"{base}/small.html"))
            assert isinstance(first, Response)
            again = (("If-Modified-Since", first.header("last-modified")),)
            second = await http.fetch(Request(f"{base}/small.html", headers=again))
            assert isinstance(second, Response)
            assert (second.status, second.body) == (304, b"")


async def test_nginx(fetcher: Make, folder: Path) -> None:
    with nginx(folder) as base:
        async with fetcher() as http:
            for _ in range(100):  # until it listens
                first = await http.fetch(Request(f"{base}/small.html"))
                if isinstance(first, Response):
                    break
                await asyncio.sleep(0.05)
            assert isinstance(first, Response), first
            assert first.header("content-encoding") == "gzip"
            await pages(http, base)
            none = await http.fetch(Request(f"{base}/none"))
            moved = await http.fetch(Request(f"{base}/moved"))
            assert isinstance(none, Response)
            assert (none.status, none.body) == (204, b"")
            assert isinstance(moved, Response)
            assert moved.header("location") == f"{base}/kä uz.html"


@pytest.mark.parametrize("reader", ["h11", "httptools"])
async def test_uvicorn(fetcher: Make, reader: str) -> None:
    if reader == "httptools":
        pytest.importorskip("httptools", reason="uvicorn's other reader is not installed")
    async with asgi(http=reader) as base, fetcher() as http:
        await pages(http, base)
        none = await http.fetch(Request(f"{base}/none"))
        assert isinstance(none, Response)
        assert (none.status, none.body) == (204, b"")


async def test_a_large_page_in_brotli(fetcher: Make) -> None:
    async with asgi(http="h11") as base, fetcher() as http:
        answer = await http.fetch(Request(f"{base}/brotli"))
        assert isinstance(answer, Response)
        assert (len(answer.body), answer.truncated) == (len(LARGE), "")


async def test_a_server_that_closes_while_we_ask_is_asked_again(fetcher: Make) -> None:
    """The request goes out at the moment at which the server gives up the idle connection."""
    async with asgi(http="h11", timeout_keep_alive=1) as base, fetcher() as http:
        url = f"{base}/small.html"
        assert isinstance(await http.fetch(Request(url)), Response)
        for pause in (0.99, 1.0, 1.001, 1.005, 1.1):
            await asyncio.sleep(pause)
            answer = await http.fetch(Request(url))
            assert isinstance(answer, Response), (pause, answer)
            assert answer.body == SMALL
