"""Weighted voting of SVMs, each trained with more negatives than the one before (WVC)."""

from __future__ import annotations

from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.validation import check_is_fitted, validate_data

from honeyguide.errors import TopicError
from honeyguide.relevance.one_dnf import OneDNFC, checked_pair, counting_tags, shares
from honeyguide.relevance.tfipndf import class_weighted, inverse_frequencies, weighted

Weighting: TypeAlias = Literal["tfipndf", "tfidf"]
Voting: TypeAlias = Literal["soft", "hard", "last"]
Start: TypeAlias = Literal["1-dnfc", "all"]
Calibration: TypeAlias = Literal["slope", "pu"]

FOLDS = 3
LARGEST_SLOPE = 1e3
USUAL_SLOPE = 2.0
LEAST_RECALL = 0.6
"""Share of the positives above the line at least: with few of them, a line above nearly all looks best by
chance."""


class WeightedVotingClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # no types there
    """Learns a class from some of its documents and from documents of unknown class.

    1-DNFC finds reliable negatives among the unlabelled documents. An SVM is trained on the positives and
    these; what it calls negative of the rest joins the negatives; and so on until nothing moves. Each
    SVM has the share of the positives that it gets right as its weight, so one that went too far and
    swallowed the topic has little to say. The answer is the weighted vote of all of them.

    `X` holds term counts, `y` two values: the larger marks positive documents, the other unlabelled ones.
    For raw texts put it behind a `CountVectorizer`. Training documents are weighed by TFIPNDF; what is
    judged by TF-IDF, also the positives on which an SVM is tried and the unlabelled documents that
    it sorts. N and n_i of the weights are counted over all of P and U, so that they stay as they are
    while documents move.

    Parameters:
        constraint: λ of 1-DNFC.
        contrast: That of 1-DNFC; 1 as in the paper.
        weighting: `tfipndf`, or `tfidf` for the comparison.
        voting: `soft` sums the margins of the SVMs (one number that ranks), `hard` their signs as
            the paper writes it, `last` takes the last SVM alone (PEBL).
        kernel: `linear` or `rbf`.
        C: Cost of an error, of the SVM.
        balanced: Let few positives weigh as much as many negatives; off as in the paper.
        min_df: Terms in fewer documents are not looked at.
        start: `1-dnfc`, or `all`: take every unlabelled document for negative.
        calibration: What is fitted to votes of SVMs on documents they did not see. `slope`: how fast
            chances change with the vote. `pu`: also where the line is drawn, at the vote with the largest
            `r^2 / Pr(above)`, r the share of positives above it and Pr that of the unlabelled documents
            (Lee and Liu), since an SVM with few positives draws it badly. None: nothing, for speed.
        max_iter: Rounds at most.
        random_state: Of the linear SVM's solver.

    Example:
        >>> X = np.array([[3, 1, 0, 0], [2, 0, 1, 0], [2, 1, 0, 1], [1, 0, 2, 1], [0, 1, 2, 3], [0, 0, 3, 1]])
        >>> model = WeightedVotingClassifier(min_df=1).fit(X, [1, 1, 1, 0, 0, 0])
        >>> model.predict([[2, 0, 0, 0], [0, 0, 0, 2]]).tolist()
        [1, 0]

    References:
        Tao Peng, Lu Liu, "Focused crawling enhanced by CBP-SLC", Knowledge-Based Systems 51, 2013,
        algorithm 3.
    """

    def __init__(
        self,
        constraint: float = 0.2,
        *,
        contrast: float = 1.0,
        weighting: Weighting = "tfipndf",
        voting: Voting = "soft",
        kernel: Literal["linear", "rbf"] = "linear",
        C: float = 1.0,  # noqa: N803
        balanced: bool = False,
        min_df: int = 5,
        start: Start = "1-dnfc",
        calibration: Calibration | None = "slope",
        max_iter: int = 50,
        random_state: int | None = 0,
    ) -> None:
        self.constraint = constraint
        self.contrast = contrast
        self.weighting = weighting
        self.voting = voting
        self.kernel = kernel
        self.C = C
        self.balanced = balanced
        self.min_df = min_df
        self.start = start
        self.calibration = calibration
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, known_negatives: Any = None, held_out: Any = None) -> Self:  # noqa: N803
        """Train on positive and unlabelled documents.

        Args:
            X: Term counts.
            y: Two values; the larger marks positives.
            known_negatives: Mask of the rows that are surely negative, whatever features they have.
            held_out: Mask of unlabelled rows that may well be positive: no SVM sees them, they only
                count where the line is drawn.

        Raises:
            NoReliableNegatives: 1-DNFC finds none at this λ; the message says which λ gives some.
        """
        X, positive, self.classes_ = checked_pair(self, X, y)  # noqa: N806
        self.idf_ = inverse_frequencies(X, self.min_df)
        sure, out = (
            np.zeros(X.shape[0], dtype=bool) if mask is None else np.asarray(mask, dtype=bool) & ~positive
            for mask in (known_negatives, held_out)
        )
        first = self._first_negatives(X, positive, sure, out)
        if not first.any():
            raise TopicError("there is no document to learn negatives from; give some background text")
        self.n_reliable_negatives_ = int(first.sum())
        self.estimators_, right, negative = self._rounds(X, positive, first, use=~out)
        self.n_iter_, self.n_negatives_ = len(self.estimators_), int(negative.sum())
        self.weights_ = self._say(right)
        if self.kernel == "linear":
            self.coef_ = self.weights_ @ np.stack([one.coef_[0] for one in self.estimators_])
            self.intercept_ = float(self.weights_ @ [one.intercept_[0] for one in self.estimators_])
        self.slope_, self.offset_ = USUAL_SLOPE, 0.0
        if self.calibration is not None:
            self._calibrate(X, positive, first, negative, out)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """The vote; above zero is positive."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)  # noqa: N806
        return self._vote(weighted(X, self.idf_), self.estimators_, self.weights_) - self.offset_

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The class with the larger vote."""
        check_is_fitted(self)
        return np.asarray(self.classes_[(self.decision_function(X) > 0.0).astype(np.intp)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """The vote as a chance: `1 / (1 + exp(-slope * vote))`.

        0.5 is where `predict` changes sides.
        """
        check_is_fitted(self)
        chance = 0.5 * (1.0 + np.tanh(0.5 * self.slope_ * self.decision_function(X)))
        return np.stack((1.0 - chance, chance), axis=1)

    def _first_negatives(
        self,
        X: Any,  # noqa: N803
        positive: NDArray[np.bool_],
        sure: NDArray[np.bool_],
        out: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:
        if self.start == "all":
            return ~positive & ~out
        rest = ~positive & ~sure & ~out
        negative = sure.copy()
        if not rest.any():
            return negative
        selector = OneDNFC(self.constraint, contrast=self.contrast).fit(
            X[positive | rest], positive[positive | rest]
        )
        selector.strength_[self.idf_ == 0.0] = 0.0  # Terms that are not looked at.
        if sure.any():  # There are negatives to begin with: finding no more is no failure.
            negative[rest] = selector.least_constraints(X[rest]) <= self.constraint
        else:
            negative[rest] = selector.reliable_negatives(X[rest])
        return negative

    def _rounds(
        self,
        X: Any,  # noqa: N803
        positive: NDArray[np.bool_],
        first: NDArray[np.bool_],
        *,
        use: NDArray[np.bool_],
    ) -> tuple[list[Any], list[float], NDArray[np.bool_]]:
        """Train, sort out, train again: the SVMs, their shares of P, and the negatives in the end."""
        positive, negative = positive & use, first & use
        machines: list[Any] = []
        right: list[float] = []
        judged = weighted(X, self.idf_)
        for _ in range(max(1, self.max_iter)):
            machines.append(self._train(X, positive, positive | negative))
            right.append(float(np.mean(_margins(machines[-1], judged[positive]) > 0.0)))
            left = np.flatnonzero(use & ~positive & ~negative)
            moved = left[_margins(machines[-1], judged[left]) <= 0.0] if len(left) else left
            if not len(moved):
                break
            negative[moved] = True
        return machines, right, negative

    def _say(self, right: list[float]) -> NDArray[np.float64]:
        """The weights of the votes."""
        if self.voting == "last":
            return np.asarray(np.eye(len(right))[-1])
        total = sum(right)
        # All may be wrong about every positive: then each has the same say.
        return np.array(right) / total if total else np.full(len(right), 1.0 / len(right))

    def _vote(self, rows: Any, machines: list[Any], say: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.kernel == "linear" and self.voting != "hard":
            weights = say @ np.stack([one.coef_[0] for one in machines])
            offset = float(say @ [one.intercept_[0] for one in machines])
            return np.asarray(rows @ weights + offset, dtype=np.float64).ravel()
        heard = np.flatnonzero(say)
        votes = np.stack([_margins(machines[one], rows) for one in heard])
        if self.voting == "hard":
            votes = np.where(votes > 0.0, 1.0, -1.0)
        return np.asarray(say[heard] @ votes)

    def _train(self, X: Any, positive: NDArray[np.bool_], rows: NDArray[np.bool_]) -> Any:  # noqa: N803
        """One SVM on some of the documents."""
        own, inside = X[rows], positive[rows]
        if self.weighting == "tfipndf":
            by_class = np.stack((shares(own[~inside]), shares(own[inside])))
            vectors = class_weighted(own, self.idf_, inside.astype(np.intp), by_class)
        else:
            vectors = weighted(own, self.idf_)
        class_weight = "balanced" if self.balanced else None
        machine: Any
        if self.kernel == "linear":
            machine = LinearSVC(
                C=self.C,
                class_weight=class_weight,
                random_state=self.random_state,
                max_iter=20_000,
                dual=True,
            )
        else:
            machine = SVC(kernel=self.kernel, C=self.C, class_weight=class_weight, gamma="scale")
        return machine.fit(vectors, inside.astype(np.intp))

    def _calibrate(
        self,
        X: Any,  # noqa: N803
        positive: NDArray[np.bool_],
        first: NDArray[np.bool_],
        negative: NDArray[np.bool_],
        out: NDArray[np.bool_],
    ) -> None:
        """Fit slope and offset to votes on documents that were left out in training (three folds)."""
        fold_of = np.zeros(X.shape[0], dtype=np.intp)
        for group in (positive, first, ~positive & ~first):
            fold_of[group] = np.arange(group.sum()) % FOLDS
        votes = np.zeros(X.shape[0])
        if positive.sum() < FOLDS or first.sum() < FOLDS:
            votes[:] = self._vote(weighted(X, self.idf_), self.estimators_, self.weights_)
        else:
            for fold in range(FOLDS):
                aside = fold_of == fold
                machines, right, _ = self._rounds(X, positive, first, use=~aside & ~out)
                votes[aside] = self._vote(weighted(X[aside], self.idf_), machines, self._say(right))
        if self.calibration == "pu":
            self.offset_ = best_line(votes[positive], votes[~positive])
        known = positive | negative
        self.slope_ = _slope(votes[known] - self.offset_, positive[known])

    def __sklearn_tags__(self) -> Any:
        """Two classes, counts; poor where every document has every term."""
        return counting_tags(super().__sklearn_tags__())


def _margins(machine: Any, rows: Any) -> NDArray[np.float64]:
    return np.asarray(machine.decision_function(rows), dtype=np.float64)


def _slope(margins: NDArray[np.float64], labels: NDArray[np.bool_]) -> float:
    """The most likely slope, both classes counting alike."""
    signed = np.where(labels, margins, -margins)
    importance = np.where(labels, 0.5 / max(1, labels.sum()), 0.5 / max(1, (~labels).sum()))

    def loss(log_slope: float) -> float:
        return float(importance @ np.logaddexp(0.0, -np.exp(log_slope) * signed))

    best = minimize_scalar(loss, bounds=(np.log(0.5), np.log(LARGEST_SLOPE)), method="bounded")
    return float(np.exp(best.x))


def best_line(positives: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    """The value with the largest `r^2 / Pr(above)` between positives and documents of unknown class.

    References:
        Wee Sun Lee, Bing Liu, "Learning with positive and unlabeled examples using weighted logistic
        regression", ICML 2003 (the criterion).
    """
    values = np.unique(np.concatenate((positives, others)))
    if len(values) == 1:
        return float(values[0])
    middles = (values[1:] + values[:-1]) / 2.0
    recall = 1.0 - np.searchsorted(np.sort(positives), middles) / len(positives)
    above = len(others) - np.searchsorted(np.sort(others), middles)
    # Half a document more: none above is no proof of none.
    merit = np.where(recall >= LEAST_RECALL, recall**2 / (above + 0.5), 0.0)
    return float(middles[int(np.argmax(merit))])
