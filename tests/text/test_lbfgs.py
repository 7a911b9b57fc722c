from __future__ import annotations

import numpy as np
import pytest

from honeyguide.text.lbfgs import Floats, minimise


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_scipy_on_logistic_regression(seed: int) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    chance = np.random.default_rng(seed)
    rows, sign = chance.normal(size=(80, 12)), np.where(chance.random(80) < 0.4, 1.0, -1.0)

    def loss(weights: Floats) -> tuple[float, Floats]:
        margin = sign * (rows @ weights)
        pull = -sign * 0.5 * (1.0 - np.tanh(0.5 * margin))
        return float(np.logaddexp(0, -margin).sum() + weights @ weights), rows.T @ pull + 2 * weights

    theirs = optimize.minimize(loss, np.zeros(12), jac=True, method="L-BFGS-B", options={"gtol": 1e-8}).x
    np.testing.assert_allclose(minimise(loss, np.zeros(12)), theirs, atol=1e-4)


def test_a_narrow_valley() -> None:
    scale = np.array([1.0, 1e4])
    found = minimise(lambda x: (float(scale @ (x - 1) ** 2), 2 * scale * (x - 1)), np.zeros(2))
    np.testing.assert_allclose(found, 1.0, atol=1e-5)


def test_nothing_to_do() -> None:
    assert minimise(lambda x: (0.0, np.zeros_like(x)), np.zeros(0)).tolist() == []
