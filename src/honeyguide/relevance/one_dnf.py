"""1-DNF and 1-DNFC: documents that are surely not on topic, found with positive examples alone."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from honeyguide.errors import TopicError


class NoReliableNegatives(TopicError, ValueError):
    """Every unlabelled document has a positive feature."""

    def __init__(self, constraint: float, needed: float) -> None:
        # Rounded up: a value that is a hair too small would give none again.
        self.needed = min(1.0, np.ceil(needed * 1000.0) / 1000.0)
        super().__init__(
            f"no unlabelled document is without a positive feature at constraint {constraint:g}; "
            f"set the constraint (the paper's λ) to {self.needed:g} or more, or give more background text"
        )


class OneDNF(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # no types there
    """1-DNF: a document with none of the positive features is a reliable negative.

    Positive features are the terms that a larger share of the positive than of the unlabelled documents
    has, and that more than `constraint` of the positive ones have. Plain 1-DNF has no constraint; as every
    chance resemblance then makes a positive feature, few negatives remain. 1-DNFC (`OneDNFC`) asks for
    more than 0.2.

    `X` holds counts (or weights; only what is above zero matters), `y` has two values: the larger one
    marks positive documents, the other unlabelled ones. `predict` gives the smaller value for documents
    without positive features; `decision_function` is the number of positive features less a half.

    Args:
        constraint: The paper's λ, in 0..1.
        contrast: How many times the share among the unlabelled documents the share among the positive
            ones must be; 1 in the literature. Long documents have all common words, and any of them is a
            positive feature by chance at 1.

    Example:
        >>> X = np.array([[1, 0, 1], [2, 1, 0], [0, 1, 1], [1, 0, 1]])
        >>> model = OneDNF().fit(X, [1, 1, 0, 0])
        >>> model.positive_features_.tolist(), model.predict(X[2:]).tolist()
        ([True, False, False], [0, 1])

    References:
        Hwanjo Yu, Jiawei Han, Kevin Chang, "PEBL: positive example based learning for web page
        classification using SVM", KDD 2002.
    """

    def __init__(self, constraint: float = 0.0, *, contrast: float = 1.0) -> None:
        self.constraint = constraint
        self.contrast = contrast

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803  scikit-learn's names
        """Find the positive features. Whether any document is without them is asked by who needs one."""
        X, positive, self.classes_ = checked_pair(self, X, y)  # noqa: N806
        in_positives, in_unlabelled = shares(X[positive]), shares(X[~positive])
        self.strength_ = np.where(in_positives > self.contrast * in_unlabelled, in_positives, 0.0)
        self.positive_features_ = self.strength_ > self.constraint
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """How many positive features each document has, less a half."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", reset=False)  # noqa: N806
        found = presence(X) @ self.positive_features_.astype(np.float64)
        return np.asarray(found, dtype=np.float64) - 0.5

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The unlabelled class for documents without any positive feature."""
        check_is_fitted(self)
        return np.asarray(self.classes_[(self.decision_function(X) > 0.0).astype(np.intp)])

    def least_constraints(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """For each document the least λ at which it is a reliable negative.

        One pass answers for all λ at once: a document is one as soon as λ reaches the largest share of
        positives that have one of its features.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", reset=False)  # noqa: N806
        if not is_sparse(X):
            X = sparse.csr_matrix(X)  # noqa: N806
        values = sparse.csr_matrix(
            (self.strength_[X.indices] * (X.data > 0), X.indices, X.indptr), shape=X.shape
        )
        return np.asarray(values.max(axis=1).toarray(), dtype=np.float64).ravel()

    def reliable_negatives(self, X: Any) -> NDArray[np.bool_]:  # noqa: N803
        """Which of some unlabelled documents are reliable negatives.

        Raises:
            NoReliableNegatives: None is; the message says which λ would give some.
        """
        least = self.least_constraints(X)
        found = least <= self.constraint
        if not found.any():
            raise NoReliableNegatives(self.constraint, float(least.min(initial=1.0)))
        return np.asarray(found)

    def __sklearn_tags__(self) -> Any:
        """Two classes, counts, poor on data where every document has every feature."""
        return counting_tags(super().__sklearn_tags__())


class OneDNFC(OneDNF):
    """1-DNFC: 1-DNF with the constraint that a positive feature is in many positive documents.

    Args:
        constraint: The paper's λ; 0.2 there.
        contrast: As for `OneDNF`.

    Example:
        >>> X = np.array([[1, 0, 1], [2, 1, 0], [0, 1, 1], [1, 0, 1]])
        >>> OneDNFC().fit(X, [1, 1, 0, 0]).reliable_negatives(X[2:]).tolist()
        [True, False]

    References:
        Tao Peng, Lu Liu, "Focused crawling enhanced by CBP-SLC", Knowledge-Based Systems 51, 2013,
        algorithm 2.
    """

    def __init__(self, constraint: float = 0.2, *, contrast: float = 1.0) -> None:
        super().__init__(constraint, contrast=contrast)


def checked_pair(estimator: Any, X: Any, y: Any) -> tuple[Any, NDArray[np.bool_], NDArray[Any]]:  # noqa: N803
    """Counts, which rows are positive, and the two classes (unlabelled first)."""
    X, y = validate_data(estimator, X, y, accept_sparse="csr", dtype=np.float64)  # noqa: N806
    check_classification_targets(y)
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    if kind != "binary":
        raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
    classes, numbers = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"positive and unlabelled documents are needed, all are of one class: {classes[0]}")
    if (X.data if is_sparse(X) else X).min(initial=0.0) < 0.0:
        raise ValueError(f"Negative values in data passed to {type(estimator).__name__}; give counts")
    return X, numbers == 1, classes


def is_sparse(X: Any) -> bool:  # noqa: N803
    """Whether a matrix is sparse; scipy's own test hides the type's members from type checkers."""
    return bool(sparse.issparse(X))


def presence(X: Any) -> Any:  # noqa: N803
    """One where a document has a term."""
    if not is_sparse(X):
        return (np.asarray(X) > 0).astype(np.float64)
    return sparse.csr_matrix(((X.data > 0).astype(np.float64), X.indices, X.indptr), shape=X.shape)


def shares(X: Any) -> NDArray[np.float64]:  # noqa: N803
    """Share of the documents that have each term."""
    counts = np.asarray(presence(X).sum(axis=0), dtype=np.float64).ravel()
    return np.asarray(counts / max(1, X.shape[0]))


def counting_tags(tags: Any) -> Any:
    """What the estimators of positive-unlabelled learning tell scikit-learn of themselves."""
    tags.classifier_tags.multi_class = False
    # In scikit-learn's test data every document has every feature; here that says nothing.
    tags.classifier_tags.poor_score = True
    tags.input_tags.sparse = True
    tags.input_tags.positive_only = True
    return tags
