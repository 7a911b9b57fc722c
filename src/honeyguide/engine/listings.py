"""Sitemaps and feeds of hosts that proved relevant.

A host has proved itself when three of its pages are on topic and at least half of those fetched. From then on
the sitemaps that its robots.txt names, and the sitemaps and feeds that its pages name, are followed, up to a
few a host. They wait in the frontier like links, ranked as the best link of the page that they came with.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final, Literal, TypeAlias

from honeyguide.model import Host, Page
from honeyguide.web import host_key, registered_domain

Follow: TypeAlias = bool | Literal["relevant"]
RELEVANT: Final = "relevant"

PROOF: Final = 3
"""Pages on topic that a host must have."""
MOST_LISTINGS: Final = 5
"""Sitemaps and feeds followed of one host, those that a sitemap index names among them."""
MOST_NAMED: Final = 2_000
"""Addresses taken from one of them."""
MOST_HOSTS: Final = 20_000


class Listings:
    """Which sitemaps and feeds are followed without being asked for.

    Args:
        sitemaps: `relevant` for those of hosts that proved relevant; otherwise others decide.
        feeds: The same for feeds.
        named_by: Sitemaps that robots.txt of an address's host names.
    """

    def __init__(
        self,
        *,
        sitemaps: Follow = False,
        feeds: Follow = False,
        named_by: Callable[[str], Sequence[str]] | None = None,
    ) -> None:
        self._kinds = {
            kind for kind, follow in (("sitemap", sitemaps), ("feed", feeds)) if follow == RELEVANT
        }
        self._named_by = named_by
        self._taken: OrderedDict[str, set[str]] = OrderedDict()

    def fresh(self, page: Page, host: Host) -> list[tuple[str, str]]:
        """Addresses and kinds of listings to follow now that a page has come.

        Args:
            page: The page.
            host: Its host, the page counted.
        """
        if not self._kinds or host.relevant < PROOF or 2 * host.relevant < host.fetched:
            return []
        named: list[tuple[str, str]] = []
        if host.name not in self._taken and self._named_by is not None and "sitemap" in self._kinds:
            named += [(url, "sitemap") for url in self._named_by(page.url)]
        if not page.nofollow:
            named += [(link.url, link.kind) for link in page.links if not link.nofollow]
        return [(url, kind) for url, kind in named if kind in self._kinds and self.take(host.name, url)]

    def asked_for(self, kind: str) -> bool:
        """Whether listings of a kind are followed because the user says so, without our limits."""
        return kind not in self._kinds

    def follows(self, kind: str, host: str, url: str) -> bool:
        """Whether a sitemap that another listing names is followed.

        Args:
            kind: Of the listing that names it.
            host: Of that listing.
            url: Of the sitemap.
        """
        if _domain(host_key(url)) != _domain(host):
            return False
        return self.asked_for(kind) or self.take(host, url)

    def take(self, host: str, url: str) -> bool:
        """Whether a listing is followed: of its own site, once, and within the limit."""
        taken = self._taken.setdefault(host, set())
        self._taken.move_to_end(host)
        if len(self._taken) > MOST_HOSTS:
            self._taken.popitem(last=False)
        if url in taken or len(taken) >= MOST_LISTINGS or _domain(host_key(url)) != _domain(host):
            return False
        taken.add(url)
        return True


def _domain(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return registered_domain(name if colon and port.isdigit() else host)
