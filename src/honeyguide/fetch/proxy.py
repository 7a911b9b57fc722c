"""Proxies: which one a request goes through, and how a connection is opened through it.

Many libraries, offices and universities let nothing out but through a proxy. A request for `http:` is then
sent to the proxy with the whole URL in it; for `https:` the proxy is asked for a tunnel (CONNECT), and what
goes through that is encrypted end to end. Who names the proxy is the operator, so the guard does not look at
its address; it still looks at the hosts that are asked for (`HttpFetcher`).
"""

from __future__ import annotations

import asyncio
import base64
import re
import socket
from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from urllib.parse import SplitResult, unquote, urlsplit

import msgspec

from honeyguide.errors import HoneyguideError

ENVIRONMENT = "environment"
"""The setting that asks for what `HTTP_PROXY` and its like say."""
DIRECT = "none"
"""The setting that asks for no proxy, whatever they say."""

_LONGEST_HEAD = 16_384
_STATUS = re.compile(rb"HTTP/1\.[01] ([0-9]{3})(?: ([^\r\n]*))?\r?\n")
_NAME = re.compile(r"(?:[a-z0-9_-]+\.)+(?![0-9]+$|0x[0-9a-f]*$)[a-z0-9-]+")
"""Two labels at least; one that ends in a number would be read as an address."""
_INSIDE = (
    ".localhost",
    ".localdomain",
    ".local",
    ".internal",
    ".intranet",
    ".lan",
    ".corp",
    ".home",
    ".home.arpa",
    ".test",
)


class ProxyTrouble(HoneyguideError):
    """The proxy lets no request through, which is no host's fault."""


class TunnelRefused(OSError):
    """The proxy does not lead to this one host."""


