"""One-class SVM: a class learned from its own documents alone, the baseline without unlabelled text."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import OneClassSVM as Machine
from sklearn.utils.validation import check_is_fitted, validate_data

from honeyguide.relevance.one_dnf import checked_pair, counting_tags
from honeyguide.relevance.tfipndf import inverse_frequencies, weighted


class OneClassSVM(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # no types there
    """Finds the region that the positive documents are in.

    The same interface as the other learners here: `y` marks positive and unlabelled documents. Of the
    unlabelled ones only the document frequencies are used, for the TF-IDF weights.

    Args:
        nu: Share of the positives that may be left outside; 0.5 is LIBSVM's standard.
        kernel: `linear` or `rbf`.
        min_df: Terms in fewer documents are not looked at.

    Example:
        >>> X = [[3, 0, 1], [2, 0, 0], [4, 1, 0], [0, 3, 1], [0, 2, 2]]
        >>> OneClassSVM(nu=0.1, min_df=1).fit(X, [1, 1, 1, 0, 0]).predict([[0, 5, 1]]).tolist()
        [0]

    References:
        Larry Manevitz, Malik Yousef, "One-class SVMs for document classification", JMLR 2, 2001.
    """

    def __init__(
        self, nu: float = 0.5, *, kernel: Literal["linear", "rbf"] = "linear", min_df: int = 5
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.min_df = min_df

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803  scikit-learn's names
        """Learn the region of the positive documents (the larger value of `y`)."""
        X, positive, self.classes_ = checked_pair(self, X, y)  # noqa: N806
        self.idf_ = inverse_frequencies(X, self.min_df)
        self.machine_ = Machine(nu=self.nu, kernel=self.kernel, gamma="scale")
        self.machine_.fit(weighted(X[positive], self.idf_))
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Distance from the border of the region; above zero is inside."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)  # noqa: N806
        return np.asarray(self.machine_.decision_function(weighted(X, self.idf_)), dtype=np.float64).ravel()

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The positive class inside the region."""
        check_is_fitted(self)
        return np.asarray(self.classes_[(self.decision_function(X) > 0.0).astype(np.intp)])

    def __sklearn_tags__(self) -> Any:
        """Two classes, counts; poor where the classes are not apart."""
        return counting_tags(super().__sklearn_tags__())
