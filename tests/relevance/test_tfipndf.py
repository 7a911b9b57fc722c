from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from honeyguide.relevance.tfipndf import TfipndfTransformer

X = np.array([[2, 0, 1], [1, 1, 0], [0, 3, 1], [0, 1, 1]])
Y = [1, 1, 0, 0]


@parametrize_with_checks([TfipndfTransformer(), TfipndfTransformer(min_df=1)])  # type: ignore[untyped-decorator]
def test_scikit_learn_checks(estimator: object, check: object) -> None:
    check(estimator)  # type: ignore[operator]


def test_training_weights_by_hand() -> None:
    rows = TfipndfTransformer(min_df=1).fit_transform(X, Y)
    # Positive document 0: term 0 2 * 2/2 * log(4/2), term 2 1 * 1/2 * log(4/3).
    first = np.array([2 * 1.0 * np.log(2), 0, 0.5 * np.log(4 / 3)])
    # Negative document 2: term 1 3 * 2/2 * log(4/3), term 2 1 * 2/2 * log(4/3).
    third = np.array([0, 3 * np.log(4 / 3), np.log(4 / 3)])
    assert np.allclose(rows[0], first / np.linalg.norm(first))
    assert np.allclose(rows[2], third / np.linalg.norm(third))


def test_weights_in_use_know_no_class() -> None:
    rows = TfipndfTransformer(min_df=1).fit(X, Y).transform(X)
    first = np.array([2 * np.log(2), 0, np.log(4 / 3)])
    assert np.allclose(rows[0], first / np.linalg.norm(first))


def test_rare_terms_have_no_weight() -> None:
    weights = TfipndfTransformer(min_df=3).fit(X, Y)
    assert (weights.idf_ > 0).tolist() == [False, True, True]
    assert weights.transform([[5, 0, 0]]).tolist() == [[0.0, 0.0, 0.0]]


def test_sparse_and_dense_agree() -> None:
    dense = TfipndfTransformer(min_df=1).fit_transform(X, Y)
    thin = TfipndfTransformer(min_df=1).fit_transform(sparse.csr_matrix(X), Y)
    assert np.allclose(dense, thin.toarray())
