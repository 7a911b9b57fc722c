"""Ridge regression whose weights never fall below 0, for scores that are each made so that more is better."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from honeyguide.compiled import compiled

SWEEPS: Final = 15
"""Rounds over all weights: after so many they move no more that it matters."""
LEAST_STEP: Final = 1e-3


def weights_of(
    z: NDArray[np.float64],
    wanted: NDArray[np.floating[Any]],
    *,
    step: tuple[float, float],
    trust: float,
) -> NDArray[np.float64]:
    """One common step for all scores, and what each deserves beyond it.

    Both are ridge regressions: the common step is drawn to a first one, each weight to the common step. A few
    rows can say by chance that more of a score is worse: no weight is below 0 (coordinate descent).

    Args:
        z: Standardised scores, a row an outcome.
        wanted: What is to be told by them, less its mean.
        step: The first step, and how many rows it stands for.
        trust: Rows after which a weight of its own is believed by half.

    Example:
        >>> import numpy as np
        >>> z = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
        >>> weights_of(z, z[:, 0], step=(0.0, 0.0), trust=1.0).round(2).tolist()
        [0.83, 0.17]
    """
    together = z.sum(axis=1)
    first, rows = step
    common = (float(together @ wanted) + first * rows) / max(1e-9, float(together @ together) + rows)
    weight = np.full(z.shape[1], max(LEAST_STEP, common))
    descend(z, wanted.astype(np.float64), weight, trust, SWEEPS)
    return weight


@compiled
def descend(
    z: NDArray[np.float64],
    wanted: NDArray[np.float64],
    weight: NDArray[np.float64],
    trust: float,
    sweeps: int,
) -> None:
    """Ridge regression by coordinate descent, no weight below 0.

    Not matrix products: numpy's library takes threads for those, which go on spinning for a while after each,
    and its last bits depend on how many there are.

    Args:
        z: Standardised scores, a row an outcome; 64 scores at most.
        wanted: What each was worth, beyond the mean.
        weight: Where to begin, and what weights are drawn to; gets what is found.
        trust: How strongly.
        sweeps: Rounds over all weights.
    """
    products = np.add.reduce(z[:, :, None] * z[:, None, :], axis=0)
    products[np.diag_indices(len(weight))] += trust
    aim = np.add.reduce(z * wanted[:, None], axis=0) + trust * weight
    for _ in range(sweeps):
        for each, row in enumerate(products):
            told = float(np.cumsum(row * weight)[-1])  # one after the other, as in C
            weight[each] = max(0.0, weight[each] + (float(aim[each]) - told) / float(row[each]))
