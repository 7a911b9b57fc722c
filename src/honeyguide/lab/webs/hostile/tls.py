"""Broken TLS. The server listens on one port: a connection that begins with a handshake comes here."""

from __future__ import annotations

import asyncio
import functools
import shutil
import ssl
import subprocess
import tempfile
from pathlib import Path

from honeyguide.lab.webs.hostile.case import Talk, case
from honeyguide.model import Outcome

_TLS = (Outcome.TLS, Outcome.CONNECTION)
_case = functools.partial(case, group="tls", scope="tls")
TLS_RECORD = b"\x16"
"""First byte of a handshake."""


@_case("tls-silent", "takes the handshake and says nothing", (Outcome.TIMEOUT,))
async def _silent(talk: Talk) -> None:
    await talk.silence()


@_case("tls-drip", "a handshake at a byte a second", (Outcome.TIMEOUT,))
async def _drip(talk: Talk) -> None:
    await talk.drip(b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc" + b"\0" * 16_000)


@_case("tls-garbage", "random bytes as a handshake", _TLS)
async def _garbage(talk: Talk) -> None:
    await talk.send(bytes(range(255, -1, -1)) * 8)


@_case("tls-plain", "plain HTTP where TLS was asked for", _TLS)
async def _plain(talk: Talk) -> None:
    await talk.answer(b"<title>owls</title>")


@_case("tls-alert", "refuses every handshake", _TLS)
async def _alert(talk: Talk) -> None:
    await talk.send(b"\x15\x03\x03\x00\x02\x02\x28")


@_case("tls-reset", "drops the connection in the handshake", _TLS)
async def _reset(talk: Talk) -> None:
    talk.reset()


@_case("tls-self-signed", "a certificate that it signed itself", _TLS)
async def _self_signed(talk: Talk) -> None:
    """Handshake by hand: the first bytes are taken from the wire already."""
    context = await asyncio.to_thread(certificate)
    if context is None:  # no openssl on this machine: any broken handshake will do
        await _alert(talk)
        return
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    session = context.wrap_bio(incoming, outgoing, server_side=True)
    incoming.write(talk.hello)
    try:
        session.do_handshake()
    except ssl.SSLWantReadError:
        await talk.send(outgoing.read())
    await talk.silence()


@functools.lru_cache(maxsize=1)
def certificate() -> ssl.SSLContext | None:
    """A server context with a fresh self-signed certificate, or None without the `openssl` program."""
    program = shutil.which("openssl")
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        key, chain = Path(folder) / "key.pem", Path(folder) / "chain.pem"
        command = [program, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
        command += ["-subj", "/CN=localhost", "-keyout", str(key), "-out", str(chain)]
        if subprocess.run(command, capture_output=True, check=False).returncode:  # noqa: S603 - fixed arguments
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain, key)
        return context


def server_name(hello: bytes) -> str:
    """The host name that a ClientHello asks for; empty when it names none or is none.

    Example:
        >>> server_name(b"GET / HTTP/1.1")
        ''
    """
    place = 5 + 4 + 2 + 32
    try:
        if hello[:1] != TLS_RECORD or hello[5] != 1:
            return ""
        place += 1 + hello[place]
        place += 2 + int.from_bytes(hello[place : place + 2], "big")
        place += 1 + hello[place]
        end = place + 2 + int.from_bytes(hello[place : place + 2], "big")
        place += 2
        while place + 4 <= min(end, len(hello)):
            size = int.from_bytes(hello[place + 2 : place + 4], "big")
            if hello[place : place + 2] == b"\0\0":
                return hello[place + 9 : place + 4 + size].decode("ascii", "replace")
            place += 4 + size
    except IndexError:
        pass
    return ""
