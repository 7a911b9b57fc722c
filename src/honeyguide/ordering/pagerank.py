"""PageRank over what the crawl knows so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from honeyguide.model import CrawlGraph, Link, Page, Scored, Verdict
from honeyguide.ordering.base import LocalOrder
from honeyguide.store.models import Saved


def power_iteration(
    graph: CrawlGraph,
    start: NDArray[np.float64],
    *,
    damping: float = 0.8,
    iterations: int = 10,
    tolerance: float = 1e-4,
) -> NDArray[np.float64]:
    """PageRank of every node, scaled to a mean of 1; cost linear in links.

    Rank of pages without known out-links (all frontier pages among them) is spread over all pages.

    Args:
        graph: Fetched and frontier pages with the links among them.
        start: Ranks to start from; shorter than the graph where nodes are new (those start at 1).
        damping: Share of rank that follows links.
        iterations: At most so many.
        tolerance: Stop when ranks move by less than this on average.
    """
    size = graph.size
    ranks = np.ones(size)
    if not size:
        return ranks
    ranks[: len(start)] = start[:size]
    ranks *= size / ranks.sum() if ranks.sum() > 0 else 1.0
    degree = np.bincount(graph.sources, minlength=size)
    share = np.divide(damping, degree, out=np.zeros(size), where=degree > 0)
    ones = np.ones(len(graph.sources))
    links: Any = sparse.csr_matrix((ones, (graph.targets, graph.sources)), shape=(size, size))
    dangling = degree == 0
    for _ in range(iterations):
        spread = 1.0 - damping + damping * ranks[dangling].sum() / size
        following = links @ (ranks * share) + spread
        moved = float(np.abs(following - ranks).mean())
        ranks = following
        if moved < tolerance:
            break
    return ranks


class PageRank(LocalOrder):
    """Frontier URLs in the order of their PageRank, computed again every few pages.

    Over the graph of fetched and frontier pages: damping 0.8, at most 10 iterations, started from the
    previous ranks. Between two computations a new URL gets the rank of a page with this one link,
    `(1 - damping) + damping * rank(parent) / links(parent)`, where the rank of the parent is the priority
    it was fetched with. Ranks are scaled to a mean of 1, so that priorities compare across computations.

    Args:
        damping: Share of rank that follows links.
        iterations: At most so many a computation.
        reorder_every: Fetched pages between computations (25; 50 in the WebKB study).

    Example:
        >>> from honeyguide.model import Link, Page, Verdict, Via
        >>> page = Page(url="https://a.example/", id=1, via=Via(9, priority=2.0))
        >>> links = [Link("https://b.example/", 2), Link("https://c.example/", 3)]
        >>> round(PageRank().rank(page, Verdict(0.0, False), links)[0].priority, 6)
        1.0

    References:
        Sergey Brin, Lawrence Page, "The anatomy of a large-scale hypertextual web search engine", WWW 1998.
        Junghoo Cho, Hector Garcia-Molina, Lawrence Page, "Efficient crawling through URL ordering",
        WWW 1998.
    """

    def __init__(self, *, damping: float = 0.8, iterations: int = 10, reorder_every: int = 25) -> None:
        self.reorder_every: int | None = reorder_every
        self._damping = damping
        self._iterations = iterations
        self._ranks = np.empty(0)

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """First-order ranks until the next computation."""
        own = page.via.priority if page.via is not None and page.via.priority > 0.0 else 1.0
        priority = 1.0 - self._damping + self._damping * own / max(1, len(links))
        return [Scored(index, priority, factors={"parent rank": own}) for index in range(len(links))]

    def reorder(self, graph: CrawlGraph) -> NDArray[np.float64]:
        """PageRank of the waiting nodes."""
        self._ranks = power_iteration(graph, self._ranks, damping=self._damping, iterations=self._iterations)
        return np.where(graph.waiting, self._ranks, np.nan)

    def save(self) -> Saved:
        """The last ranks."""
        return Saved(arrays={"ranks": self._ranks})

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave."""
        self._ranks = np.asarray(saved.arrays["ranks"], dtype=np.float64).copy()
        return self
