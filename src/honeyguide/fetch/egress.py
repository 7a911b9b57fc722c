"""The egress guard: which addresses a crawl may dial.

A crawler fetches URLs that strangers wrote. Without a guard, a page can make it read the operator's own
network (server-side request forgery). The rule is a short one: only global unicast addresses, unless the
operator opens a network by hand. It is applied twice: to every DNS answer, and again to every socket just
before it connects, which also covers addresses written straight into a URL.

Nor does it dial ports of other protocols, as browsers do not: a page full of links to `http://host:25/` must
not make a mail server read requests from us, nor a crawl a port scanner.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

_REFUSED: tuple[tuple[IPv4Network | IPv6Network, str], ...] = tuple(
    (ip_network(network), why)
    for network, why in (
        ("0.0.0.0/8", "this network"),
        ("100.64.0.0/10", "shared address space"),
        ("127.0.0.0/8", "loopback"),
        ("169.254.0.0/16", "link-local or cloud metadata"),
        ("168.63.129.16/32", "Azure's host: metadata and credentials"),
        ("192.0.0.0/24", "protocol assignments"),
        ("192.88.99.0/24", "6to4 relay"),
        ("198.18.0.0/15", "benchmarking"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        ("::/96", "IPv4-compatible or unspecified"),
        ("::ffff:0:0/96", "IPv4-mapped"),
        ("::ffff:0:0:0/96", "IPv4-translated"),
        ("64:ff9b::/96", "NAT64"),
        ("64:ff9b:1::/48", "local NAT64"),
        ("100::/63", "discard"),
        ("2001::/23", "protocol assignments, Teredo"),
        ("2001:db8::/32", "documentation"),
        ("2002::/16", "6to4"),
        ("3fff::/20", "documentation"),
        ("5f00::/16", "segment routing"),
        ("fc00::/7", "unique local"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
    )
)
"""Networks refused by name. `ipaddress` calls several of them global (multicast, NAT64, 6to4, 5f00::/16)."""

_GLOBAL_UNICAST = ip_network("2000::/3")

_PORTS = """
1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123
135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990
993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080
"""
OTHER_PROTOCOLS = frozenset(map(int, _PORTS.split()))
"""Ports that the Fetch standard (fetch.spec.whatwg.org, "port blocking") closes to web pages."""


def port_refusal(port: int) -> str:
    """Why no server may be asked at this port, or an empty string when it may."""
    return f"port {port} belongs to another protocol" if port in OTHER_PROTOCOLS or not port else ""


class EgressRefused(OSError):
    """The guard does not let this address be dialled. An OSError, as any address that cannot be dialled."""


class EgressGuard:
    """Decides which addresses may be dialled.

    Args:
        allow: Networks the operator opens although they are not public, such as `127.0.0.0/8` for a test
            server. An IPv6 address that embeds an allowed IPv4 address stays refused.

    Example:
        >>> guard = EgressGuard()
        >>> guard.refusal("93.184.215.14"), guard.refusal("169.254.169.254")
        ('', 'link-local or cloud metadata')
    """

    def __init__(self, allow: Sequence[IPv4Network | IPv6Network] = ()) -> None:
        self.allow = tuple(allow)
        # Every request asks about its address twice, and a crawl has few addresses at a time.
        self._refusal = lru_cache(maxsize=4096)(self._looked_through)

    def refusal(self, address: str | IPv4Address | IPv6Address) -> str:
        """Why this address may not be dialled, or an empty string when it may."""
        return self._refusal(address)

    def _looked_through(self, address: str | IPv4Address | IPv6Address) -> str:
        try:
            parsed = ip_address(address)
        except ValueError:
            return "not an IP address"
        if any(parsed in network for network in self.allow):
            return ""
        for network, why in _REFUSED:
            if parsed in network:
                return why
        if parsed.version == 6 and parsed not in _GLOBAL_UNICAST:
            return "not global unicast"
        if parsed.is_private or not parsed.is_global or parsed.is_multicast or parsed.is_reserved:
            return "private or reserved"
        return ""

    def opened(self, address: str) -> bool:
        """Whether the operator opened the network that this address is in."""
        return any(ip_address(address) in network for network in self.allow)

    def check(self, address: str) -> None:
        """Raise `EgressRefused` when the address may not be dialled."""
        why = self.refusal(address)
        if why:
            raise EgressRefused(f"{address} is not a public address ({why})")

    def open_socket(self, info: tuple[Any, ...]) -> socket.socket:
        """A socket for an address that is about to be dialled.

        Raises:
            EgressRefused: When the address or its port is not allowed; no socket is made.
        """
        family, kind, protocol, _, address = info
        self.check(str(address[0]))
        why = port_refusal(address[1])
        if why and not self.opened(str(address[0])):
            raise EgressRefused(why)
        return socket.socket(family=family, type=kind, proto=protocol)
