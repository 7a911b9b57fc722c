"""Reciprocal rank fusion: one ranking from several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from honeyguide.discovery.search.base import SearchResult
from honeyguide.web import canonical

SMOOTHING: Final = 60.0


class Fused(msgspec.Struct, frozen=True):
    """An address with its place in each ranking that has it."""

    url: str
    """Canonical."""
    score: float
    ranks: dict[str, int]
    title: str = ""


def reciprocal_rank_fusion(
    rankings: Mapping[str, Sequence[SearchResult]], *, smoothing: float = SMOOTHING
) -> list[Fused]:
    """Merge rankings: an address scores `Σ 1 / (60 + rank)` over the rankings that have it.

    Addresses are compared in canonical form, so that each comes once; what is not a valid URL is left
    out. Only ranks count, so engines need not agree on what a score means.

    Args:
        rankings: Results by the name of the engine, best first.
        smoothing: How little the first places count more than the next ones.

    Example:
        >>> fused = reciprocal_rank_fusion({
        ...     "a": [SearchResult("https://one.example/"), SearchResult("https://two.example/")],
        ...     "b": [SearchResult("https://TWO.example:443/"), SearchResult("mailto:x@one.example")],
        ... })
        >>> [(one.url, one.ranks) for one in fused]
        [('https://two.example/', {'a': 2, 'b': 1}), ('https://one.example/', {'a': 1})]

    References:
        Gordon Cormack, Charles Clarke, Stefan Buettcher, "Reciprocal rank fusion outperforms Condorcet
        and individual rank learning methods", SIGIR 2009.
    """
    ranks: dict[str, dict[str, int]] = {}
    titles: dict[str, str] = {}
    for engine, hits in rankings.items():
        place = 0
        for hit in hits:
            url = canonical(hit.url)
            if url is None:
                continue
            own = ranks.setdefault(url, {})
            if engine not in own:
                place += 1
                own[engine] = place
            if hit.title and not titles.get(url):
                titles[url] = hit.title
    fused = [
        Fused(url, sum(1.0 / (smoothing + rank) for rank in own.values()), own, titles.get(url, ""))
        for url, own in ranks.items()
    ]
    # Python's sort is stable: equal scores stay in the order in which the engines named them.
    return sorted(fused, key=lambda one: -one.score)
