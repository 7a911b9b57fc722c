"""The growing arrays behind `CrawlGraph`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from honeyguide.model import CrawlGraph, Outcome
from honeyguide.store.columns import Columns, grown
from honeyguide.store.state import State

_FETCHED = (Outcome.FETCHED, Outcome.NOINDEX, Outcome.GONE)


class Links:
    """Links and scores of the fetched pages, kept in memory for orders that look at the whole graph.

    Eight bytes a link; a crawl with a local order does without.
    """

    def __init__(self, state: State) -> None:
        sources, targets = state.links()
        self._count = len(sources)
        self._sources: NDArray[np.int32] = sources - 1
        self._targets: NDArray[np.int32] = targets - 1
        rows, scores = state.scores()
        self._score: NDArray[np.float32] = np.zeros(int(rows.max(initial=0)), np.float32)
        self._score[rows - 1] = scores

    def add(self, row: int, targets: Sequence[int] | NDArray[np.int32]) -> None:
        """Append the links of one page."""
        end = self._count + len(targets)
        if end > len(self._sources):
            room = max(end, len(self._sources) * 3 // 2)
            self._sources = grown(self._sources, room)  # type: ignore[assignment]
            self._targets = grown(self._targets, room)  # type: ignore[assignment]
        self._sources[self._count : end] = row - 1
        self._targets[self._count : end] = np.asarray(targets, np.int32) - 1
        self._count = end

    def set_score(self, row: int, score: float) -> None:
        """Note a page's verdict."""
        self._fit(row)
        self._score[row - 1] = score

    def _fit(self, size: int) -> None:
        if size > len(self._score):
            self._score = grown(self._score, max(size, len(self._score) * 3 // 2))  # type: ignore[assignment]

    def graph(self, columns: Columns, in_flight: Sequence[int]) -> CrawlGraph:
        """The graph of now."""
        size = columns.size
        self._fit(size)
        status = columns.status[1 : size + 1]
        waiting = status == Outcome.WAITING
        waiting[np.asarray(in_flight, np.int64) - 1] = False
        return CrawlGraph(
            ids=columns.ids[1 : size + 1],
            fetched=np.isin(status, _FETCHED),
            waiting=waiting,
            score=self._score[:size],
            sources=self._sources[: self._count],
            targets=self._targets[: self._count],
        )
