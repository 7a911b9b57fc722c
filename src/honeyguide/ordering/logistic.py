"""Logistic regression on sparse rows, small and the same on every run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize


def probabilities(rows: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Chance of the positive class, by row; the last weight is the intercept."""
    margin = rows @ weights[:-1] + weights[-1]
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * margin)), dtype=np.float64)


def fit_logistic(
    rows: Any,
    labels: NDArray[np.bool_],
    start: NDArray[np.float64],
    *,
    penalty: float = 1.0,
    iterations: int = 50,
) -> NDArray[np.float64]:
    """Weights (and intercept, last) that minimise the class-balanced log loss plus an L2 penalty.

    Only columns that occur are optimised; the rest are zero. Both classes count alike, whatever their
    sizes: a crawl meets few good links.

    Args:
        rows: CSR matrix of features.
        labels: True for the positive class; both must occur.
        start: Weights to start from.
        penalty: Strength of the L2 penalty (not on the intercept).
        iterations: At most so many steps of L-BFGS.
    """
    columns = np.unique(rows.indices)
    used = rows[:, columns]
    share = labels.mean()
    sample = np.where(labels, 0.5 / share, 0.5 / (1.0 - share))
    sign = np.where(labels, 1.0, -1.0)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margin = sign * (used @ weights[:-1] + weights[-1])
        value = float(sample @ np.logaddexp(0.0, -margin)) + 0.5 * penalty * float(
            weights[:-1] @ weights[:-1]
        )
        pull = -sign * sample * 0.5 * (1.0 - np.tanh(0.5 * margin))
        gradient = np.append(used.T @ pull + penalty * weights[:-1], pull.sum())
        return value, gradient

    first = np.append(start[columns], start[-1])
    found = optimize.minimize(loss, first, jac=True, method="L-BFGS-B", options={"maxiter": iterations})
    weights = np.zeros(rows.shape[1] + 1)
    weights[columns], weights[-1] = found.x[:-1], found.x[-1]
    return weights
