"""The portal as a server: where it listens, under which token, until when."""

from __future__ import annotations

import ipaddress
import re
import secrets
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
import uvicorn

from honeyguide.errors import HoneyguideError
from honeyguide.ui.app import create_app
from honeyguide.ui.connections import PatientProtocol
from honeyguide.ui.shelf import Shelf

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})
_TOKEN = re.compile(r"[A-Za-z0-9_~.-]{16,200}")


class Place(msgspec.Struct, frozen=True):
    """Where the portal listens, and what a reader must know."""

    host: str
    port: int
    token: str

    @property
    def url(self) -> str:
        """Address of the portal, without the token."""
        name = "127.0.0.1" if _everywhere(self.host) else self.host
        return f"http://[{name}]:{self.port}/" if ":" in name else f"http://{name}:{self.port}/"

    @property
    def entrance(self) -> str:
        """The address to open first."""
        return self.entrance_to("")

    def entrance_to(self, path: str) -> str:
        """An address of the portal to open first."""
        return f"{self.url}{path}?token={self.token}"


def chosen_token(host: str, token: str | None) -> str:
    """The token to use: the one given, or a fresh one where only this machine can reach the portal.

    Raises:
        HoneyguideError: another interface without a token, or a token that is too short or not plain.
    """
    if token is None:
        if not is_loopback(host):
            raise HoneyguideError(
                f"--host {host} can be reached from other machines; name a token with --token,"
                " or leave --host out"
            )
        return secrets.token_urlsafe(24)
    if not _TOKEN.fullmatch(token):
        raise HoneyguideError(
            "--token must have 16 to 200 letters, digits or -_.~; make one up, or leave it out"
        )
    return token


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host in LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _everywhere(host: str) -> bool:
    return host in ("0.0.0.0", "::", "")  # noqa: S104 - compared, not bound


def own_names(host: str) -> tuple[str, ...]:
    """Names under which a portal that listens at `host` may be asked for, beside loopback's."""
    if is_loopback(host):
        return (host,)
    # Another page cannot make itself an address or this machine's own name, so those are safe.
    return (host, "*", socket.gethostname(), socket.getfqdn())


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one.

    Raises:
        HoneyguideError: The address is taken or not of this machine.
    """
    if not 0 <= port <= 65535:  # getaddrinfo would take what is left of it after 65536
        raise HoneyguideError(f"there is no port {port}; choose --port from 1 to 65535, or 0 for a free one")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
    except OSError as error:
        raise HoneyguideError(f"{host}: {error.strerror}; choose another --host") from error
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(128)
    except OSError as error:
        bound.close()
        raise HoneyguideError(f"{host}:{port}: {error.strerror}; choose another --port") from error
    return bound


class PortalServer(uvicorn.Server):
    """A server that leaves signals to whoever runs it, and lets its readers go at the end."""

    def __init__(self, config: uvicorn.Config, shelf: Shelf) -> None:
        super().__init__(config)
        self._shelf = shelf

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End in order: first let those go who watch the live view."""
        self._shelf.end()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take no signals; ours would otherwise be raised again at the end."""
        yield


def make_server(
    folders: Path | Sequence[Path], *, token: str, host: str, places: Sequence[Path] = ()
) -> uvicorn.Server:
    """The server, not yet running; `serve(sockets=[...])` runs it until `should_exit` is set."""
    app = create_app(folders, token=token, hosts=own_names(host), places=places)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=5,
        http=PatientProtocol,
        ws="none",
        lifespan="on",
    )
    return PortalServer(config, app.state.shelf)
