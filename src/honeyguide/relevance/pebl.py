"""PEBL: positive example based learning, the baseline with plain 1-DNF and one final SVM."""

from __future__ import annotations

from typing import Literal

from honeyguide.relevance.weighted_voting import Calibration, WeightedVotingClassifier, Weighting


class PEBL(WeightedVotingClassifier):
    """1-DNF, then SVMs with ever more negatives until nothing moves; the last one decides.

    The last SVM is the best one only while no step took the topic's own documents for negatives: the
    weighted vote was made to mend that.

    Args:
        constraint: 0 as published; above, PEBL with 1-DNFC.
        weighting: `tfidf`, or `tfipndf` as the CBP-SLC study compares it.
        kernel: `linear` or `rbf`.
        C: Cost of an error, of the SVM.
        balanced: Let few positives weigh as much as many negatives; off as published.
        min_df: Terms in fewer documents are not looked at.
        calibration: As for `WeightedVotingClassifier`.
        max_iter: Rounds at most.
        random_state: Of the linear SVM's solver.

    Example:
        >>> X = [[3, 1, 0, 0], [2, 0, 1, 0], [2, 1, 0, 1], [1, 0, 2, 1], [0, 0, 2, 3], [0, 0, 3, 1]]
        >>> PEBL(min_df=1, constraint=0.4).fit(X, [1, 1, 1, 0, 0, 0]).predict([[2, 0, 0, 0]]).tolist()
        [1]

    References:
        Hwanjo Yu, Jiawei Han, Kevin Chang, "PEBL: positive example based learning for web page
        classification using SVM", KDD 2002.
    """

    def __init__(
        self,
        constraint: float = 0.0,
        *,
        weighting: Weighting = "tfidf",
        kernel: Literal["linear", "rbf"] = "linear",
        C: float = 1.0,  # noqa: N803
        balanced: bool = False,
        min_df: int = 5,
        calibration: Calibration | None = "slope",
        max_iter: int = 50,
        random_state: int | None = 0,
    ) -> None:
        super().__init__(
            constraint,
            weighting=weighting,
            voting="last",
            kernel=kernel,
            C=C,
            balanced=balanced,
            min_df=min_df,
            start="1-dnfc",
            calibration=calibration,
            max_iter=max_iter,
            random_state=random_state,
        )
