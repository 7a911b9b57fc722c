"""TFIPNDF: term weights that count how much a term belongs to its document's own class."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from honeyguide.relevance.one_dnf import is_sparse, presence, shares


class TfipndfTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]  # no types there
    """Turns counts into TFIPNDF weights of length one.

    `fit_transform` weighs training documents: term i of document k gets `f_ki * (P_i/S_P) * log(N/n_i)`
    if the document is positive and `f_ki * (N_i/S_N) * log(N/n_i)` if not, where P_i and N_i are the
    positive and negative documents with the term, S_P and S_N their numbers (more than two classes are
    weighed alike). `transform` weighs documents of unknown class by `f * log(N/n)`. The two differ by
    design, so `fit_transform(X, y)` is not `fit(X, y).transform(X)`.

    Args:
        min_df: Terms in fewer documents get no weight; 5 in the paper.

    Example:
        >>> X = np.array([[2, 0, 1], [1, 1, 0], [0, 3, 1], [0, 1, 1]])
        >>> weights = TfipndfTransformer(min_df=1).fit(X, [1, 1, 0, 0])
        >>> weights.class_shares_.tolist(), weights.idf_.round(3).tolist()
        ([[0.0, 1.0, 1.0], [1.0, 0.5, 0.5]], [0.693, 0.288, 0.288])

    References:
        Tao Peng, Lu Liu, "Focused crawling enhanced by CBP-SLC", Knowledge-Based Systems 51, 2013,
        equations 1-3.
    """

    def __init__(self, min_df: int = 5) -> None:
        self.min_df = min_df

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803  scikit-learn's names
        """Count the documents of each class that have each term."""
        self._count(X, y)
        return self

    def fit_transform(self, X: Any, y: Any) -> Any:  # noqa: N803
        """Weights of training documents, each by the shares of its own class."""
        X, numbers = self._count(X, y)  # noqa: N806
        return class_weighted(X, self.idf_, numbers, self.class_shares_)

    def transform(self, X: Any) -> Any:  # noqa: N803
        """Weights of documents whose class is not known."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)  # noqa: N806
        return weighted(X, self.idf_)

    def _count(self, X: Any, y: Any) -> tuple[Any, NDArray[np.intp]]:  # noqa: N803
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)  # noqa: N806
        check_classification_targets(y)
        if (X.data if is_sparse(X) else X).min(initial=0.0) < 0.0:
            raise ValueError("Negative values in data passed to TfipndfTransformer; give counts")
        self.classes_, numbers = np.unique(y, return_inverse=True)
        self.idf_ = inverse_frequencies(X, self.min_df)
        self.class_shares_ = np.stack([shares(X[numbers == c]) for c in range(len(self.classes_))])
        return X, numbers

    def __sklearn_tags__(self) -> Any:
        """Counts with labels."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def inverse_frequencies(X: Any, min_df: int) -> NDArray[np.float64]:  # noqa: N803
    """`log(N/n)` by term; 0 for terms in fewer than `min_df` documents."""
    spread = np.asarray(presence(X).sum(axis=0), dtype=np.float64).ravel()
    idf = np.log(X.shape[0] / np.maximum(spread, 1.0))
    idf[spread < max(1, min_df)] = 0.0
    return np.asarray(idf)


def weighted(X: Any, weights: NDArray[np.float64]) -> Any:  # noqa: N803
    """Counts times the weight of each term, rows at length one; zero rows stay zero."""
    if not is_sparse(X):
        rows = np.asarray(X, dtype=np.float64) * weights
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / np.where(lengths > 0.0, lengths, 1.0)
    data = X.data * weights[X.indices]
    row_of = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    lengths = np.sqrt(np.bincount(row_of, weights=data * data, minlength=X.shape[0]))
    lengths[lengths == 0.0] = 1.0
    return sparse.csr_matrix((data / lengths[row_of], X.indices, X.indptr), shape=X.shape)


def class_weighted(
    X: Any,  # noqa: N803
    idf: NDArray[np.float64],
    numbers: NDArray[np.intp],
    class_shares: NDArray[np.float64],
) -> Any:
    """Training weights: each row by `idf` and the shares of its class, in the order of `X`."""
    if not is_sparse(X):
        return weighted(X * class_shares[numbers], idf)
    own = np.repeat(numbers, np.diff(X.indptr))
    rows = sparse.csr_matrix((X.data * class_shares[own, X.indices], X.indices, X.indptr), shape=X.shape)
    return weighted(rows, idf)
