"""Macro-F1 of kNN under many formulas: equal formulas once, in threads, hopeless ones on a part only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from honeyguide.relevance.evolved.formula import Formula, canonical_form, program
from honeyguide.relevance.evolved.kernels import Floats
from honeyguide.relevance.evolved.neighbourhoods import Neighbourhoods
from honeyguide.relevance.evolved.scores import macro_f1

FIRST_LOOK: Final = 500
"""Queries a formula is judged on at first."""
DOUBT: Final = 3.0
"""Standard errors that a formula may lie below the bar before it is given up."""


class Fitness:
    """Judges formulas on one sample of queries.

    A generation is raced: every new formula is judged on the first 500 queries; one that lies more than
    three standard errors below the generation's median there keeps that estimate, the others are judged
    on the next 1,500, and then on all. Trees that far below the median hardly ever win a tournament, so
    the estimate changes next to nothing.

    Args:
        sample: The queries with their candidates, in random order.
        k: Neighbours.
        weights: What a neighbour of each class counts; None for one each.
        threads: Threads to use.
        race: False judges every formula on all queries.
    """

    def __init__(
        self,
        sample: Neighbourhoods,
        k: int,
        *,
        weights: Floats | None = None,
        threads: int = 1,
        race: bool = True,
    ) -> None:
        self._sample = sample
        self._k = k
        self._weights = weights
        self._threads = max(1, threads)
        self._race = race
        self._known: dict[Formula, float] = {}
        self.evaluated = 0
        """Formulas judged so far, equal ones counted once."""

    def of(self, formula: Formula) -> float:
        """Macro-F1 of one formula on all queries."""
        return self._judge(formula, self._sample.size)

    def of_all(self, formulas: Sequence[Formula]) -> list[float]:
        """Macro-F1 of each formula."""
        keys = [canonical_form(formula) for formula in formulas]
        fresh = list(dict.fromkeys(key for key in keys if key not in self._known))
        self.evaluated += len(fresh)
        looks = [FIRST_LOOK, 4 * FIRST_LOOK] if self._race else []
        for queries in [*(look for look in looks if 2 * look <= self._sample.size), self._sample.size]:
            scores = self._all(fresh, queries)
            self._known.update(zip(fresh, scores, strict=True))
            if queries < self._sample.size and fresh:
                bar = sorted(scores)[len(scores) // 2] - DOUBT * math.sqrt(0.25 / queries)
                fresh = [key for key, score in zip(fresh, scores, strict=True) if score >= bar]
        return [self._known[key] for key in keys]

    def _all(self, formulas: Sequence[Formula], queries: int) -> list[float]:
        if self._threads == 1 or len(formulas) < 2:
            return [self._judge(formula, queries) for formula in formulas]
        with ThreadPoolExecutor(self._threads) as pool:
            return list(pool.map(lambda formula: self._judge(formula, queries), formulas))

    def _judge(self, formula: Formula, queries: int) -> float:
        sample = self._sample
        predicted = sample.predict(program(formula), self._k, weights=self._weights, last=queries)
        return macro_f1(sample.labels[:queries], predicted, sample.kinds)
