"""Seeds from words alone: what several engines agree on for the topic's own queries."""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec

from honeyguide.discovery.search.base import SearchResult
from honeyguide.discovery.search.fusion import Fused, reciprocal_rank_fusion
from honeyguide.discovery.search.meta_search import Searched, search_all
from honeyguide.discovery.search.queries import draw_query
from honeyguide.discovery.search.rationed import RationedEngine
from honeyguide.web import host_key, registered_domain

A_SITE = 2
"""Seeds of one registered domain at most: diverse beginnings reach more communities."""


class Proposals(msgspec.Struct, frozen=True):
    """Proposed seeds, best first, and what was asked for them."""

    seeds: tuple[Fused, ...]
    asked: tuple[Searched, ...]

    @property
    def failed(self) -> bool:
        """Whether no engine answered any query."""
        return all(one.failed for one in self.asked)


async def propose_seeds(
    engines: Sequence[RationedEngine],
    terms: Sequence[str],
    *,
    queries: int = 10,
    results: int = 10,
    count: int = 20,
    seed: int = 0,
) -> Proposals:
    """Ask for each term, then for random combinations, and fuse all answers.

    Args:
        engines: Who is asked.
        terms: Keywords and other words of the topic, the most important first.
        queries: How many queries.
        results: Results of each engine to a query.
        count: Seeds to propose.
        seed: Of the combinations.
    """
    source = random.Random(seed)  # noqa: S311  Not a secret.
    wanted = list(dict.fromkeys(terms[: max(1, queries // 2)]))
    for _ in range(10 * queries):
        if len(wanted) >= queries:
            break
        drawn = draw_query(terms, source)
        if drawn not in wanted:
            wanted.append(drawn)
    asked: list[Searched] = []
    rankings: dict[str, list[SearchResult]] = {}
    for query in wanted[:queries]:
        if all(engine.given_up for engine in engines):
            break
        found = await search_all(engines, query, results)
        asked.append(found)
        rankings[query] = [SearchResult(one.url, one.title) for one in found.fused]
    sites: dict[str, int] = {}
    seeds: list[Fused] = []
    for one in reciprocal_rank_fusion(rankings):
        site = registered_domain(host_key(one.url).rpartition(":")[0] or host_key(one.url))
        sites[site] = sites.get(site, 0) + 1
        if sites[site] <= A_SITE:
            seeds.append(one)
    return Proposals(tuple(seeds[:count]), tuple(asked))
