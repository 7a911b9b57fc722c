"""A page model that people have corrected: the model's own score, moved by what their reviews teach."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any, Final, Self, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.errors import CollectionError
from honeyguide.model import Document, Page, UrlId, Verdict
from honeyguide.model.examples import Examples
from honeyguide.relevance.base import OnlinePageModel, PageModel, RememberingPageModel, TeachablePageModel
from honeyguide.store.models import Saved
from honeyguide.text.background import background
from honeyguide.text.lbfgs import minimise
from honeyguide.text.tokens import Analyser
from honeyguide.text.weighting import dot, log_frequencies, normalised, strongest

LOOSENESS: Final = 30.0
"""Inverse of the penalty on moving scores; 10 to 100 do equally well (`lab run review`)."""
SURE: Final = 1e-3
"""Scores closer than this to 0 or 1 count as this far away."""
MOST_REVIEWS: Final = 400
"""Reviews that are learned from: the newest."""
MOST_TERMS: Final = 5000
MOST_CHARACTERS: Final = 20_000
TOP_TERMS: Final = 10


class Reviewed(msgspec.Struct, frozen=True):
    """A page with a person's word on it."""

    url: str
    title: str
    text: str
    main_text: str
    language: str
    accepted: bool

    @classmethod
    def of(cls, page: Page, *, accepted: bool) -> Reviewed:
        """What is learned from a page."""
        texts = (page.text[:MOST_CHARACTERS], page.main_text[:MOST_CHARACTERS])
        return cls(page.url, page.title[:1000], *texts, page.language, accepted)

    @property
    def page(self) -> Page:
        """As a page to judge."""
        return Page(self.url, 0, self.title, self.text, self.main_text, self.language)

    @property
    def document(self) -> Document:
        """As an example."""
        return Document(self.page.content, self.title, self.url, language=self.language)


class Lesson(msgspec.Struct, frozen=True):
    """What reviews taught; nothing of it counts before `ReviewedModel.take`."""

    reviewed: tuple[Reviewed, ...] = ()
    weights: dict[str, float] = {}
    """What a term adds to the logit of the score, by its share of a text's length."""
    shift: float = 0.0
    line: float = 0.5
    """Where the model parts on from off topic."""
    retrained: Any = None
    """The model itself, trained again, where it can be."""


