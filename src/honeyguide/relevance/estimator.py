"""Any scikit-learn text classifier as a page model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, Self

import msgspec
import numpy as np
import xxhash
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted

from honeyguide.errors import CollectionError, TopicError
from honeyguide.model import Document, Examples, Page, Verdict
from honeyguide.store.models import Saved
from honeyguide.text.tokens import MAX_CHARACTERS, Analyser

PROBES: Final = ("", "home page contact", "network learning theory", "river mountain bird", "神经 网络 模型")
"""Texts by whose scores two estimators are told apart."""
TOP_TERMS: Final = 10


class EstimatorModel:
    """Judges pages with any scikit-learn estimator or pipeline that takes raw texts.

    The estimator is used as it is: `predict_proba` gives the score, or `decision_function` squashed by
    the logistic function. An estimator that is already fitted is not fitted again; any other is fitted
    on the positive and negative examples (without negatives, on the unlabelled text as negatives).

    Estimators are objects, and objects would need pickle to be saved. What is saved instead is what it was
    fitted on: `load` fits a fresh clone on the same texts, and compares the scores of a few probe texts.
    An estimator fitted by the user is saved as its probe scores alone: on resuming, give the same one.

    Args:
        estimator: Takes a list of texts; None for TF-IDF of our own terms with logistic regression.
        threshold: On topic from this score on.
        positive: The class that is on topic, for estimators fitted elsewhere; None for the last class.

    Example:
        >>> model = EstimatorModel().fit(Examples(
        ...     positives=(Document("owls nest in trees"), Document("an owl hoots at night")),
        ...     negatives=(Document("income tax forms"), Document("tax office hours")),
        ... ))
        >>> model.judge_texts(["the owl", "the tax"])[0] > 0.5
        True
    """

    def __init__(
        self, estimator: Any = None, *, threshold: float = 0.5, positive: object | None = None
    ) -> None:
        self._estimator = estimator
        self._threshold = threshold
        self._positive = positive
        self._model: Any = None
        self._names: Any = None
        self._texts: tuple[str, ...] = ()
        self._labels: tuple[bool, ...] = ()
        self._languages: tuple[str, ...] = ("en",)
        if estimator is not None and _is_fitted(estimator):
            self._model = estimator

    def fit(self, examples: Examples) -> Self:
        """Fit the estimator on the examples, unless it came fitted."""
        if self._given_fitted:
            return self
        others = examples.negatives or examples.unlabelled
        if not examples.positives or not others:
            missing = "positive" if not examples.positives else "negative"
            raise TopicError(f"a classifier needs examples of both kinds; give {missing} examples too")
        documents = (*examples.positives, *others)
        labels = tuple(index < len(examples.positives) for index in range(len(documents)))
        self._learn(tuple(map(_text, documents)), labels, tuple(examples.languages))
        return self

    def judge(self, page: Page) -> Verdict:
        """Score a page by its title and visible text."""
        text = _text(Document(page.content, page.title))
        score = self.judge_texts([text])[0]
        return Verdict(score, score >= self._threshold, self._terms(text, score))

    def judge_texts(self, texts: Sequence[str]) -> list[float]:
        """Score texts, each as a page of its own."""
        model = self._fitted()
        if not texts:
            return []
        cut = [text[:MAX_CHARACTERS] for text in texts]
        if hasattr(model, "predict_proba"):
            chances = np.asarray(model.predict_proba(cut), dtype=np.float64)[:, self._column()]
        else:
            margin = np.asarray(model.decision_function(cut), dtype=np.float64)
            if margin.ndim == 2:
                margin = margin[:, self._column()]
            elif self._column() == 0:
                margin = -margin
            chances = 0.5 * (1.0 + np.tanh(0.5 * margin))
        return [float(chance) for chance in np.clip(np.nan_to_num(chances), 0.0, 1.0)]

    def save(self) -> Saved:
        """The texts it was fitted on with a fingerprint, and the probe scores."""
        values: dict[str, object] = {"probes": self.judge_texts(PROBES), "examples": self.fingerprint}
        if self._given_fitted:
            return Saved(values=values)
        encoded = [text.encode("utf-8", "surrogatepass") for text in self._texts]
        arrays: dict[str, NDArray[np.generic]] = {
            "texts": np.frombuffer(b"".join(encoded), dtype=np.uint8),
            "ends": np.cumsum([len(each) for each in encoded], dtype=np.int64),
            "labels": np.array(self._labels, dtype=np.bool_),
        }
        return Saved(values={**values, "languages": list(self._languages)}, arrays=arrays)

    def load(self, saved: Saved) -> Self:
        """Fit again on the saved texts, and make sure that it is the same model."""
        if "texts" in saved.arrays:
            joined, starts = saved.arrays["texts"].tobytes(), [0, *saved.arrays["ends"].tolist()]
            texts = tuple(joined[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(starts))
            languages = msgspec.convert(saved.values["languages"], tuple[str, ...])
            labels = tuple(bool(label) for label in saved.arrays["labels"])
            if not self._given_fitted and (texts, labels, languages) != self._learned_from:
                self._learn(texts, labels, languages)
        expected = msgspec.convert(saved.values["probes"], list[float])
        if self._model is None or not np.allclose(self.judge_texts(PROBES), expected, atol=1e-6):
            raise CollectionError(
                "the estimator is not the one this collection was begun with; give the same one, with a "
                "fixed random_state, or start a new collection"
            )
        return self

    @property
    def fingerprint(self) -> str:
        """Hash of the texts and labels it was fitted on; empty where it came fitted."""
        if not self._texts:
            return ""
        digest = xxhash.xxh3_128()
        for text, label in zip(self._texts, self._labels, strict=True):
            digest.update(b"+" if label else b"-")
            digest.update(text.encode("utf-8", "surrogatepass") + b"\x00")
        return digest.hexdigest()

    @property
    def _given_fitted(self) -> bool:
        return self._model is not None and self._model is self._estimator

    @property
    def _learned_from(self) -> tuple[tuple[str, ...], tuple[bool, ...], tuple[str, ...]]:
        return self._texts, self._labels, self._languages

    def _learn(self, texts: tuple[str, ...], labels: tuple[bool, ...], languages: tuple[str, ...]) -> None:
        fresh = _usual(languages) if self._estimator is None else clone(self._estimator)
        try:
            fresh.fit(list(texts), np.array(labels, dtype=np.int64))
        except (ValueError, TypeError) as problem:
            reason = str(problem).partition("\n")[0]
            raise TopicError(
                f"the estimator cannot learn from these examples ({reason}); give it texts it can use"
            ) from problem
        self._model, self._names = fresh, None
        self._texts, self._labels, self._languages = texts, labels, languages

    def _fitted(self) -> Any:
        if self._model is None:
            raise TopicError("the page model knows no topic yet; call fit or load first")
        return self._model

    def _column(self) -> int:
        classes = list(getattr(self._model, "classes_", ()))
        if not self._given_fitted or self._positive is None or not classes:
            return -1
        if self._positive not in classes:
            raise TopicError(f"the estimator knows no class {self._positive!r}; it has {classes[:10]}")
        place = classes.index(self._positive)
        return -1 if place == len(classes) - 1 else place

    def _terms(self, text: str, score: float) -> tuple[tuple[str, float], ...]:
        """Shares of the words that speak for the topic, where the pipeline ends in a linear model."""
        model = self._model
        if not isinstance(model, Pipeline) or not hasattr(model[-1], "coef_") or not score:
            return ()
        if not hasattr(model[0], "get_feature_names_out") or len(model[-1].coef_) != 1:
            return ()
        row = model[:-1].transform([text[:MAX_CHARACTERS]])
        if self._names is None:
            self._names = model[:-1].get_feature_names_out()
        names = self._names
        if not hasattr(row, "indices"):
            return ()
        gains = row.data * model[-1].coef_[0][row.indices]
        best = [int(i) for i in np.argsort(-gains, kind="stable")[:TOP_TERMS] if gains[i] > 0.0]
        total = float(gains[gains > 0.0].sum())
        return tuple(
            (str(names[row.indices[i]]), math.floor(score * float(gains[i]) / total * 1e9) / 1e9)
            for i in best
        )


def _text(document: Document) -> str:
    return f"{document.title}\n{document.text}" if document.title else document.text


def _is_fitted(estimator: Any) -> bool:
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def _usual(languages: tuple[str, ...]) -> Pipeline:
    vectors = TfidfVectorizer(analyzer=Analyser(languages).terms, sublinear_tf=True, max_features=50_000)
    return make_pipeline(vectors, LogisticRegression(C=10.0, class_weight="balanced", random_state=0))
