"""The rules a URL must pass before it may wait in the frontier."""

from __future__ import annotations

from functools import lru_cache

from honeyguide.frontier import Found
from honeyguide.model import Link, Outcome, Page, Scored
from honeyguide.web import Scope, TrapLimits, host_key, registered_domain, trap_reason, url_id
from honeyguide.web.traps import TOO_DEEP, TOO_LONG
from honeyguide.web.zones import Zones


@lru_cache(maxsize=65_536)
def domain_of(host: str) -> str:
    """Registered domain of a `name[:port]` key."""
    name, colon, port = host.rpartition(":")
    return registered_domain(name if colon and port.isdigit() else host)


REMEMBERED = 100_000
"""Addresses whose verdict is kept (about 20 MB)."""
LISTINGS = frozenset({"sitemap", "feed"})
FOLLOWED_KINDS = frozenset({"a", "area", "frame", "iframe", "link", "refresh"})


class Admission:
    """Scope, trap, length and depth rules, the same for links, seeds, redirects and suggestions."""

    def __init__(
        self,
        scope: Scope,
        traps: TrapLimits,
        *,
        max_depth: int | None = None,
        max_redirects: int = 10,
        follow_feeds: bool = False,
        obey_nofollow: bool = True,
    ) -> None:
        self._scope = scope
        self._traps = traps
        self.zones = Zones()
        """What the fetched pages taught about parts of sites; `Arrival` feeds it."""
        self._max_depth = max_depth
        self._max_redirects = max_redirects
        self._kinds = FOLLOWED_KINDS | (LISTINGS if follow_feeds else frozenset())
        self._obey_nofollow = obey_nofollow
        self._judged: dict[str, tuple[Outcome, str] | None] = {}

    def refuse(self, url: str, depth: int, redirects: int = 0) -> tuple[Outcome, str] | None:
        """Why a URL may not wait, or None."""
        refused = self._address_rules(url)
        if refused is not None:
            return refused
        reason = self.zones.reason(url)
        if reason:
            return Outcome.TRAP, reason
        if depth > self._traps.max_depth:
            return Outcome.TRAP, TOO_DEEP
        if self._max_depth is not None and depth > self._max_depth:
            return Outcome.TOO_DEEP, f"more than {self._max_depth} links from the seed"
        if redirects > self._max_redirects:
            return Outcome.TOO_MANY_REDIRECTS, f"more than {self._max_redirects} redirects"
        return None

    def _address_rules(self, url: str) -> tuple[Outcome, str] | None:
        """Rules that look at the address alone. Remembered: a page's links are mostly old acquaintances."""
        if url in self._judged:
            return self._judged[url]
        if len(self._judged) >= REMEMBERED:
            self._judged.clear()
        reason = self._scope.reason(url)
        refused = (Outcome.SCOPE, reason) if reason else None
        if refused is None and (reason := trap_reason(url, 0, self._traps)):
            refused = (Outcome.TOO_LONG if reason == TOO_LONG else Outcome.TRAP, reason)
        self._judged[url] = refused
        return refused

    def split(self, page: Page) -> tuple[list[Link], list[tuple[Link, Outcome, str]]]:
        """A page's links: those an order may rank, and those a rule drops."""
        eligible: list[Link] = []
        dropped: list[tuple[Link, Outcome, str]] = []
        depth = page.depth + 1
        for link in page.links:
            if link.kind not in self._kinds or link.id == page.id:
                continue
            if self._obey_nofollow and (page.nofollow or link.nofollow):
                dropped.append((link, Outcome.NOFOLLOW, "nofollow"))
                continue
            refused = self.refuse(link.url, depth)
            if refused:
                dropped.append((link, *refused))
            else:
                eligible.append(link)
        return eligible, dropped


def found_link(link: Link, page: Page, row: int, scored: Scored | None) -> Found:
    """A ranked link as the frontier takes it; None means that the order left it out."""
    if scored is None:
        scored = Scored(0, 0.0, drop="left out by the link order")
    host = host_key(link.url)
    return Found(
        url=link.url,
        id=link.id,
        host=host,
        domain=domain_of(host),
        priority=scored.priority,
        depth=page.depth + 1,
        parent=row,
        source=link.kind if link.kind in LISTINGS else "link",
        anchor=link.anchor,
        context=link.context,
        factors=scored.factors,
        memo=scored.memo,
        outcome=Outcome.ORDER if scored.drop else Outcome.WAITING,
        reason=scored.drop,
    )


def found_dropped(link: Link, page: Page, row: int, outcome: Outcome, reason: str) -> Found:
    """A link that a rule dropped, recorded so that `why` can tell."""
    host = host_key(link.url)
    return Found(
        url=link.url,
        id=link.id,
        host=host,
        domain=domain_of(host),
        priority=0.0,
        depth=page.depth + 1,
        parent=row,
        outcome=outcome,
        reason=reason,
    )


def found_outside(url: str, priority: float, source: str, *, memo: dict[str, float]) -> Found:
    """A URL that no page gave us: a seed, a suggestion, a sitemap."""
    host = host_key(url)
    return Found(
        url=url,
        id=url_id(url),
        host=host,
        domain=domain_of(host),
        priority=priority,
        source=source,
        memo=memo,
    )
