"""Shark-Search as in the WebKB study: SS1 and SS2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from honeyguide.model import CrawlGraph, Link, Page, Scored, Verdict
from honeyguide.ordering.base import LocalOrder
from honeyguide.store.models import Saved

INHERITED: Final = "inherited"
LAST: Final = -1.0
"""Below every score: a new URL that waits for the next reordering."""


class SharkWebkb(LocalOrder):
    """A URL inherits `d` times the relevance of its parents, `d^2` times that of its grandparents, and so on.

    As published: the sum goes over all fetched pages that link to the URL and over all with a way of
    two links to it (each page once a level), and the frontier is put in order every N pages (the study's
    BSFS with N); new URLs wait behind the others until then. With `reorder_every = 0` a link gets its
    place at once from the one path it was found by: `inherited(child) = d * (rel(page) + inherited(page))`,
    of several parents the best. The words of links are not looked at.

    SS1 and SS2 differ in `rel` only, which is the page model's: SS1 takes the cosine with the topic words
    (`tf-cosine` with `scoring = "cosine"`, or `vector-space` for the study's 1,000 terms), SS2 Okapi weights
    trained on what the topic query retrieves (`okapi`).

    Args:
        decay: d.
        levels: 2 for parents and grandparents. A link costs one step for each page a level above, so the
            third level already takes minutes on pages with hundreds of links.
        reorder_every: N; 0 ranks each link at once, see above.

    Example:
        >>> graph = CrawlGraph(
        ...     ids=np.arange(4), fetched=np.arange(4) < 3, waiting=np.arange(4) == 3,
        ...     score=np.array([0.8, 0.4, 0.6, 0.0], dtype=np.float32),
        ...     sources=np.array([0, 1, 2], dtype=np.int32), targets=np.array([1, 3, 3], dtype=np.int32),
        ... )
        >>> SharkWebkb().reorder(graph).round(3).tolist()  # 0.5 * (0.4 + 0.6) + 0.25 * 0.8
        [nan, nan, nan, 0.7]

    References:
        George Almpanidis, Constantine Kotropoulos, Ioannis Pitas, "Combining text and link analysis for
        focused crawling: an application for vertical search engines", Information Systems 32, 2007.
    """

    def __init__(self, *, decay: float = 0.5, levels: int = 2, reorder_every: int = 50) -> None:
        if not 0.0 < decay < 1.0 or levels < 1 or reorder_every < 0:
            raise ValueError("decay must be between 0 and 1, levels 1 or more and reorder_every 0 or more")
        self.reorder_every: int | None = reorder_every or None
        self._decay = decay
        self._levels = levels
        self._ordered = False

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """The same score for all links of the page: what they inherit, or a place behind the others."""
        own = page.via.memo.get(INHERITED, 0.0) if page.via is not None else 0.0
        inherited = self._decay * (verdict.score + own)
        factors, memo = {"parent": verdict.score, "ancestors": own}, {INHERITED: inherited}
        priority = LAST if self._ordered else inherited
        return [Scored(index, priority, factors=factors, memo=memo) for index in range(len(links))]

    def reorder(self, graph: CrawlGraph) -> NDArray[np.float64]:
        """What the waiting pages inherit from all pages above them."""
        if self.reorder_every is None:
            return super().reorder(graph)
        self._ordered = True
        ones = np.ones(len(graph.sources), dtype=np.float32)
        shape = (graph.size, graph.size)
        links: Any = sparse.csr_matrix((ones, (graph.targets, graph.sources)), shape=shape)
        links.data[:] = 1.0  # several links from one page to another are one
        waiting = np.flatnonzero(graph.waiting)
        above, scores = links[waiting], np.zeros(len(waiting))
        relevance = np.where(graph.fetched, graph.score, 0.0).astype(np.float64)
        for level in range(1, self._levels + 1):
            if level > 1:
                above = above @ links
                above.data[:] = 1.0  # pages a level above, however many ways lead from them
            scores += self._decay**level * (above @ relevance)
        priorities = np.full(graph.size, np.nan)
        priorities[waiting] = scores
        return priorities

    def save(self) -> Saved:
        """Whether the frontier was put in order before."""
        return Saved(values={"ordered": self._ordered})

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave."""
        self._ordered = bool(saved.values["ordered"])
        return self
