"""How many of the pages called on topic are, judged by a sample that people reviewed.

The queue shows unsure pages first, so the plain share of accepted ones would be too low. Two answers are
given. The corrected one parts the pages on topic into strata of equal size by score: within a stratum the
choice hardly depends on the score, and each stratum counts as much as it has pages, however many of its
pages were reviewed. Its interval is Wilson's, for the number of reviews that a plain random sample with the
same variance would have had. The second takes only the pages that were drawn by chance, with Wilson's
interval: no assumption, but fewer reviews. Decisions on whole hosts count in neither: nobody looked at each
page. Each review counts with the score the page had when it was shown: a model that has learned from a page
is no longer a fair judge of it, so the estimate is that of the model before its lessons, on the safe side.
"""

from __future__ import annotations

import math
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

STRATA: Final = 5
WIDTH: Final = 1.96
"""95 %."""


class Share(msgspec.Struct, frozen=True):
    """A share with its 95 % interval and the number of reviews behind it."""

    share: float
    low: float
    high: float
    reviews: int


class Precision(msgspec.Struct, frozen=True):
    """The precision of a collection as reviewed."""

    corrected: Share
    """Weighted by strata of the score."""
    by_chance: Share | None
    """From the pages drawn by chance alone; None while there are none."""


def wilson(hits: float, trials: float, *, width: float = WIDTH) -> tuple[float, float]:
    """Wilson's interval for a share.

    Example:
        >>> low, high = wilson(9, 10)
        >>> round(low, 3), round(high, 3)
        (0.596, 0.982)

    References:
        Edwin B. Wilson, "Probable inference, the law of succession, and statistical inference",
        JASA 22, 1927.
    """
    if trials <= 0:
        return 0.0, 1.0
    share, extra = hits / trials, width * width / trials
    middle = (share + extra / 2) / (1 + extra)
    half = width * math.sqrt(share * (1 - share) / trials + extra / (4 * trials)) / (1 + extra)
    return max(0.0, middle - half), min(1.0, middle + half)


def precision(
    scores: NDArray[np.float64],
    reviewed: NDArray[np.float64],
    accepted: NDArray[np.bool_],
    *,
    by_chance: NDArray[np.bool_] | None = None,
) -> Precision | None:
    """Estimate the share of pages on topic that people would accept.

    Args:
        scores: Scores of all pages that the model calls on topic.
        reviewed: Scores, before anything was learned from them, of those that people looked at one by one
            when the model called them on topic.
        accepted: Whether each of them was accepted.
        by_chance: Whether each of them was drawn by chance.
    """
    if not len(reviewed) or not len(scores):
        return None
    strata = min(STRATA, max(1, len(reviewed) // 4))
    edges = np.quantile(scores, np.arange(1, strata) / strata)
    of_all, of_reviewed = np.searchsorted(edges, scores, "right"), np.searchsorted(edges, reviewed, "right")
    overall = float(accepted.mean())
    share = variance = 0.0
    for number in range(strata):
        size = int(np.count_nonzero(of_all == number))
        own = accepted[of_reviewed == number]
        # Half a review's worth of the overall share serves a stratum that has none of its own.
        trials = len(own) + 0.5
        mean = (float(own.sum()) + 0.5 * overall) / trials
        weight = size / len(scores)
        rest = max(0.0, 1.0 - len(own) / size) if size else 0.0
        share += weight * mean
        noise = max(mean * (1.0 - mean), 0.25 / max(1.0, trials)) / max(1, len(own))
        variance += weight * weight * rest * noise
    share = min(1.0, max(0.0, share))
    spread = max(share * (1.0 - share), 0.25 / len(reviewed))
    worth = min(float(len(reviewed)), spread / variance) if variance > 0.0 else float(len(reviewed))
    low, high = wilson(share * worth, worth)
    corrected = Share(share, min(low, share), max(high, share), len(reviewed))
    return Precision(corrected, _plain(accepted, by_chance))


def _plain(accepted: NDArray[np.bool_], by_chance: NDArray[np.bool_] | None) -> Share | None:
    if by_chance is None or not by_chance.any():
        return None
    hits, trials = int(accepted[by_chance].sum()), int(by_chance.sum())
    low, high = wilson(hits, trials)
    return Share(hits / trials, low, high, trials)
