"""Fish-Search: schools of fish that breed where there is food."""

from __future__ import annotations

from collections.abc import Sequence

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.base import LocalOrder
from honeyguide.ordering.depth_rule import MEMO, USED_UP, child_depth


class FishSearch(LocalOrder):
    """Binary relevance: children of a relevant page first, and for D generations.

    Children of a relevant page get priority 1 and depth D; children of another page get priority 0.5 and
    the depth of their parent less one; at depth zero a direction dies. Ties are first come, first served.
    The `width` of the original (only the first few links of a page) is off: our pages are not all equal.

    Args:
        depth: D, generations that a school survives without food.

    Example:
        >>> from honeyguide.model import Link, Page, Verdict, Via
        >>> hungry = Page(url="https://a.example/", id=1, via=Via(9, memo={"depth": 1}))
        >>> FishSearch().rank(hungry, Verdict(0.0, False), [Link("https://b.example/", 2)])[0].drop
        'depth used up: too many pages off topic in a row'

    References:
        Paul De Bra, Reinier Post, "Information retrieval in the World-Wide Web: making client-based
        searching feasible", WWW 1994.
    """

    def __init__(self, *, depth: int = 3) -> None:
        self._depth = depth

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """1 or 0.5, with the remaining depth as memo."""
        left = child_depth(page, verdict.on_topic, depth=self._depth)
        if not left:
            return [Scored(index, 0.0, drop=USED_UP) for index in range(len(links))]
        priority = 1.0 if verdict.on_topic else 0.5
        factors, memo = {"depth left": float(left)}, {MEMO: float(left)}
        return [Scored(index, priority, factors=factors, memo=memo) for index in range(len(links))]