class Proxy(msgspec.Struct, frozen=True):
    """One proxy, and where it was named."""

    host: str
    port: int
    named_by: str = "proxy in [network]"
    authorisation: str = ""
    """Value of `Proxy-Authorization`; empty where it needs none."""

    @property
    def address(self) -> str:
        """As people are shown it: without user name and password."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def told(self) -> bytes:
        """The header that only the proxy gets."""
        return f"Proxy-Authorization: {self.authorisation}\r\n".encode() if self.authorisation else b""

    def trouble(self, problem: str) -> ProxyTrouble:
        """What to tell the user."""
        return ProxyTrouble(
            f"the proxy {self.address} ({self.named_by}) {problem}; start it, name another, or ask hosts"
            f' directly with proxy = "{DIRECT}" in [network]'
        )

    def needs_password(self) -> ProxyTrouble:
        """It answered 407."""
        problem = "refuses the password it was given" if self.authorisation else "asks for a password"
        return ProxyTrouble(
            f"the proxy {self.address} ({self.named_by}) {problem} (407); write HTTP_PROXY and HTTPS_PROXY as"
            f" http://USER:PASSWORD@{self.address.removeprefix('http://')}; only Basic is spoken"
        )


class Proxies(msgspec.Struct, frozen=True):
    """Which proxy a host is asked through."""

    http: Proxy | None = None
    https: Proxy | None = None
    never: tuple[str, ...] = ()
    """Hosts that are asked directly, as in `NO_PROXY`."""

    def through(self, tls: bool, host: str, port: int) -> Proxy | None:
        """The proxy for a host; None where it is to be asked directly.

        Example:
            >>> proxies = proxies_from("http://proxy.example:3128", {"NO_PROXY": "library.example"})
            >>> proxies.through(True, "owls.example", 443).address
            'http://proxy.example:3128'
            >>> proxies.through(True, "catalogue.library.example", 443) is None
            True
        """
        proxy = self.https if tls else self.http
        return None if proxy is None or any(_covers(entry, host, port) for entry in self.never) else proxy


def proxies_from(setting: str, environ: Mapping[str, str]) -> Proxies | None:
    """Proxies by the setting `proxy`, and by the environment where that is asked for; None: none.

    `NO_PROXY` holds in both cases. Names in small letters win, as in other programs; `HTTP_PROXY` in capitals
    is passed over in a CGI program, where anyone can set it by a header.

    Raises:
        ProxyTrouble: When one is written in a way that cannot be used.
    """
    if setting == DIRECT:
        return None
    never = tuple(_variable(environ, "no_proxy")[1].replace(",", " ").split())
    if setting != ENVIRONMENT:
        proxy = parse_proxy(setting, "proxy in [network]")
        return Proxies(proxy, proxy, never)
    found = {}
    for scheme in ("http", "https"):
        name, value = _variable(environ, f"{scheme}_proxy")
        if not value:
            name, value = _variable(environ, "all_proxy")
        found[scheme] = parse_proxy(value, name) if value.strip() else None
    return Proxies(found["http"], found["https"], never) if any(found.values()) else None


def parse_proxy(text: str, named_by: str) -> Proxy:
    """A proxy as people write it; `http://` may be left out.

    Raises:
        ProxyTrouble: When it is none, or of a kind that is not spoken.

    Example:
        >>> parse_proxy("proxy.example:3128", "HTTPS_PROXY").address
        'http://proxy.example:3128'
    """
    said = text.strip()
    try:
        parts = urlsplit(said if "://" in said else f"http://{said}")
        host, port = parts.hostname or "", parts.port or 80
    except ValueError:
        parts, host, port = SplitResult("http", "", "", "", ""), "", 0
    if parts.scheme.lower() != "http":
        raise ProxyTrouble(
            f"{named_by}: a proxy of the kind {parts.scheme}:// is not spoken; name an HTTP proxy, as"
            " http://proxy.example:3128"
        )
    if not host or not port or re.search(r"[\s\x00-\x1f]", said):
        shown = re.sub(r"//.*@", "//", said)[:80]
        raise ProxyTrouble(f"{named_by}: {shown!r} is not a proxy; write it as http://proxy.example:3128")
    authorisation = ""
    if parts.username:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorisation = "Basic " + base64.b64encode(pair.encode()).decode()
    return Proxy(host, port, named_by, authorisation)


def is_public_name(host: str) -> bool:
    """Whether a name may be one of the public web: none of a private network, no address in disguise.

    Example:
        >>> is_public_name("owls.example"), is_public_name("printer"), is_public_name("nas.local")
        (True, False, False)
        >>> is_public_name("127.1"), is_public_name("0x7f.1")
        (False, False)
    """
    name = host.rstrip(".").lower()
    return _NAME.fullmatch(name) is not None and not name.endswith(_INSIDE)


async def open_tunnel(opened: socket.socket, proxy: Proxy, host: str, port: int) -> None:
    """Ask a proxy, over a connection to it, for a tunnel to a host.

    Raises:
        TunnelRefused: It does not lead there.
        ProxyTrouble: It wants a password.
    """
    loop = asyncio.get_running_loop()
    place = f"{f'[{host}]' if ':' in host else host}:{port}".encode()
    await loop.sock_sendall(opened, b"CONNECT %b HTTP/1.1\r\nHost: %b\r\n%b\r\n" % (place, place, proxy.told))
    head = b""
    while b"\r\n\r\n" not in head and b"\n\n" not in head:
        piece = await loop.sock_recv(opened, 4096)
        head += piece
        if not piece or len(head) > _LONGEST_HEAD:
            raise TunnelRefused(f"the proxy {proxy.address} gave no answer that could be read")
    found = _STATUS.match(head)
    if found is None:
        raise TunnelRefused(f"what answers at {proxy.address} is no HTTP proxy")
    if found[1] == b"407":
        raise proxy.needs_password()
    if not found[1].startswith(b"2"):
        said = b" ".join(part for part in found.groups() if part).decode("latin-1")
        raise TunnelRefused(f"the proxy {proxy.address} does not lead there: {said}")


def _variable(environ: Mapping[str, str], name: str) -> tuple[str, str]:
    if name in environ:
        return name, environ[name]
    if name == "http_proxy" and "REQUEST_METHOD" in environ:
        return name, ""
    return name.upper(), environ.get(name.upper(), "")


def _covers(entry: str, host: str, port: int) -> bool:
    """Whether an entry of `NO_PROXY` names a host: itself, a domain above it, a network, or `*`."""
    if entry == "*":
        return True
    name = host.rstrip(".").lower()
    try:
        address = ip_address(name)
    except ValueError:
        bare, colon, wanted = entry.lower().partition(":")
        bare = bare.removeprefix("*").strip(".")
        below = name == bare or name.endswith(f".{bare}")
        return bool(bare) and below and (not colon or wanted == str(port))
    try:
        return address in ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        bare, _, wanted = entry.rpartition(":")
        return bare.strip("[]") == name and wanted == str(port)