class ReviewedModel:
    """Any page model with people's corrections on top; without reviews it answers as the model does.

    With reviews, the logit of the score is `logit(s) + w·x + b`: s is the model's own score, x the text's
    terms as unit vector of `(1 + log tf) * idf` (built-in table), and w, b come from logistic regression on
    the reviewed pages with the model's own logit as offset, both classes weighing the same. So w is a
    combination of the reviewed pages, as in Rocchio's relevance feedback, weighted by how wrong the model
    was about each. A model that can be trained again on true positives and negatives (`teach`, such as the
    weighted voting of CBP-SLC) is, and gets no correction on top.

    Args:
        inner: The page model.
        languages: For terms.

    Example:
        >>> from honeyguide.relevance.tf_cosine import TfCosine
        >>> model = ReviewedModel(TfCosine()).fit(Examples(keywords=("owl",)))
        >>> barn = Page("https://a.example/", 1, text="barn owl nests in the barn")
        >>> car = Page("https://b.example/", 2, text="owl tyres for your car, car parts")
        >>> before = model.judge(barn).score - model.judge(car).score
        >>> model.take(model.lesson([Reviewed.of(barn, accepted=True), Reviewed.of(car, accepted=False)]))
        >>> model.judge(barn).score - model.judge(car).score > before
        True

    References:
        J. J. Rocchio, "Relevance feedback in information retrieval", in: The SMART Retrieval System, 1971.
    """

    def __init__(self, inner: PageModel, *, languages: tuple[str, ...] = ("en",)) -> None:
        self.inner = inner
        self._lesson = Lesson()
        self._analyser = Analyser(languages)
        self._table = background(self._analyser)

    def __getattr__(self, name: str) -> Any:
        """What only the model itself has: its threshold, its description."""
        if name.startswith("__") or name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)

    @property
    def reviews(self) -> int:
        """Pages it has learned from."""
        return len(self._lesson.reviewed)

    def fit(self, examples: Examples) -> Self:
        """Fit the model; reviews are forgotten."""
        self.inner = self.inner.fit(examples)
        self._analyser = Analyser(examples.languages)
        self._table = background(self._analyser)
        self._lesson = Lesson()
        return self

    def judge(self, page: Page) -> Verdict:
        """The model's verdict, corrected."""
        verdict = self.inner.judge(page)
        if not self._lesson.weights:
            return verdict
        vector = self._vector(f"{page.title}\n{page.content}")
        moved = dot(vector, self._lesson.weights) + self._lesson.shift
        logit = _logit(verdict.score) + moved
        score = _chance(logit)
        terms = self._terms(verdict, vector, score)
        facts = {**verdict.facts, "before_reviews": verdict.score}
        return Verdict(score, logit >= _logit(self._lesson.line), terms, facts)

    def judge_texts(self, texts: Sequence[str]) -> list[float]:
        """The model's scores, corrected; a text without any known word is left alone."""
        scores = list(map(float, self.inner.judge_texts(texts)))
        if not self._lesson.weights:
            return scores
        weights, shift = self._lesson.weights, self._lesson.shift
        for place, text in enumerate(texts):
            vector = self._vector(text)
            if vector:
                scores[place] = _chance(_logit(scores[place]) + dot(vector, weights) + shift)
        return scores

    def lesson(self, reviewed: Sequence[Reviewed]) -> Lesson:
        """What these reviews teach: takes a moment, changes nothing, any thread may ask."""
        some = tuple(reviewed[-MOST_REVIEWS:])
        if not some:
            return Lesson(retrained=self._untaught())
        accepted = [one.document for one in some if one.accepted]
        rejected = [one.document for one in some if not one.accepted]
        if isinstance(self.inner, TeachablePageModel):
            pupil = copy.deepcopy(self.inner)
            if pupil.teach(accepted, rejected):
                return Lesson(some, retrained=pupil)
        return self._corrected(some)

    def take(self, lesson: Lesson) -> None:
        """Answer by a lesson from now on, instead of any before it."""
        if lesson.retrained is not None:
            self.inner = lesson.retrained
        self._lesson = msgspec.structs.replace(lesson, retrained=None)

    def save(self) -> Saved:
        """The model's own state as it is, or with the lesson around it."""
        saved, lesson = self.inner.save(), self._lesson
        if not lesson.reviewed:
            return saved
        values = {"reviewed": msgspec.to_builtins(lesson), "inner": saved.values}
        return Saved(values=values, arrays=saved.arrays)

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave."""
        if "reviewed" not in saved.values:
            self.inner = self.inner.load(saved)
            self._lesson = Lesson()
            return self
        try:
            lesson = msgspec.convert(saved.values["reviewed"], Lesson)
            values = msgspec.convert(saved.values["inner"], dict[str, object])
        except (KeyError, msgspec.ValidationError) as error:
            raise CollectionError(
                f"the reviewed model is damaged ({error}); apply the reviews again"
            ) from error
        self.inner = self.inner.load(Saved(values=values, arrays=saved.arrays))
        self._lesson = lesson
        return self

    def _untaught(self) -> PageModel | None:
        """The model without reviews, where they are inside it and all were undone."""
        if (
            not self._lesson.reviewed
            or self._lesson.weights
            or not isinstance(self.inner, TeachablePageModel)
        ):
            return None
        pupil = copy.deepcopy(self.inner)
        pupil.teach((), ())
        return pupil

    def _corrected(self, some: tuple[Reviewed, ...]) -> Lesson:
        verdicts = [self.inner.judge(one.page) for one in some]
        line = _line(verdicts, float(getattr(self.inner, "threshold", 0.5)))
        vectors = [self._vector(f"{one.title}\n{one.page.content}") for one in some]
        offsets = np.array([_logit(verdict.score) - _logit(line) for verdict in verdicts])
        accepted = np.array([one.accepted for one in some])
        parts, shift = _regression(vectors, offsets, accepted)
        weights: dict[str, float] = {}
        for vector, part in zip(vectors, parts.tolist(), strict=True):
            for term, value in vector.items():
                weights[term] = weights.get(term, 0.0) + part * value
        kept = strongest({term: abs(value) for term, value in weights.items()}, MOST_TERMS)
        return Lesson(some, {term: weights[term] for term in kept}, shift, line)

    def _vector(self, text: str) -> dict[str, float]:
        idf = self._table.idf
        counted = log_frequencies(self._analyser.terms(text[: 2 * MOST_CHARACTERS]))
        return normalised({term: value * idf(term) for term, value in counted.items()})

    def _terms(
        self, verdict: Verdict, vector: dict[str, float], score: float
    ) -> tuple[tuple[str, float], ...]:
        """The model's terms and those that reviews taught, with their shares of the new score."""
        own = math.fsum(share for _, share in verdict.terms) or 1.0
        parts = {term: share / own for term, share in verdict.terms}
        for term, value in vector.items():
            gain = value * self._lesson.weights.get(term, 0.0)
            if gain > 0.0:
                parts[term] = parts.get(term, 0.0) + gain
        total = math.fsum(parts.values())
        best = strongest(parts, TOP_TERMS)
        # Rounding down keeps the sum of the shares at or below the score.
        return tuple((term, math.floor(score * part / total * 1e9) / 1e9) for term, part in best.items())


