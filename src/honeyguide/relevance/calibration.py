"""Where to draw the line between on and off topic, from examples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

CAUTION = 0.85
"""Share of a typical positive's score that is asked for when nothing is known of other pages."""
LEAST = 0.01


def separating_value(positives: Sequence[float], others: Sequence[float] = ()) -> float:
    """The value that best parts positives from others.

    Best is the largest sum of the share of positives above it and twice the share of others below it: a
    crawl meets more pages off topic than on it. Among equally good values the middle of the widest gap is
    taken. Without others it is 0.85 times the lower quintile of the positives: examples are clearer than
    the pages a crawl meets.

    Example:
        >>> separating_value([0.8, 0.9], [0.1, 0.2])
        0.5
    """
    high = np.sort(np.asarray(positives, dtype=np.float64))
    if not len(others):
        return max(LEAST, CAUTION * float(np.quantile(high, 0.2)))
    low = np.sort(np.asarray(others, dtype=np.float64))
    values = np.unique(np.concatenate((high, low)))
    if len(values) == 1:
        return max(LEAST, float(values[0]))
    middles, gaps = (values[1:] + values[:-1]) / 2.0, np.diff(values)
    accepted = 1.0 - np.searchsorted(high, middles) / len(high)
    rejected = np.searchsorted(low, middles) / len(low)
    merit = accepted + 2.0 * rejected
    best = np.flatnonzero(merit >= merit.max() - 1e-12)
    return max(LEAST, float(middles[best[np.argmax(gaps[best])]]))
