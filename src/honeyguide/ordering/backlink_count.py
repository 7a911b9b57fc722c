"""Backlink count: the most linked-to URL first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from honeyguide.model import CrawlGraph, Link, Page, Scored, Verdict
from honeyguide.ordering.base import Combine, LocalOrder


class BacklinkCount(LocalOrder):
    """A URL's priority is the number of fetched pages that link to it.

    Each link is worth one, and priorities of the same URL add up, so the count is up to date at any time
    without a pass over the graph. The study of HCLA counts every N pages only (its BSFS with N): until
    then new links wait behind the others.

    Args:
        reorder_every: N; 0 keeps the counts up to date.

    Example:
        >>> from honeyguide.model import Link, Page, Verdict
        >>> page = Page(url="https://a.example/", id=1)
        >>> BacklinkCount().rank(page, Verdict(0, False), [Link("https://b.example/", 2)])[0].priority
        1.0

    References:
        Junghoo Cho, Hector Garcia-Molina, Lawrence Page, "Efficient crawling through URL ordering",
        WWW 1998.
    """

    combine: Combine = "sum"

    def __init__(self, *, reorder_every: int = 0) -> None:
        if reorder_every < 0:
            raise ValueError("reorder_every must be 0 or more; 0 keeps the counts up to date")
        self.reorder_every: int | None = reorder_every or None

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """One for every link, or nothing until the next count."""
        return [Scored(index, 1.0 if self.reorder_every is None else 0.0) for index in range(len(links))]

    def reorder(self, graph: CrawlGraph) -> NDArray[np.float64]:
        """How many pages link to each waiting page."""
        pairs = np.unique(np.stack((graph.targets, graph.sources)), axis=1)
        counts = np.bincount(pairs[0], minlength=graph.size)
        return np.where(graph.waiting, counts, np.nan)