class OnlineReviewedModel(ReviewedModel):
    """The same around a model that learns while the crawl runs."""

    def observe(self, page: Page, verdict: Verdict) -> bool:
        """Let the model learn; what reviews teach is worked out again when it has changed."""
        # Looking whether the model has all methods of an online one takes longer than learning a page.
        changed = cast(OnlinePageModel, self.inner).observe(page, verdict)
        if changed and self._lesson.reviewed:
            self.take(self.lesson(self._lesson.reviewed))
        return changed

    def remembered(self) -> Sequence[tuple[UrlId, Verdict]]:
        """What the model remembers; nothing where corrections lie on top, since they need the text."""
        if self._lesson.weights or not isinstance(self.inner, RememberingPageModel):
            return ()
        return self.inner.remembered()


def reviewable(model: PageModel, *, languages: tuple[str, ...] = ("en",)) -> PageModel:
    """A page model that can take reviews; one that can already is given back."""
    if isinstance(model, ReviewedModel):
        return model
    kind = OnlineReviewedModel if isinstance(model, OnlinePageModel) else ReviewedModel
    return kind(model, languages=languages)


def _line(verdicts: Sequence[Verdict], known: float) -> float:
    """Where the model parts on from off topic, as far as these verdicts tell."""
    low = max((verdict.score for verdict in verdicts if not verdict.on_topic), default=0.0)
    high = min((verdict.score for verdict in verdicts if verdict.on_topic), default=1.0)
    return known if low < known <= high or high < low else (low + high) / 2.0


def _regression(
    vectors: Sequence[dict[str, float]], offsets: NDArray[np.float64], accepted: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], float]:
    """Logistic regression with offsets, in the span of the texts: each text's part in w, and b."""
    count = len(vectors)
    gram = np.array([[dot(one, other) for other in vectors] for one in vectors])
    side = np.where(accepted, 1.0, -1.0)
    sizes = {True: max(1, int(accepted.sum())), False: max(1, int((~accepted).sum()))}
    both = bool(accepted.any() and not accepted.all())
    weight = np.array([0.5 * count / sizes[bool(one)] if both else 1.0 for one in accepted])

    def loss(parts: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        own, shift = parts[:-1], parts[-1]
        spread = gram @ own
        margin = side * (offsets + spread + shift)
        pull = -weight * side * 0.5 * (1.0 - np.tanh(0.5 * margin))
        value = float(weight @ np.logaddexp(0.0, -margin) + own @ spread / (2 * LOOSENESS) + 0.05 * shift**2)
        return value, np.append(gram @ (pull + own / LOOSENESS), pull.sum() + 0.1 * shift)

    found = minimise(loss, np.zeros(count + 1))
    return found[:-1], float(found[-1])


def _logit(score: float) -> float:
    score = min(max(score, SURE), 1.0 - SURE)
    return math.log(score / (1.0 - score))


def _chance(logit: float) -> float:
    return 0.5 * (1.0 + math.tanh(0.5 * logit))
