from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from honeyguide.errors import TopicError
from honeyguide.relevance.one_dnf import NoReliableNegatives, OneDNF, OneDNFC

# Five terms. Positives: a in 3 of 3, b in 1 of 3, c in 2 of 3.
POSITIVES = [[1, 0, 2, 0, 0], [3, 1, 0, 0, 1], [1, 0, 1, 0, 0]]
# Unlabelled: a in 1 of 4, b in 1 of 4, c in 3 of 4.
UNLABELLED = [[1, 0, 1, 0, 0], [0, 1, 1, 2, 0], [0, 0, 1, 1, 0], [0, 0, 0, 1, 0]]
X = np.array(POSITIVES + UNLABELLED)
Y = np.array([1, 1, 1, 0, 0, 0, 0])


@parametrize_with_checks([OneDNF(), OneDNFC()])  # type: ignore[untyped-decorator]
def test_scikit_learn_checks(estimator: object, check: object) -> None:
    check(estimator)  # type: ignore[operator]


def test_positive_features_by_hand() -> None:
    # c: 2/3 < 3/4. e: 1/3 > 0. So a, b and e.
    assert OneDNF().fit(X, Y).positive_features_.tolist() == [True, True, False, False, True]
    assert OneDNFC(0.4).fit(X, Y).positive_features_.tolist() == [True, False, False, False, False]


def test_reliable_negatives_by_hand() -> None:
    unlabelled = X[3:]
    assert OneDNF().fit(X, Y).reliable_negatives(unlabelled).tolist() == [False, False, True, True]
    assert OneDNFC(0.4).fit(X, Y).reliable_negatives(unlabelled).tolist() == [False, True, True, True]


def test_predict_gives_the_label_of_the_unlabelled() -> None:
    model = OneDNFC(0.4).fit(X, np.where(Y, "yes", "maybe"))
    assert model.predict(X[3:5]).tolist() == ["yes", "maybe"]
    assert model.decision_function(X[3:5]).tolist() == [0.5, -0.5]


def test_the_constraint_only_adds_reliable_negatives() -> None:
    random = np.random.default_rng(3)
    counts = random.poisson(0.3, (80, 30))
    labels = np.arange(80) < 20
    found = [
        OneDNFC(constraint).fit(counts, labels).least_constraints(counts[20:]) <= constraint
        for constraint in np.linspace(0.0, 1.0, 11)
    ]
    assert all((after >= before).all() for before, after in pairwise(found))
    assert found[-1].all()


def test_least_constraint_is_the_exact_border() -> None:
    counts = np.random.default_rng(5).poisson(0.8, (60, 20))
    labels = np.arange(60) < 15
    least = OneDNFC().fit(counts, labels).least_constraints(counts[15:])
    for constraint in np.unique(least):
        model = OneDNFC(float(constraint)).fit(counts, labels)
        without = ~(counts[15:, model.positive_features_] > 0).any(axis=1)
        assert (without == (least <= constraint)).all()


def test_sparse_and_dense_agree() -> None:
    dense, thin = OneDNFC().fit(X, Y), OneDNFC().fit(sparse.csr_matrix(X), Y)
    assert (dense.positive_features_ == thin.positive_features_).all()
    assert (dense.least_constraints(X) == thin.least_constraints(sparse.csr_matrix(X))).all()


def test_no_reliable_negative_says_which_constraint_gives_some() -> None:
    # First term: 4 of 4 against 1 of 2; second: 3 of 4 against 1 of 2. Each unlabelled document has one.
    counts, labels = np.array([[1, 1], [1, 1], [1, 1], [1, 0], [1, 0], [0, 1]]), [1, 1, 1, 1, 0, 0]
    with pytest.raises(NoReliableNegatives, match=r"0\.75 or more") as caught:
        OneDNFC().fit(counts, labels).reliable_negatives(counts[4:])
    assert isinstance(caught.value, TopicError)
    enough = OneDNFC(caught.value.needed).fit(counts, labels)
    assert enough.reliable_negatives(counts[4:]).tolist() == [False, True]


def test_contrast_leaves_out_common_words() -> None:
    counts = np.array([[1, 1], [1, 1], [1, 1], [0, 1], [1, 0], [0, 1], [0, 1], [0, 1]])
    labels = [1, 1, 1, 0, 0, 0, 0, 0]
    # First term: 1 against 1/5. Second: 1 against 4/5, hardly more.
    assert OneDNFC().fit(counts, labels).positive_features_.tolist() == [True, True]
    assert OneDNFC(contrast=2.0).fit(counts, labels).positive_features_.tolist() == [True, False]
