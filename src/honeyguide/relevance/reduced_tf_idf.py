"""Reduced TF-IDF: a page as its forty strongest phrases of a small vocabulary."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.model import Document
from honeyguide.text.background import background
from honeyguide.text.segmentation import Segmenter
from honeyguide.text.tokens import Analyser

LEAST_BACKGROUND: Final = 50
"""Fewer documents say less of common phrases than the built-in table of words."""
MOST_PHRASES: Final = 50_000


class Features(msgspec.Struct, frozen=True):
    """The components that a document keeps, strongest first."""

    columns: NDArray[np.int32]
    counts: NDArray[np.int32]
    """How often each occurs in the document."""


class _Values(msgspec.Struct, frozen=True):
    terms: tuple[str, ...]
    languages: tuple[str, ...]
    segmenter: Segmenter


class ReducedTfIdf:
    """Phrases of one and two stemmed words, weighed by `f(w,d) / max f(d) * log(N / n(w))`.

    The vocabulary is what occurs in the master documents. N and n(w) come from a reference corpus; without
    one, from a built-in table of common words, where a phrase of two words is as common as independent
    words would make it. A phrase that the reference never saw counts as seen once.

    Parameters:
        keep: Components that a document keeps.

    References:
        Diligenti et al., "Focused crawling using context graphs", VLDB 2000, section 3.2.
    """

    def __init__(
        self,
        terms: Sequence[str] = (),
        idf: NDArray[np.float64] | None = None,
        *,
        analyser: Analyser | None = None,
        keep: int = 40,
    ) -> None:
        self.terms = tuple(terms)
        self.idf = np.zeros(0) if idf is None else idf
        self._column = {term: column for column, term in enumerate(self.terms)}
        self._weights: list[float] = self.idf.tolist()
        self._analyser = analyser or Analyser()
        self._keep = keep

    def __len__(self) -> int:
        """Size of the vocabulary."""
        return len(self.terms)

    @classmethod
    def learn(
        cls,
        master: Iterable[Document],
        reference: Sequence[Document],
        *,
        languages: Sequence[str] = ("en",),
        keep: int = 40,
    ) -> Self:
        """Vocabulary from the master documents, weights from the reference corpus.

        Example:
            >>> text = ReducedTfIdf.learn([Document("barn owl")], [])
            >>> text.terms, text.features("", "an owl in a barn").counts.tolist()
            (('barn', 'barn owl', 'owl'), [1, 1])
        """
        analyser = Analyser(languages)
        counts: Counter[str] = Counter()
        for document in master:
            counts.update(_phrases(analyser.terms(f"{document.title}\n{document.text}")))
        kept = [term for term, _ in counts.most_common(MOST_PHRASES)]
        weights = _idf(frozenset(kept), reference, analyser)
        terms = sorted(term for term in kept if weights[term] > 0.0)
        return cls(terms, np.array([weights[term] for term in terms]), analyser=analyser, keep=keep)

    def features(self, title: str, text: str) -> Features:
        """The strongest components of a document, with their counts."""
        column = self._column
        counts: dict[int, int] = {}
        for phrase in _phrases(self._analyser.terms(f"{title}\n{text}")):
            place = column.get(phrase)
            if place is not None:
                counts[place] = counts.get(place, 0) + 1
        weights = self._weights
        # Dividing by the largest count of the document changes no order, so it is left out.
        best = sorted(counts.items(), key=lambda item: (-item[1] * weights[item[0]], item[0]))[: self._keep]
        return Features(
            np.array([place for place, _ in best], dtype=np.int32),
            np.array([count for _, count in best], dtype=np.int32),
        )

    def values(self) -> dict[str, object]:
        """Everything but the weights, as JSON values."""
        kept = _Values(self.terms, self._analyser.languages, self._analyser.segmenter)
        return {"terms": list(kept.terms), "languages": list(kept.languages), "segmenter": kept.segmenter}

    @classmethod
    def load(cls, values: object, idf: NDArray[np.generic], *, keep: int) -> Self:
        """Take back what `values` gave."""
        kept = msgspec.convert(values, _Values)
        analyser = Analyser(kept.languages, segmenter=kept.segmenter)
        return cls(kept.terms, idf.astype(np.float64), analyser=analyser, keep=keep)


def _phrases(terms: Sequence[str]) -> Iterable[str]:
    yield from terms
    for first, second in pairwise(terms):
        yield f"{first} {second}"


def _idf(phrases: frozenset[str], reference: Sequence[Document], analyser: Analyser) -> dict[str, float]:
    if len(reference) < LEAST_BACKGROUND:
        table = background(analyser)
        most = math.log(table.documents)
        return {phrase: min(most, sum(map(table.idf, phrase.split(" ")))) for phrase in phrases}
    spread: Counter[str] = Counter()
    for document in reference:
        found = set(_phrases(analyser.terms(f"{document.title}\n{document.text}")))
        spread.update(found & phrases)
    return {phrase: math.log(len(reference) / max(1, spread[phrase])) for phrase in phrases}
