"""How much each score counts: equally at first, then as the crawl's own outcomes say."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from honeyguide.ordering.scout_evidence import CLIP, COLUMNS, Joining
from honeyguide.text.ridge import weights_of

NEVER: Final = 1e9
"""Deviation of a score that says nothing."""
FIRST_STEP: Final = 0.02
"""What one deviation of one score is worth before anything is learned."""
FIRST_TRUST: Final = 10.0
"""Pages of evidence that this first step stands for, for each score."""


def standard(scores: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and deviation of each score over the URLs that wait; one that is the same for all says nothing."""
    middle = scores.mean(axis=0, dtype=np.float64)
    scale = scores.std(axis=0, dtype=np.float64)
    return middle, np.where(scale > 1e-6, scale, NEVER)


def pooled(moments: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same from numbers of URLs, sums of their scores and of the squares of these, a column a score."""
    middle = moments[1] / moments[0]
    scale = np.sqrt(np.maximum(0.0, moments[2] / moments[0] - middle**2))
    return middle, np.where(scale > 1e-6, scale, NEVER)


def equal_weights(start: float, middle: NDArray[np.float64], scale: NDArray[np.float64]) -> Joining:
    """Where nothing is known yet."""
    return Joining(start, np.full(COLUMNS, FIRST_STEP), middle, scale)


def fitted(
    scores: NDArray[np.float32],
    worth: NDArray[np.float32],
    *,
    middle: NDArray[np.float64],
    scale: NDArray[np.float64],
    trust: float,
) -> Joining:
    """Weights after some outcomes: one common step for all scores, and what each deserves beyond it.

    Both are ridge regressions: the common step starts at `FIRST_STEP`, each weight at the common step, and
    `trust` is the number of pages after which a weight of its own is believed by half. Every score is made
    so that more of it is better. A few pages can say the opposite, by chance, and a crawl that believes them
    leaves its topic: no weight is below 0 (coordinate descent).

    Args:
        scores: Of the URLs that were fetched, when they were.
        worth: What they turned out to be.
        middle: Mean of each score over the URLs that wait.
        scale: Deviation of it.
        trust: Pages.

    Example:
        >>> import numpy as np
        >>> scores = np.zeros((40, COLUMNS), np.float32)
        >>> scores[::2, 3], scores[1::2, 4] = 1.0, 1.0
        >>> ones = np.ones(COLUMNS)
        >>> learned = fitted(scores, scores[:, 3], middle=0 * ones, scale=ones, trust=1.0)
        >>> int(learned.weight.argmax()), float(learned.weight[4])
        (3, 0.0)
    """
    z = np.clip((scores - middle) / scale, -CLIP, CLIP)
    centre, average = z.mean(axis=0), float(worth.mean())
    z = z - centre
    wanted = worth - average
    first = FIRST_STEP, FIRST_TRUST * int((scale < NEVER).sum())
    weight = weights_of(z, wanted, step=first, trust=trust)
    return Joining(average - float(centre @ weight), weight, middle, scale)
