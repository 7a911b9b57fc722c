"""Candidates: for every query document, the few hundred examples that any formula could call nearest.

Six full matrices of 8,000 x 8,000 similarities take 1.5 GB and most of it is never looked at. Here each
query keeps the union of its nearest examples by each kind of evidence, as flat arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.relevance.evolved.formula import Program
from honeyguide.relevance.evolved.index import ExampleIndex, Terms
from honeyguide.relevance.evolved.kernels import Floats, Ints, Longs, mark_nearest, vote

NEAREST: Final = 100
"""Examples kept by each kind of evidence."""


class Neighbourhoods(msgspec.Struct, frozen=True):
    """Queries with their candidates and the six similarities to each."""

    starts: Longs
    """Where each query's candidates begin; one more than there are queries."""
    examples: Ints
    """Candidates, by their number in the index."""
    classes: Ints
    """Their classes."""
    values: Floats
    """Six rows of evidence."""
    labels: Ints
    """True class of each query."""
    widest: int
    kinds: int
    """Number of classes."""

    @property
    def size(self) -> int:
        """Number of queries."""
        return len(self.labels)

    @classmethod
    def of(
        cls,
        index: ExampleIndex,
        classes: NDArray[np.int32],
        *,
        queries: Sequence[Terms],
        labels: NDArray[np.int32],
        themselves: bool = False,
        nearest: int | None = NEAREST,
        threads: int = 1,
    ) -> Self:
        """Find the candidates of queries.

        Args:
            index: The examples.
            classes: Class of each example.
            queries: Documents to classify.
            labels: Their classes.
            themselves: The queries are the examples, in the same order: none is its own neighbour.
            nearest: Examples kept by each kind of evidence; None keeps every one, for checks.
            threads: Threads to use.
        """
        limit = index.size if nearest is None else min(nearest, index.size)

        def one(number: int) -> tuple[Ints, Floats]:
            evidence = index.evidence(queries[number])
            marked = np.zeros(index.size, dtype=np.bool_)
            mark_nearest(evidence, limit, number if themselves else -1, marked)
            chosen = np.flatnonzero(marked).astype(np.int32)
            return chosen, evidence[:, chosen]

        if threads > 1:
            with ThreadPoolExecutor(threads) as pool:
                found = list(pool.map(one, range(len(queries))))
        else:
            found = [one(number) for number in range(len(queries))]
        widths = [len(chosen) for chosen, _ in found]
        examples = np.concatenate([chosen for chosen, _ in found]) if found else np.zeros(0, np.int32)
        values = (
            np.concatenate([part for _, part in found], axis=1) if found else np.zeros((6, 0), np.float32)
        )
        return cls(
            starts=np.concatenate(([0], np.cumsum(widths))).astype(np.int64),
            examples=examples,
            classes=classes[examples].astype(np.int32),
            values=np.ascontiguousarray(values),
            labels=labels.astype(np.int32),
            widest=max(widths, default=0),
            kinds=int(classes.max()) + 1,
        )

    def predict(
        self,
        program: Program,
        k: int,
        *,
        weights: Floats | None = None,
        first: int = 0,
        last: int | None = None,
    ) -> Ints:
        """Classes of the queries (or of those from `first` to `last`) by kNN under a formula."""
        end = self.size if last is None else min(last, self.size)
        predicted = np.zeros(self.size, dtype=np.int32)
        counted = np.ones(self.kinds, dtype=np.float32) if weights is None else weights
        vote(
            program,
            k,
            self.starts,
            self.classes,
            self.values,
            counted,
            first,
            end,
            max(1, self.widest),
            predicted,
        )
        return predicted[first:end]
