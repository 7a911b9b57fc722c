from __future__ import annotations

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fetch.servers import ok, serving

from honeyguide.fetch.base import Failure, Request, Response
from honeyguide.fetch.http import HttpFetcher
from honeyguide.model import Outcome

pytestmark = pytest.mark.realtime

Make = Callable[..., HttpFetcher]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for birds.example, key and certificate in one file."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl command: install openssl to run the TLS tests")
    folder = tmp_path_factory.mktemp("tls")
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=birds.example"
    )
    command += " -addext subjectAltName=DNS:birds.example -keyout key.pem -out cert.pem"
    subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_text((folder / "key.pem").read_text() + (folder / "cert.pem").read_text())
    return both


def context_of(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


async def test_a_trusted_certificate_is_accepted_for_its_name_only(fetcher: Make, certificate: Path) -> None:
    async with serving(ok(b"hi"), tls=context_of(certificate)) as server:
        table = {"*.example": f"127.0.0.1:{server.port}"}
        async with fetcher(connect_to=table, ca_file=str(certificate)) as http:
            good = await http.fetch(Request("https://birds.example/"))
            wrong = await http.fetch(Request("https://cats.example/"))
    assert isinstance(good, Response)
    assert good.body == b"hi"
    assert isinstance(wrong, Failure)
    assert wrong.outcome is Outcome.TLS


async def test_a_self_signed_certificate_is_refused(fetcher: Make, certificate: Path) -> None:
    async with serving(ok(b"hi"), tls=context_of(certificate)) as server:
        table = {"*.example": f"127.0.0.1:{server.port}"}
        async with fetcher(connect_to=table) as http:
            result = await http.fetch(Request("https://birds.example/"))
    assert isinstance(result, Failure)
    assert result.outcome is Outcome.TLS
    assert server.requests == []


async def test_plain_http_where_tls_is_expected(fetcher: Make) -> None:
    def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server, fetcher() as http:
        port = server.sockets[0].getsockname()[1]
        result = await http.fetch(Request(f"https://127.0.0.1:{port}/"))
    assert isinstance(result, Failure)
    assert result.outcome is Outcome.TLS


async def test_a_silent_handshake_ends_at_the_deadline(fetcher: Make) -> None:
    async with serving(b"never reached") as server, fetcher(deadline=0.3) as http:
        result = await http.fetch(Request(f"https://127.0.0.1:{server.port}/"))
    assert isinstance(result, Failure)
    assert result.outcome is Outcome.TIMEOUT
