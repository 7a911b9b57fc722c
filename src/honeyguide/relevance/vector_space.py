"""The plain vector space model over the most frequent terms of a corpus: the page model of SS1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Self

import msgspec
import numpy as np

from honeyguide.errors import TopicError
from honeyguide.model import Examples, Page, Verdict
from honeyguide.store.models import Saved
from honeyguide.text.latent import TermSpace, Weighting, fit_terms, topic_weights
from honeyguide.text.segmentation import Segmenter
from honeyguide.text.tokens import Analyser

TOP_TERMS: Final = 10


class _Learned(msgspec.Struct, frozen=True):
    terms: tuple[str, ...]
    weighting: Weighting
    languages: tuple[str, ...]
    segmenter: Segmenter
    topic: dict[int, float]
    """Weights by term number, at length one."""


class VectorSpace:
    """Cosine of term frequencies with the topic's words, over the most frequent terms of the background.

    Args:
        terms: Most frequent stems that make up the vocabulary, 1,000 in the study; the topic's own words
            join them.
        weighting: `count`, `log` or `binary` term weights.
        threshold: On topic from this score on.

    Example:
        >>> from honeyguide.model import Document
        >>> texts = ("owls nest in barns", "an owl hunts", "tax forms", "income tax law")
        >>> model = VectorSpace().fit(Examples(keywords=("owl",), unlabelled=tuple(map(Document, texts))))
        >>> [round(score, 3) for score in model.judge_texts(["owl nest", "tax"])]
        [0.707, 0.0]

    References:
        Gerard Salton, Michael McGill, "Introduction to Modern Information Retrieval", 1983.
        George Almpanidis, Constantine Kotropoulos, Ioannis Pitas, "Combining text and link analysis for
        focused crawling: an application for vertical search engines", Information Systems 32, 2007.
    """

    def __init__(self, *, terms: int = 1000, weighting: Weighting = "count", threshold: float = 0.1) -> None:
        self.threshold = threshold
        self._terms = terms
        self._weighting: Weighting = weighting
        self._space: TermSpace | None = None
        self._topic: dict[int, float] = {}

    def fit(self, examples: Examples) -> Self:
        """Take the vocabulary from the texts and the topic from its words (or the example pages)."""
        space, _, _ = fit_terms(examples, terms=self._terms, weighting=self._weighting)
        topic = topic_weights(space, examples)
        length = math.sqrt(math.fsum(weight * weight for weight in topic.values()))
        self._space = space
        self._topic = {number: weight / length for number, weight in topic.items()}
        return self

    def judge(self, page: Page) -> Verdict:
        """Score a page by its title and visible text."""
        space = self._fitted()
        shares = self._shares(space.weights(page.title, page.content))
        score = min(1.0, math.fsum(shares.values()))
        names = space.vocabulary.terms
        top = sorted(((names[number], share) for number, share in shares.items()), key=_strongest)[:TOP_TERMS]
        # Rounding down keeps the sum of the shares at or below the score.
        terms = tuple((term, math.floor(share * 1e9) / 1e9) for term, share in top)
        return Verdict(score, score >= self.threshold, terms)

    def judge_texts(self, texts: Sequence[str]) -> list[float]:
        """Score short texts, each as a page of its own."""
        space = self._fitted()
        return [min(1.0, math.fsum(self._shares(space.weights(text)).values())) for text in texts]

    def save(self) -> Saved:
        """Vocabulary and topic."""
        space = self._fitted()
        analyser = space.analyser
        kept = _Learned(
            space.vocabulary.terms, space.weighting, analyser.languages, analyser.segmenter, self._topic
        )
        return Saved(values={"learned": msgspec.to_builtins(kept, str_keys=True)})

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave."""
        kept = msgspec.convert(saved.values["learned"], _Learned, strict=False)
        analyser = Analyser(kept.languages, segmenter=kept.segmenter)
        self._space = TermSpace(kept.terms, weighting=kept.weighting, analyser=analyser)
        self._topic = kept.topic
        return self

    def _fitted(self) -> TermSpace:
        if self._space is None:
            raise TopicError("the page model knows no topic yet; call fit or load first")
        return self._space

    def _shares(self, weights: dict[int, float]) -> dict[int, float]:
        """What each topic word adds to the cosine."""
        values = np.fromiter(weights.values(), np.float64, len(weights))
        length = float(np.sqrt(values @ values))
        shared = self._topic.keys() & weights.keys()
        return {number: self._topic[number] * weights[number] / length for number in sorted(shared)}


def _strongest(item: tuple[str, float]) -> tuple[float, str]:
    return -item[1], item[0]
