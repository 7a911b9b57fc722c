"""Visits where they keep most of the collection right: Cho and Garcia-Molina's optimal refresh policy.

A page that changes at rate r and is visited every t seconds is fresh for a share F = (1 - exp(-rt)) / (rt) of
the time. Under a budget of visits, the weighted sum of F is largest where one visit more would be worth the
same for every page (the Lagrange multiplier m):

    w * ((1 - exp(-rt)) / r - t * exp(-rt)) = m

The left side is also what a visit is worth after a wait of t, so the same formula says which page goes first.
It never exceeds w / r: pages that change all the time are visited last, and uniform beats proportional.

New pages count, too. A page that brings n new pages on topic a second, visited every t seconds, leaves each
unknown for t / 2 on average; the derivative of that is n * t * t / 2, in the same unit: a page on topic that
is missing for a day is as bad as one that is stale for a day. So hubs are visited more often without a
constant.

References:
    J. Cho, H. Garcia-Molina: Effective page refresh policies for Web crawlers. ACM TODS 28(4), 2003, section
    4. Y. Azar, E. Horvitz, E. Lubetzky, Y. Peres, D. Shahaf: Tractable near-optimal policies for crawling.
    PNAS 115(32), 2018 (the formula as an index by which pages are chosen one by one).

Example:
    >>> import numpy as np
    >>> from honeyguide.revisit.base import Known
    >>> day = 86400.0
    >>> three = Known(np.ones(3), np.array([0.1, 1.0, 50.0]) / day, np.zeros(3))
    >>> (Freshness().intervals(three, 1 / day) / day).round(1).tolist()  # the last one is not worth a visit
    [3.3, 1.5, 90.0]
"""

from __future__ import annotations

import numpy as np

from honeyguide.revisit.base import LONGEST, SHORTEST, Known, Numbers

_HALVINGS = 26
"""Of an interval, and of the multiplier: to one part in ten million."""
_SAMPLE = 4000
"""Pages that the multiplier is sought on; of more, every so many are taken."""


class Freshness:
    """Equal worth of one visit more, for all pages."""

    def intervals(self, pages: Known, budget: float) -> Numbers:
        """Solve for the multiplier that spends the budget, then for each page."""
        size = len(pages.rate)
        step = max(1, size // _SAMPLE)
        sample = Known(*(each[::step] for each in pages))
        wanted = budget * len(sample.rate) / max(size, 1)
        if not size:
            return np.zeros(0)
        # Logarithms of the multiplier: what a visit is worth at the least and at the most.
        ends = [gain(sample, np.full(len(sample.rate), span)) for span in (SHORTEST, LONGEST)]
        low = float(np.log(max(float(ends[0].min()), 1e-12)))
        high = float(np.log(max(float(ends[1].max()), 1e-12))) + 1e-9
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if float((1.0 / _interval(sample, np.exp(middle))).sum()) > wanted:
                low = middle
            else:
                high = middle
        return _interval(pages, np.exp(high))

    def gain(self, pages: Known, waited: Numbers) -> Numbers:
        """What is on the left side of the equation."""
        return gain(pages, waited)


def gain(pages: Known, waited: Numbers) -> Numbers:
    """Weighted seconds of freshness, and of new pages known, that a visit wins."""
    changes = pages.rate * waited
    still = np.exp(-changes)
    # Below, the series of the formula: its two terms are nearly equal there.
    few = changes < 1e-4
    worth = np.where(
        few, waited * changes / 2, -np.expm1(-changes) / np.maximum(pages.rate, 1e-300) - waited * still
    )
    made: Numbers = pages.weight * worth + pages.news * waited * waited / 2
    return made


def fresh_share(rate: Numbers, interval: Numbers) -> Numbers:
    """Share of the time that a page visited so often is fresh."""
    changes = np.maximum(rate * interval, 1e-12)
    made: Numbers = -np.expm1(-changes) / changes
    return made


def _interval(pages: Known, multiplier: float) -> Numbers:
    """How long each page waits until a visit is worth the multiplier."""
    low = np.full(len(pages.rate), np.log(SHORTEST))
    high = np.full(len(pages.rate), np.log(LONGEST))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        enough = gain(pages, np.exp(middle)) >= multiplier
        high = np.where(enough, middle, high)
        low = np.where(enough, low, middle)
    made: Numbers = np.exp(high)
    return made
