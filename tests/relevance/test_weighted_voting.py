from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from honeyguide.relevance import PEBL, OneClassSVM, WeightedVotingClassifier
from honeyguide.relevance.one_dnf import NoReliableNegatives
from honeyguide.relevance.weighted_voting import best_line

NO_COUNTS = "its data have negative values, and terms are counted"
ALL_FEATURES = "in its data every unlabelled document has a positive feature, which is an error by design"


def failures(estimator: object) -> dict[str, str]:
    expected = {"check_decision_proba_consistency": NO_COUNTS}
    if isinstance(estimator, WeightedVotingClassifier) and estimator.start != "all":
        expected["check_classifier_data_not_an_array"] = ALL_FEATURES
    return {} if isinstance(estimator, OneClassSVM) else expected


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [WeightedVotingClassifier(start="all", min_df=1), WeightedVotingClassifier(), PEBL(), OneClassSVM()],
    expected_failed_checks=failures,
)
def test_scikit_learn_checks(estimator: object, check: object) -> None:
    check(estimator)  # type: ignore[operator]


def made_up(seed: int, documents: int = 300) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Documents of 60 terms; a fifth are on a topic with ten terms of its own."""
    random = np.random.default_rng(seed)
    topic = np.arange(documents) % 5 == 0
    chances = np.full((documents, 60), 0.12)
    chances[:, :10] = np.where(topic[:, None], 0.45, 0.02)
    return random.poisson(chances), topic


Labelled: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]


@pytest.fixture(scope="module")
def pu() -> Labelled:
    counts, topic = made_up(1)
    labelled = np.zeros(len(topic), dtype=np.int64)
    labelled[np.flatnonzero(topic)[:30]] = 1
    return counts, labelled, topic


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"voting": "hard"},
        {"weighting": "tfidf"},
        {"kernel": "rbf", "calibration": "pu"},
        {"balanced": True},
        {"calibration": "pu"},
        {"calibration": None},
    ],
)
def test_finds_the_topic_with_half_its_documents(pu: Labelled, options: dict[str, object]) -> None:
    counts, labelled, _ = pu
    model = WeightedVotingClassifier(0.4, **options).fit(counts, labelled)  # type: ignore[arg-type]
    unseen, truth = made_up(2)
    assert f1_score(truth, model.predict(unseen)) > 0.8
    chances = model.predict_proba(unseen)
    assert ((chances >= 0.0) & (chances <= 1.0)).all()
    assert ((chances[:, 1] > 0.5) == (model.predict(unseen) == 1)).all()


def test_negatives_grow_from_the_reliable_ones(pu: Labelled) -> None:
    counts, labelled, _ = pu
    model = WeightedVotingClassifier(0.4).fit(counts, labelled)
    assert 0 < model.n_reliable_negatives_ < model.n_negatives_
    assert model.n_iter_ == len(model.estimators_) == len(model.weights_) >= 2
    assert np.isclose(model.weights_.sum(), 1.0)


def test_weights_are_shares_of_the_positives(pu: Labelled) -> None:
    counts, labelled, _ = pu
    model = WeightedVotingClassifier(0.4, weighting="tfidf").fit(counts, labelled)
    idf = model.idf_
    rows = np.asarray(counts) * idf
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    right = [
        float(np.mean(one.decision_function(rows[np.asarray(labelled) == 1]) > 0))
        for one in model.estimators_
    ]
    assert np.allclose(model.weights_, np.array(right) / sum(right))


def test_soft_vote_is_the_weighted_sum_of_margins(pu: Labelled) -> None:
    counts, labelled, _ = pu
    model = WeightedVotingClassifier(0.4).fit(counts, labelled)
    rows = np.asarray(counts) * model.idf_
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    margins = np.stack([one.decision_function(rows) for one in model.estimators_])
    assert np.allclose(model.decision_function(counts), model.weights_ @ margins)
    hard = WeightedVotingClassifier(0.4, voting="hard").fit(counts, labelled)
    assert np.allclose(hard.decision_function(counts), model.weights_ @ np.sign(margins))


def test_pebl_asks_the_last_machine(pu: Labelled) -> None:
    counts, labelled, _ = pu
    model = PEBL(0.4).fit(counts, labelled)
    assert model.weights_.tolist() == [0.0] * (model.n_iter_ - 1) + [1.0]


def test_sparse_and_dense_agree(pu: Labelled) -> None:
    counts, labelled, _ = pu
    dense = WeightedVotingClassifier(0.4).fit(counts, labelled)
    thin = WeightedVotingClassifier(0.4).fit(sparse.csr_matrix(counts), labelled)
    assert np.allclose(dense.decision_function(counts), thin.decision_function(counts), atol=1e-4)


def test_known_negatives_and_documents_held_out() -> None:
    counts, topic = made_up(3)
    labelled = topic & (np.arange(len(topic)) < 150)
    known, out = ~topic & (np.arange(len(topic)) < 50), topic & ~labelled
    model = WeightedVotingClassifier(0.0).fit(counts, labelled, known_negatives=known, held_out=out)
    assert model.n_reliable_negatives_ >= known.sum()
    assert model.n_negatives_ <= (~topic).sum()


def test_no_reliable_negative_is_an_error() -> None:
    counts, labels = np.array([[1, 1], [1, 1], [1, 1], [1, 0], [1, 0], [0, 1]]), [1, 1, 1, 1, 0, 0]
    with pytest.raises(NoReliableNegatives, match=r"0\.75 or more"):
        WeightedVotingClassifier(min_df=1).fit(counts, labels)


def test_behind_a_count_vectorizer() -> None:
    owls = ["the owl nest", "owl wings and owl eyes", "a barn owl nest"] * 2
    others = ["tax form", "income tax office", "bank rate", "owl watching", "tax bank", "the income rate"]
    model = make_pipeline(CountVectorizer(), WeightedVotingClassifier(min_df=1))
    model.fit([*owls, *others], [1] * 6 + [0] * 6)
    assert model.predict(["an owl", "tax income"]).tolist() == [1, 0]


def test_best_line_by_hand() -> None:
    # Above 0.5: all positives, one of four others: 1 / 1.5. Above 0.85: half, none: 0.25 / 0.5.
    assert best_line(np.array([0.8, 0.9]), np.array([0.1, 0.2, 0.3, 0.82])) == pytest.approx(0.55)
