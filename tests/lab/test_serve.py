from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest

from honeyguide.errors import HoneyguideError
from honeyguide.lab.webs.generated import GeneratedWeb, WebSpec
from honeyguide.lab.webs.serve import ServerHandle, WebServer, read_log, read_spec, start_server
from honeyguide.lab.webs.served import Served

pytestmark = pytest.mark.realtime

SPEC = WebSpec(hosts=40, pages=1_000, topics=5, slow_seconds=0.3)


class TinyWeb:
    """Answers by path, to see each behaviour alone."""

    def get(self, url: str) -> Served:
        path = url.partition("://")[2].partition("/")[2]
        if path in ("reset", "hang", "cut"):
            return Served(200, (), b"0123456789", behaviour=path)
        if path == "slow":
            return Served(200, (), b"late", delay=0.2)
        return Served(200, (("Content-Type", "text/plain"),), url.encode())


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ServerHandle, Path]]:
    log = tmp_path_factory.mktemp("serve") / "requests.jsonl"
    with start_server(SPEC, log=log) as handle:
        yield handle, log


async def raw(port: int, request: bytes, *, count: int = 1) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    got = b""
    while got.count(b"HTTP/1.1 ") < count or not got.endswith(b"!"):
        data = await asyncio.wait_for(reader.read(65536), 5)
        if not data:
            break
        got += data
    writer.close()
    await writer.wait_closed()
    return got


async def test_pages_over_proxy_equal_pages_in_process(served: tuple[ServerHandle, Path]) -> None:
    web = GeneratedWeb(SPEC)
    urls = [url for url in web.pages() if web.role(url.split("/")[2]) in ("", "mirror")][::25]
    async with aiohttp.ClientSession(auto_decompress=False) as session:
        for url in urls:
            async with session.get(url, proxy=served[0].proxy) as response:
                answer = web.get(url)
                assert response.status == answer.status == 200
                assert await response.read() == answer.body
                assert response.headers.get("Content-Encoding") == dict(answer.headers).get(
                    "Content-Encoding"
                )
    assert len(urls) > 20


async def test_virtual_host_by_host_header(served: tuple[ServerHandle, Path]) -> None:
    web = GeneratedWeb(SPEC)
    host = next(name for name in web.hosts() if not web.role(name))
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{served[0].proxy}/robots.txt", headers={"Host": host}) as response,
    ):
        assert await response.text() == web.robots(host)


async def test_failing_host_resets_and_slow_host_waits(served: tuple[ServerHandle, Path]) -> None:
    web = GeneratedWeb(SPEC)
    broken = next(url for url in web.pages() if web.get(url).behaviour == "reset")
    slow = next(name for name in web.hosts() if web.role(name) == "slow")
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientConnectionError):
            await session.get(broken, proxy=served[0].proxy)
        start = time.monotonic()
        async with session.get(f"http://{slow}/", proxy=served[0].proxy) as response:
            await response.read()
        assert time.monotonic() - start >= 0.3


async def test_log_tells_host_and_times(served: tuple[ServerHandle, Path]) -> None:
    web = GeneratedWeb(SPEC)
    slow = next(name for name in web.hosts() if web.role(name) == "slow")
    async with aiohttp.ClientSession() as session:
        for _ in range(2):
            async with session.get(f"http://{slow}/about.html", proxy=served[0].proxy) as response:
                await response.read()
    entries = [entry for entry in read_log(served[1]) if entry.url == f"http://{slow}/about.html"]
    assert [entry.host for entry in entries] == [slow, slow]
    assert [entry.status for entry in entries] == [200, 200]
    assert all(entry.left - entry.came >= 0.29 for entry in entries)
    assert entries[1].came >= entries[0].left


async def test_keep_alive_and_pipelining_answer_in_order() -> None:
    async with WebServer(TinyWeb()) as server:
        request = b"GET /slow HTTP/1.1\r\nHost: a.example\r\n\r\nGET /b! HTTP/1.1\r\nHost: a.example\r\n\r\n"
        got = await raw(server.port, request, count=2)
    first, _, second = got.partition(b"late")
    assert first.startswith(b"HTTP/1.1 200 OK")
    assert second.startswith(b"HTTP/1.1 200 OK")
    assert second.endswith(b"http://a.example/b!")


async def test_request_in_pieces_head_and_close() -> None:
    async with WebServer(TinyWeb()) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        for piece in (b"HEAD /x HT", b"TP/1.1\r\nHost: a.example\r\nConn", b"ection: close\r\n\r\n"):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.01)
        got = await asyncio.wait_for(reader.read(), 5)
        writer.close()
    assert got.endswith(b"\r\n\r\n")
    assert b"Content-Length: 18\r\n" in got
    assert b"Connection: close" in got


@pytest.mark.parametrize("line", [b"POST / HTTP/1.1", b"GET /", b"GET ftp://x/ HTTP/1.1", b"GET / HTTP/1.1"])
async def test_bad_requests_get_400_and_a_closed_connection(line: bytes) -> None:
    async with WebServer(TinyWeb()) as server:
        got = await raw(server.port, line + b"\r\n\r\n")
    assert got.startswith(b"HTTP/1.1 400")
    assert got.endswith(b"bad request")


async def test_endless_head_is_cut_off() -> None:
    async with WebServer(TinyWeb()) as server:
        got = await raw(server.port, b"GET / HTTP/1.1\r\nX: " + b"x" * 100_000)
    assert got == b""


async def test_reset_cut_and_hang() -> None:
    async with WebServer(TinyWeb()) as server, aiohttp.ClientSession() as session:
        root = f"http://127.0.0.1:{server.port}"
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET /reset HTTP/1.1\r\nHost: a\r\n\r\n")
        with pytest.raises(ConnectionResetError):
            await reader.read()
        writer.close()
        async with session.get(f"{root}/cut") as response:
            with pytest.raises(aiohttp.ClientPayloadError):
                await response.read()
        with pytest.raises(TimeoutError):
            await session.get(f"{root}/hang", timeout=aiohttp.ClientTimeout(total=0.3))


async def test_binds_loopback_only() -> None:
    async with WebServer(TinyWeb()) as server:
        assert server._server is not None
        assert [sock.getsockname()[0] for sock in server._server.sockets] == ["127.0.0.1"]


def test_process_ends_with_the_block() -> None:
    with start_server(SPEC) as handle:
        process = handle._process
        assert process.poll() is None
    assert process.poll() is not None
    handle.stop()


def test_bad_spec_is_one_clear_line(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(HoneyguideError, match="correct its JSON"):
        read_spec('{"hostz": 3}')
    with pytest.raises(HoneyguideError, match="did not start"), start_server(WebSpec(hosts=2)):
        pass
    assert "at least 10 hosts" in capfd.readouterr().err
