"""How the pages of a crawl's budget are dealt to its shards: to where the best URLs wait.

Each shard says which priorities are on top of its frontier. The coordinator pours all tops together and
gives each shard as many pages as it has URLs among the best `portion` of them, so the cluster fetches what
one crawl with one frontier would fetch next, give or take a portion.

A shard that shows fewer URLs than it has may be granted more than it showed: what it did not show is taken
to be as good as the last one shown, after everything that is certainly better. Equal priorities go to the
shard with the fewest pages and grants, so that shards which cannot be told apart share alike: one crawl would
take the URL that was found first.

Requests under way are dealt, too. One crawl with as many would have them where the best URLs are, so a shard
that is dealt many pages may have more requests under way than its settings say, and others have fewer:
together they have what their settings say.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from math import isnan
from typing import Final

import msgspec

FIRST_PAGES: Final = 256
"""Pages that set the course of a crawl."""
SHARES: Final = (64, 8)
"""A portion is no more than this part of the pages so far, among the first pages and after them."""
ELASTIC: Final = 4
"""Times as many requests as its settings say that a shard may have under way."""


class Front(msgspec.Struct, frozen=True):
    """What a shard says of its frontier."""

    shard: str
    best: Sequence[float]
    """Priorities of its best URLs, in any order."""
    ready: int
    """URLs that it could ask for, those in `best` among them."""
    pages: int = 0
    """Pages that it has."""


def deal(fronts: Sequence[Front], portion: int) -> dict[str, int]:
    """How many pages each shard may fetch next; together `portion`, or all that could be asked for.

    Args:
        fronts: One for each shard.
        portion: Pages to deal.

    Example:
        >>> deal([Front("00", [0.9, 0.8, 0.1], 3), Front("01", [0.7], 1), Front("02", [], 0)], 3)
        {'00': 2, '01': 1, '02': 0}
    """
    grants = dict.fromkeys((front.shard for front in fronts), 0)
    tops = [sorted((p for p in front.best if not isnan(p)), reverse=True) for front in fronts]
    # Best first, then what was shown before what is only supposed, then the shard with the fewest pages.
    heap = [entry for place, _ in enumerate(fronts) if (entry := _next(fronts, tops, place, 0)) is not None]
    heapq.heapify(heap)
    for _ in range(portion):
        if not heap:
            break
        place = heap[0][-1]
        shard = fronts[place].shard
        grants[shard] += 1
        following = _next(fronts, tops, place, grants[shard])
        if following is None:
            heapq.heappop(heap)
        else:
            heapq.heapreplace(heap, following)
    return grants


def _next(
    fronts: Sequence[Front], tops: Sequence[Sequence[float]], place: int, granted: int
) -> tuple[float, bool, int, int] | None:
    """The next URL of a shard that has `granted` already; None when there is none."""
    top = tops[place]
    if granted < len(top):
        return -top[granted], False, fronts[place].pages + granted, place
    if granted >= fronts[place].ready:
        return None
    return (-top[-1] if top else 0.0), True, fronts[place].pages + granted, place


def portion_of(pages: int, *, most: int) -> int:
    """Pages to deal at a time: few, so that the order stays one, but enough that nobody waits for a portion.

    While a portion is fetched, no shard hears what the others find. At first every page changes what is
    known, so the portion is a small share of the crawl so far; later a larger one.

    Args:
        pages: That the crawl has.
        most: Pages that shards may want: several for each slot, since the best URLs are never spread evenly.

    Example:
        >>> [portion_of(pages, most=128) for pages in (0, 160, 400, 4000)]
        [1, 2, 50, 128]
    """
    return max(1, min(pages // SHARES[pages >= FIRST_PAGES], most))


def slots_of(wanted: Mapping[str, int], *, each: int) -> dict[str, int]:
    """How many requests each shard may have under way; together no more than shards with equal shares.

    A shard that wants none may have one all the same, so it can begin at once when it is dealt a page.

    Args:
        wanted: Pages that each shard has under way or may ask for.
        each: Requests of a shard with an equal share.

    Example:
        >>> slots_of({"00": 30, "01": 10, "02": 0, "03": 0}, each=8)
        {'00': 24, '01': 8, '02': 1, '03': 1}
    """
    total = each * len(wanted) / max(1, sum(wanted.values()))
    return {name: min(ELASTIC * each, max(1, int(total * count))) for name, count in wanted.items()}
