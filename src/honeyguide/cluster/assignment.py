"""Which shard owns a host: rendezvous hashing of registered domains.

Each shard bids for a domain with a hash of both names, and the highest bid wins. Nobody keeps a table, so
every process knows the owner of every URL. A shard that joins takes only the domains it now wins;
a shard that leaves gives up only its own, and they are spread evenly over the others.

D. G. Thaler, C. V. Ravishankar: Using Name-Based Mappings to Increase Hit Rates. IEEE/ACM Transactions on
Networking 6 (1), 1998.

The bid is XXH64 of `shard NUL domain`. Folders on disks depend on it: it must never change for
assignment "rendezvous" (`store.shards`).
"""

from __future__ import annotations

from collections.abc import Sequence

import xxhash

from honeyguide.web.domain import registered_domain
from honeyguide.web.url import host_key

_REMEMBERED = 100_000
"""Domains whose owner is kept (about 15 MB)."""


def owner_of(domain: str, shards: Sequence[str]) -> str:
    """The shard that owns a registered domain.

    Args:
        domain: As `registered_domain` writes it.
        shards: Names of all shards, in any order.

    Example:
        >>> owner_of("example.org", ["00", "01", "02", "03"])
        '03'
    """
    return max(shards, key=lambda shard: (_bid(shard, domain), shard))


def _bid(shard: str, domain: str) -> int:
    return xxhash.xxh64_intdigest(f"{shard}\0{domain}".encode("utf-8", "replace"))


class Assignment:
    """Owners of URLs among fixed shards; remembers domains it was asked about.

    Example:
        >>> owners = Assignment(("00", "01", "02", "03"))
        >>> owners.of_url("https://www.example.org/a") == owners.of_host("news.example.org:8080")
        True
    """

    def __init__(self, shards: Sequence[str]) -> None:
        if not shards:
            raise ValueError("an assignment needs at least one shard")
        self.shards = tuple(shards)
        self._by_host: dict[str, str] = {}

    def of_url(self, url: str) -> str:
        """The shard that owns a canonical URL."""
        return self.of_host(host_key(url))

    def of_host(self, host: str) -> str:
        """The shard that owns a host, given as `name` or `name:port`."""
        found = self._by_host.get(host)
        if found is None:
            if len(self._by_host) >= _REMEMBERED:
                self._by_host.clear()
            found = self._by_host[host] = owner_of(registered_domain(host), self.shards)
        return found
