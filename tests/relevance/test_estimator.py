from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from honeyguide.errors import CollectionError, TopicError
from honeyguide.model import Document, Examples, Page
from honeyguide.relevance.estimator import EstimatorModel
from honeyguide.store.models import Saved
from honeyguide.testing.page_models import check_page_model, made_up_examples

EXAMPLES = made_up_examples()
ESTIMATORS: dict[str, Any] = {
    "naive Bayes": make_pipeline(CountVectorizer(), MultinomialNB()),
    "linear SVM": make_pipeline(TfidfVectorizer(), LinearSVC(random_state=1)),
    "hashed SGD": make_pipeline(HashingVectorizer(n_features=2**12), SGDClassifier(random_state=1)),
    "neighbours": make_pipeline(TfidfVectorizer(), KNeighborsClassifier()),
}


def fitted(name: str) -> Any:
    documents = [*EXAMPLES.positives, *EXAMPLES.negatives]
    labels = ["owls"] * len(EXAMPLES.positives) + ["taxes"] * len(EXAMPLES.negatives)
    return ESTIMATORS[name].__sklearn_clone__().fit([each.text for each in documents], labels)


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_estimators_work_unchanged(name: str) -> None:
    check_page_model(lambda: EstimatorModel(ESTIMATORS[name]))


def test_the_given_estimator_is_not_touched() -> None:
    estimator = make_pipeline(CountVectorizer(), MultinomialNB())
    EstimatorModel(estimator).fit(EXAMPLES)
    assert not hasattr(estimator[-1], "classes_")


def test_linear_pipelines_name_their_terms() -> None:
    page = Page(url="https://a.example/", id=1, text="the owl and its feather")
    verdict = EstimatorModel().fit(EXAMPLES).judge(page)
    assert "owl" in dict(verdict.terms)
    assert "tax" not in dict(verdict.terms)


@pytest.mark.parametrize("name", ["naive Bayes", "linear SVM"])
def test_fitted_estimators_are_used_as_they_are(name: str) -> None:
    estimator = fitted(name)
    model = EstimatorModel(estimator, positive="owls").fit(Examples())
    owls, taxes = model.judge_texts(["owl nest feather", "tax audit refund"])
    assert owls > 0.5 > taxes
    assert EstimatorModel(estimator).judge_texts(["tax audit refund"])[0] > 0.5


def test_unknown_class_is_refused() -> None:
    with pytest.raises(TopicError, match="knows no class 'cats'"):
        EstimatorModel(fitted("naive Bayes"), positive="cats").judge_texts(["owl"])


def test_unlabelled_text_stands_in_for_negatives() -> None:
    unlabelled = tuple(Document(each.text) for each in EXAMPLES.negatives)
    model = EstimatorModel().fit(Examples(positives=EXAMPLES.positives, unlabelled=unlabelled))
    assert model.judge_texts(["owl feather"])[0] > 0.5


@pytest.mark.parametrize(
    "examples",
    [Examples(positives=EXAMPLES.positives), Examples(negatives=EXAMPLES.negatives, keywords=("owl",))],
)
def test_one_class_is_not_enough(examples: Examples) -> None:
    with pytest.raises(TopicError, match="both kinds"):
        EstimatorModel().fit(examples)


def test_examples_without_words_are_refused() -> None:
    empty = (Document("the of"),)
    with pytest.raises(TopicError, match="cannot learn from these examples"):
        EstimatorModel().fit(Examples(positives=empty, negatives=empty))


def test_resume_with_examples_does_not_fit_twice() -> None:
    saved = EstimatorModel().fit(EXAMPLES).save()
    model = EstimatorModel().fit(EXAMPLES)
    before = model._model
    assert model.load(saved)._model is before
    assert model.fingerprint == saved.values["examples"]


def test_another_estimator_is_not_taken_for_the_saved_one() -> None:
    saved = EstimatorModel(ESTIMATORS["naive Bayes"]).fit(EXAMPLES).save()
    with pytest.raises(CollectionError, match="give the same one"):
        EstimatorModel(ESTIMATORS["linear SVM"]).load(saved)


def test_fitted_estimators_resume_with_the_same_one_only() -> None:
    estimator = fitted("naive Bayes")
    saved = EstimatorModel(estimator, positive="owls").save()
    assert not saved.arrays
    EstimatorModel(estimator, positive="owls").load(saved)
    with pytest.raises(CollectionError):
        EstimatorModel(ESTIMATORS["naive Bayes"]).load(saved)


def test_saved_texts_come_back_exactly() -> None:
    odd = (Document("owl \ud800 \x00 鸟"), Document(""), Document("owl nest"))
    saved = EstimatorModel().fit(Examples(positives=odd, negatives=EXAMPLES.negatives)).save()
    loaded = EstimatorModel().load(saved)
    assert loaded._texts[:3] == tuple(each.text for each in odd)
    assert isinstance(saved, Saved)
    assert saved.arrays["labels"].dtype == np.bool_
