"""The rules a URL must pass before it may wait in the frontier."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

from honeyguide.compiled import compiled
from honeyguide.frontier import Found, Offers
from honeyguide.model import Link, Outcome, Page, Scored
from honeyguide.web import Scope, TrapLimits, host_key, registered_domain, trap_reason, url_id
from honeyguide.web.traps import TOO_DEEP, TOO_LONG
from honeyguide.web.zones import Zones


@lru_cache(maxsize=8_192)
def domain_of(host: str) -> str:
    """Registered domain of a `name[:port]` key. Only the latest: `registered_domain` remembers many more."""
    name, colon, port = host.rpartition(":")
    return registered_domain(name if colon and port.isdigit() else host)


REMEMBERED = 100_000
"""Addresses whose verdict is kept (about 20 MB)."""
SEED = "seed"
_BY_LINK = frozenset({"link", "redirect", "canonical"})
LISTINGS = frozenset({"sitemap", "feed"})
FOLLOWED_KINDS = frozenset({"a", "area", "frame", "iframe", "link", "refresh"})
_WAITING, _ORDER = int(Outcome.WAITING), int(Outcome.ORDER)


def is_given(source: str) -> bool:
    """Whether a URL was given from outside rather than found by a link alone."""
    return source not in _BY_LINK and source not in LISTINGS


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
        zones: Zones | None = None,
        languages: Collection[str] = (),
    ) -> None:
        self._scope = scope
        self._languages = frozenset(languages)
        self._traps = traps
        self.zones = zones if zones is not None else Zones()
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
        return self._depth_rules(depth, redirects)

    def refuse_seed(self, url: str) -> tuple[Outcome, str] | None:
        """Why a URL that the user named may not wait: only the scope, also the user's, can say no."""
        reason = self._scope.reason(url)
        return (Outcome.SCOPE, reason) if reason else None

    def _depth_rules(self, depth: int, redirects: int = 0) -> tuple[Outcome, str] | None:
        if depth > self._traps.max_depth:
            return Outcome.TRAP, TOO_DEEP
        if self._max_depth is not None and depth > self._max_depth:
            return Outcome.TOO_DEEP, f"more than {self._max_depth} links from the seed"
        if redirects > self._max_redirects:
            return Outcome.TOO_MANY_REDIRECTS, f"more than {self._max_redirects} redirects"
        return None

    def _address_rules(self, url: str) -> tuple[Outcome, str] | None:
        """Rules that look at the address alone. Cached: most links of a page have been seen before."""
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
        deep = self._depth_rules(page.depth + 1)
        if deep is None and not page.nofollow and not self.zones.has_traps:
            eligible, odd = sifted(page.links, self._kinds, page.id, self._judged, self._address_rules)
            refused = [self._refusal(page, link, None) for link in odd]
            if None not in refused:
                return eligible, [(link, *why) for link, why in zip(odd, refused, strict=True) if why]
        eligible = []
        dropped: list[tuple[Link, Outcome, str]] = []
        for link in page.links:
            if link.kind not in self._kinds or link.id == page.id:
                continue
            why = self._refusal(page, link, deep)
            if why is None:
                eligible.append(link)
            else:
                dropped.append((link, *why))
        return eligible, dropped

    def _refusal(
        self, page: Page, link: Link, deep: tuple[Outcome, str] | None
    ) -> tuple[Outcome, str] | None:
        """Why a rule drops a link, or None.

        Args:
            page: Where it stands.
            link: The link.
            deep: Why none of the page's links may be followed, if so.
        """
        if self._obey_nofollow and (page.nofollow or link.nofollow):
            return Outcome.NOFOLLOW, "nofollow"
        if link.language and self._languages and link.language not in self._languages:
            return Outcome.LANGUAGE, f"hreflang says {link.language}, which is not a language of the topic"
        url = link.url
        refused = self._judged[url] if url in self._judged else self._address_rules(url)
        if refused is None and (reason := self.zones.reason(url)):
            refused = Outcome.TRAP, reason
        return refused or deep


@compiled
def sifted(
    links: tuple[Link, ...],
    kinds: Collection[str],
    own: int,
    judged: dict[str, tuple[Outcome, str] | None],
    judge: Callable[[str], tuple[Outcome, str] | None],
) -> tuple[list[Link], list[Link]]:
    """A page's links at a quick look: those that no rule can drop, and those that one may.

    Args:
        links: All of them.
        kinds: Those of other kinds are left out.
        own: The page's own fingerprint; a link to it is left out.
        judged: By address, what the rules for addresses say.
        judge: What they say of an address that is not there.
    """
    fine: list[Link] = []
    odd: list[Link] = []
    for link in links:
        if link.kind not in kinds or link.id == own:
            continue
        if link.nofollow or link.language:
            odd.append(link)
            continue
        url = link.url
        (fine if (judged[url] if url in judged else judge(url)) is None else odd).append(link)
    return fine, odd


def offers_of(
    page: Page,
    row: int,
    eligible: Sequence[Link],
    scored: Sequence[Scored],
    dropped: Sequence[tuple[Link, Outcome, str]] = (),
) -> Offers:
    """A page's links as the frontier takes them; those that the order left out are dropped.

    Args:
        page: The page.
        row: Its row.
        eligible: Links that the order was given.
        scored: What it gave them; the last word on a link counts.
        dropped: Links that a rule drops, recorded so that `why` can tell.
    """
    by_place: list[Scored | None] = [None] * len(eligible)
    for one in scored:
        by_place[one.link] = one
    ids = [link.id for link in eligible]
    priorities = [0.0 if one is None else one.priority for one in by_place]
    outcomes = [_ORDER if one is None or one.drop else _WAITING for one in by_place]
    if dropped:
        ids += [link.id for link, _, _ in dropped]
        priorities += [0.0] * len(dropped)
        outcomes += [int(outcome) for _, outcome, _ in dropped]

    def make(place: int) -> Found:
        if place < len(eligible):
            return found_link(eligible[place], page, row, by_place[place])
        return found_dropped(page, row, *dropped[place - len(eligible)])

    return Offers(ids, priorities, outcomes, make)


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


def found_dropped(page: Page, row: int, link: Link, outcome: Outcome, reason: str) -> Found:
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
