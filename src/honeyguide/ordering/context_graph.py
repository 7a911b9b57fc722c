"""The order of the Context Focused Crawler: one queue for each layer of the context graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self, runtime_checkable

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.model import CrawlGraph, Link, Page, Scored, Verdict
from honeyguide.ordering.base import LocalOrder
from honeyguide.store.models import Saved


@runtime_checkable
class LayerJudge(Protocol):
    """What the order needs of a page model that puts pages in layers."""

    depth: int
    generation: int
    """Changes when pages may belong to other layers than before."""

    @property
    def rebuilds(self) -> bool:
        """Whether that may happen."""
        ...

    def places(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Layers and likelihoods of fetched pages; NaN where unknown."""
        ...


class ContextGraphOrder(LocalOrder):
    """Links of pages near the topic first, by the layer that the page model puts their page in.

    A fetched page stands in the queue of its layer, 0 to N, or in that of "other", N + 1; the next page to
    expand is the likeliest of the first queue that is not empty, and all its links are downloaded. In an
    engine that queues links this is the priority `(N + 1 - layer) + squashed likelihood` of the page a
    link was found on, and of the best page where there are several. Squashed is `1 / (1 - log likelihood)`.

    When the page model rebuilds its context graphs, the waiting links get the priorities of their
    pages' new layers, at the next `reorder_every` pages.

    Args:
        judge: The crawl's page model; one without layers has two: 0 for pages on topic, and "other".
        depth: N, for a page model without layers.
        reorder_every: Pages between two looks at whether the page model has changed.

    Example:
        >>> from honeyguide.model import Link, Page, Verdict
        >>> order, page = ContextGraphOrder(judge=None), Page(url="https://a.example/", id=1)
        >>> near = Verdict(0.2, False, facts={"layer": 1.0, "log_likelihood": -9.0})
        >>> order.rank(page, near, [Link("https://b.example/", 2)])[0].priority
        4.1

    References:
        Michelangelo Diligenti, Frans Coetzee, Steve Lawrence, C. Lee Giles, Marco Gori, "Focused crawling
        using context graphs", VLDB 2000, section 3.3.
    """

    def __init__(self, *, judge: object = (), depth: int = 4, reorder_every: int = 25) -> None:
        if depth < 1 or reorder_every < 1:
            raise ValueError("depth and reorder_every must be 1 or more")
        self._judge = judge if isinstance(judge, LayerJudge) else None
        self._other = (self._judge.depth if self._judge else depth) + 1
        changes = self._judge is not None and self._judge.rebuilds
        self.reorder_every = reorder_every if changes else None
        self._generation = 0

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """The page's queue and place in it as priority of all its links."""
        layer = min(float(self._other), max(0.0, self._layer(verdict)))
        likelihood = min(0.0, verdict.facts.get("log_likelihood", verdict.score - 1.0))
        priority = self._other - layer + 1.0 / (1.0 - likelihood)
        factors = {"layer": layer, "log likelihood": likelihood}
        return [Scored(index, priority, factors=factors) for index in range(len(links))]

    def reorder(self, graph: CrawlGraph) -> NDArray[np.float64]:
        """Priorities from the pages' new layers, when the page model has changed; else nothing."""
        priorities = np.full(graph.size, np.nan)
        if self._judge is None or self._judge.generation == self._generation:
            return priorities
        self._generation = self._judge.generation
        own = np.full(graph.size, np.nan)
        fetched = np.flatnonzero(graph.fetched)
        layers, likelihoods = self._judge.places(graph.ids[fetched])
        own[fetched] = self._other - layers + 1.0 / (1.0 - np.minimum(0.0, likelihoods))
        known = ~np.isnan(own[graph.sources])
        best = np.full(graph.size, -np.inf)
        np.maximum.at(best, graph.targets[known], own[graph.sources[known]])
        found = graph.waiting & np.isfinite(best)
        priorities[found] = best[found]
        return priorities

    def explain(self, page: Page | None, url: str) -> dict[str, object]:
        """What the queue numbers mean."""
        return {"other": self._other, "generation": self._generation}

    def save(self) -> Saved:
        """Which classifiers the waiting links were ordered by."""
        return Saved(values={"generation": self._generation} if self.reorder_every else {})

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave."""
        self._generation = msgspec.convert(saved.values.get("generation", 0), int)
        return self

    def _layer(self, verdict: Verdict) -> float:
        return verdict.facts.get("layer", 0.0 if verdict.on_topic else float(self._other))
