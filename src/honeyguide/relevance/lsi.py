"""Latent semantic indexing as a page model: relevance in a space learned from unlabelled text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal, Self, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from honeyguide.errors import TopicError
from honeyguide.model import Document, Examples, Page, Verdict
from honeyguide.relevance.calibration import separating_value
from honeyguide.store.models import Saved
from honeyguide.text.latent import LatentSpace, Weighting, fit_space, fit_terms, query_vector
from honeyguide.text.vectors import normalise_rows

Array: TypeAlias = NDArray[np.float64]
Combination: TypeAlias = Literal["query", "noisy-or"]

TOP_TERMS: Final = 10
TOP_SHARE: Final = 0.9
"""Without examples, the tenth of the corpus nearest to the query counts as on topic."""
LEAST_THRESHOLD: Final = 0.2


class Lsi:
    """Scores a page by its cosine with the topic in the latent space of a text corpus.

    Term-document matrix of the corpus (unlabelled text and the texts of examples), columns at length
    one, truncated SVD of rank k. A page is folded in as `U' d`. The cosine of page and topic is
    `(U'd . U'q) / (|U'd| |q|)`, and 0 where it is negative. The query's own length stays in the
    denominator, as in the literature: a query that the space covers badly scores low everywhere.

    `combine="query"`: q is the keywords, or the mean of the positive examples where there are none.
    `combine="noisy-or"`: `1 - prod(1 - cos)` over the positive examples, each a query of its own; only
    the `nearest` most similar count (with all of many, every page comes near 1). With negative
    examples too, the score is the share of the positives in the sum of both.

    The threshold is what best parts positives from negatives (or from the unlabelled text); with keywords
    only, the score that a tenth of the corpus reaches, but at least 0.2. A k above the rank of the
    matrix is cut to that rank.

    Args:
        k: Factors.
        terms: Most frequent stems that make up the vocabulary; the topic's own words join them.
        weighting: `count`, `log` or `binary` term weights.
        combine: `query` or `noisy-or`.
        nearest: Positive examples that count in noisy-or; 0 for all.
        threshold: On topic from this score on; None for the value described above.

    Example:
        >>> texts = ["owls nest in barns", "an owl hunts mice", "tax forms", "income tax law", "mice nest"]
        >>> corpus = tuple(Document(text) for text in texts)
        >>> model = Lsi(k=3).fit(Examples(keywords=("owl",), unlabelled=corpus))
        >>> near, far = model.judge_texts(["a nest of mice", "a law on income"])
        >>> near > 0.3 > far
        True

    References:
        Scott Deerwester et al., "Indexing by latent semantic analysis", Journal of the American Society
        for Information Science 41, 1990.
        George Almpanidis, Constantine Kotropoulos, Ioannis Pitas, "Combining text and link analysis for
        focused crawling: an application for vertical search engines", Information Systems 32, 2007.
    """

    def __init__(
        self,
        *,
        k: int = 50,
        terms: int = 1000,
        weighting: Weighting = "count",
        combine: Combination = "query",
        nearest: int = 5,
        threshold: float | None = None,
    ) -> None:
        self._k = k
        self._terms = terms
        self._weighting: Weighting = weighting
        self._combine: Combination = combine
        self._nearest = nearest
        self._given_threshold = threshold
        self._threshold = 0.0
        self._space: LatentSpace | None = None
        self._query = np.empty(0)
        self._projected = np.empty(0)
        self._pull = np.empty(0)
        self._examples = np.empty((0, 0))
        self._counterexamples = np.empty((0, 0))

    @property
    def space(self) -> LatentSpace:
        """The latent space; orders that work in it share it."""
        if self._space is None:
            raise TopicError("the page model knows no topic yet; call fit or load first")
        return self._space

    @property
    def query(self) -> Array:
        """The topic over the terms of the space, at length one."""
        return self._query

    def fit(self, examples: Examples) -> Self:
        """Decompose the corpus and place the topic in it."""
        if self._combine == "noisy-or" and not examples.positives:
            raise TopicError("noisy-or combines example pages and there are none; add 'examples' to [topic]")
        space = fit_space(examples, k=self._k, terms=self._terms, weighting=self._weighting)
        self._take(space, query_vector(space, examples))
        if self._combine == "noisy-or":
            self._examples = self._placed(examples.positives)
            self._counterexamples = self._placed(examples.negatives)
        self._threshold = self._line(examples) if self._given_threshold is None else self._given_threshold
        return self

    def judge(self, page: Page) -> Verdict:
        """Score a page by its title and visible text."""
        weights = self.space.weights(page.title, page.content)
        place = self.space.project(weights)
        score = self._score(place)
        return Verdict(
            score,
            score >= self._threshold,
            self._shares(weights, score),
            {"cosine": round(self._cosine(place), 9)},
        )

    def judge_texts(self, texts: Sequence[str]) -> list[float]:
        """Score short texts, each as a page of its own."""
        space = self.space
        return [self._score(space.project(space.weights(text))) for text in texts]

    def save(self) -> Saved:
        """The space, the query and the threshold."""
        values, arrays = self.space.described()
        values |= {"threshold": self._threshold, "combine": self._combine, "nearest": self._nearest}
        arrays |= {
            "query": self._query,
            "examples": self._examples,
            "counterexamples": self._counterexamples,
        }
        return Saved(values=values, arrays=arrays)

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave."""
        query = np.asarray(saved.arrays["query"], dtype=np.float64)
        self._take(LatentSpace.restored(saved.values, saved.arrays), query)
        self._threshold = cast("float", saved.values["threshold"])
        self._combine = cast("Combination", saved.values["combine"])
        self._nearest = cast("int", saved.values["nearest"])
        self._examples = np.asarray(saved.arrays["examples"], dtype=np.float64)
        self._counterexamples = np.asarray(saved.arrays["counterexamples"], dtype=np.float64)
        return self

    def _take(self, space: LatentSpace, query: Array) -> None:
        self._space = space
        self._query = query
        self._projected = query @ space.basis
        self._pull = space.basis @ self._projected

    def _placed(self, documents: Sequence[Document]) -> Array:
        """Documents in the latent space, one row each, at length one."""
        space = self.space
        places = np.zeros((len(documents), space.rank))
        for row, document in enumerate(documents):
            places[row] = space.project(space.weights(document.title, document.text))
        lengths = np.linalg.norm(places, axis=1, keepdims=True)
        return np.asarray(places / np.where(lengths > 0.0, lengths, 1.0))

    def _cosine(self, place: Array) -> float:
        length = float(np.linalg.norm(place))
        return float(place @ self._projected) / length if length > 0.0 else 0.0

    def _score(self, place: Array) -> float:
        if self._combine == "query":
            return min(1.0, max(0.0, self._cosine(place)))
        for_topic = self._any_of(place, self._examples)
        if not len(self._counterexamples):
            return for_topic
        against = self._any_of(place, self._counterexamples)
        return for_topic / (for_topic + against) if for_topic else 0.0

    def _any_of(self, place: Array, examples: Array) -> float:
        """Noisy-or: the chance that at least one of the examples speaks for the page."""
        length = float(np.linalg.norm(place))
        if not length:
            return 0.0
        cosines = np.clip(examples @ (place / length), 0.0, 1.0)
        if self._nearest and len(cosines) > self._nearest:
            cosines = np.sort(cosines)[-self._nearest :]
        return float(1.0 - np.prod(1.0 - cosines))

    def _shares(self, weights: dict[int, float], score: float) -> tuple[tuple[str, float], ...]:
        """The page's terms that speak for the topic, scaled so that they add up to the score."""
        if not weights or score <= 0.0:
            return ()
        numbers = np.fromiter(weights.keys(), np.int64, len(weights))
        pull = self._pull[numbers] * np.fromiter(weights.values(), np.float64, len(weights))
        shares = np.maximum(0.0, pull)
        total = float(shares.sum())
        if not total:
            return ()
        if len(shares) > TOP_TERMS:  # a page has hundreds of terms: only the best are put in order
            best = np.flatnonzero(shares >= np.partition(shares, -TOP_TERMS)[-TOP_TERMS])
            numbers, shares = numbers[best], shares[best]
        names = self.space.vocabulary.terms
        terms = (names[number] for number in numbers.tolist())
        top = sorted(zip(shares.tolist(), terms, strict=True), key=_strongest)
        # Rounding down keeps the sum of the shares at or below the score.
        scaled = ((term, math.floor(share / total * score * 1e9) / 1e9) for share, term in top[:TOP_TERMS])
        return tuple((term, share) for term, share in scaled if share > 0.0)

    def _line(self, examples: Examples) -> float:
        _, rows, _ = fit_terms(examples, terms=self._terms, weighting=self._weighting)
        scores = [self._score(place) for place in np.asarray(normalise_rows(rows) @ self.space.basis)]
        first, last = len(examples.unlabelled), len(examples.unlabelled) + len(examples.positives)
        low = scores[last:] or scores[:first]
        if examples.positives:
            return separating_value(scores[first:last], low)
        return max(LEAST_THRESHOLD, float(np.quantile(low, TOP_SHARE)))


def _strongest(item: tuple[float, str]) -> tuple[float, str]:
    return -item[0], item[1]
