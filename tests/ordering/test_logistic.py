from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from honeyguide.ordering.logistic import fit_logistic, probabilities
from honeyguide.text.vectors import rows_of


def test_agrees_with_scikit_learn() -> None:
    generator = np.random.default_rng(2)
    documents = [sorted(set(generator.integers(0, 30, 6).tolist())) for _ in range(200)]
    labels = np.array([3 in each or 7 in each for each in documents])
    rows = rows_of(documents, 40)
    weights = fit_logistic(rows, labels, np.zeros(41), iterations=500)
    reference = LogisticRegression(C=1.0, class_weight="balanced", tol=1e-8, max_iter=1000).fit(rows, labels)
    assert probabilities(rows, weights) == pytest.approx(reference.predict_proba(rows)[:, 1], abs=2e-3)
    assert not weights[30:40].any()


def test_far_margins_do_not_overflow() -> None:
    rows = rows_of([[0] * 5000, [1] * 5000], 2)
    assert probabilities(rows, np.array([50.0, -50.0, 0.0])).tolist() == [1.0, 0.0]
