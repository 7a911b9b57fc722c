"""Iterative deepening: depth-first to a limit, then a deeper limit."""

from __future__ import annotations

from collections.abc import Sequence

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.accepted import REJECTED, is_rejected
from honeyguide.ordering.base import Combine, LocalOrder


class IterativeDeepening(LocalOrder):
    """Depth-first inside a band of `step` levels; the next band starts when this one is done.

    A crawl remembers which pages it has seen, so nothing is fetched again for a deeper limit: what
    remains of the method is its order. Inside a band the deepest page comes first, which keeps the
    waiting list about as long as the path times the links of a page; no page of a lower band is fetched
    before.

    Args:
        step: Levels by which the limit grows.
        only_accepted: Drop the links of pages off topic (the GP hybrid study); seeds are always followed.

    Example:
        >>> from honeyguide.model import Link, Page, Verdict
        >>> order, links = IterativeDeepening(step=2), [Link("https://b.example/", 2)]
        >>> def priority(depth):
        ...     page = Page(url="https://a.example/", id=1, depth=depth)
        ...     return order.rank(page, Verdict(0, False), links)[0].priority
        >>> priority(1) > priority(0) > priority(3) > priority(2)
        True

    References:
        Richard Korf, "Depth-first iterative-deepening: an optimal admissible tree search", Artificial
        Intelligence 27, 1985.
    """

    combine: Combine = "max"

    def __init__(self, *, step: int = 2, only_accepted: bool = False) -> None:
        self._step = max(1, step)
        self._only_accepted = only_accepted

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """Earlier bands first, deeper pages first inside a band."""
        if self._only_accepted and is_rejected(page, verdict):
            return [Scored(index, 0.0, drop=REJECTED) for index in range(len(links))]
        depth = page.depth + 1
        band, inside = divmod(depth - 1, self._step)
        priority = -band + (inside + 1) / (self._step + 1)
        factors = {"depth": float(depth), "band": float(band)}
        return [Scored(index, priority, factors=factors) for index in range(len(links))]
