"""What an operator may set about fetching over HTTP."""

from __future__ import annotations

import msgspec

from honeyguide.fetch.proxy import Proxies

MAX_BODY = 8 * 1024 * 1024
"""Largest body of a page, in bytes, unless the user says otherwise."""


class FetchOptions(msgspec.Struct, frozen=True):
    """Settings of an `HttpFetcher`. The defaults are safe for the open web."""

    user_agent: str = "honeyguide"
    """Sent as it is. Say who you are and how to reach you: `name/1.0 (+https://example.org/crawler)`."""
    deadline: float = 30.0
    """Seconds for everything from the lookup to the last byte."""
    connect_timeout: float = 10.0
    """Seconds for TCP and TLS with one address."""
    max_bytes: int = MAX_BODY
    """Largest decoded body, whatever a request asks for."""
    max_error_bytes: int = 256 * 1024
    """Largest body kept of an answer that is not 2xx."""
    floor_speed: float = 1024.0
    """Bytes a second a body must average once `floor_after` has passed; 0 switches it off."""
    floor_after: float = 10.0
    max_connections: int = 200
    """Requests on the wire at once."""
    idle_connections: int = 800
    """Idle sockets beyond which connections are closed after their answer instead of being kept."""
    large_bytes: int = MAX_BODY
    """What bodies of more than 256 KiB may take together while they are read: bounds what hostile servers
    can fill."""
    keep_alive: float = 15.0
    """Seconds an idle connection is kept for the next request to the same host."""
    max_headers: int = 256
    max_header_bytes: int = 64 * 1024
    """Longest single header line."""
    dns_ttl: float = 300.0
    dns_names: int = 20_000
    dns_threads: int = 32
    connect_to: dict[str, str] = {}
    """Host patterns to the `ip:port` to dial instead, as curl's --connect-to; `*` matches anything.
    These addresses pass the egress guard, since the operator named them."""
    proxies: Proxies | None = None
    """Proxies to ask through. Hosts in the connect-to table and in networks the guard was told to allow are
    asked directly."""
    extra_headers: tuple[tuple[str, str], ...] = ()
    accept: str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    accept_language: str = ""
    authorisation: dict[str, str] = {}
    """Origin (`https://example.org`) to an Authorization value; sent to that origin only."""
    ca_file: str = ""
    """More certificate authorities to trust, as a PEM file. Verification itself cannot be turned off."""
