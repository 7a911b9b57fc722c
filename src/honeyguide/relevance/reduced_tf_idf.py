"""Reduced TF-IDF: a page as its forty strongest phrases of a small vocabulary."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
MOST_PHRASES: Final = 100_000
"""Phrases of the master documents that are looked at, the most frequent."""


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

    The vocabulary is the `size` strongest phrases of all master documents joined. N and n(w) come from a
    reference corpus; without one, from a built-in table of common words, where a phrase of two words is as
    common as independent words would make it. A phrase that the reference never saw counts as seen once.

    Args:
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
        self._weights: list[float] = self.idf.tolist()
        self._analyser = analyser or Analyser()
        self._keep = keep
        self._table = _PhraseTable(self.terms)

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
        size: int = 5000,
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
        found = [term for term, _ in counts.most_common(MOST_PHRASES)]
        idf = dict(zip(found, _idf(found, reference, analyser), strict=True))
        found.sort(key=lambda term: (-counts[term] * idf[term], term))
        terms = sorted(term for term in found[:size] if idf[term] > 0.0)
        return cls(terms, np.array([idf[term] for term in terms]), analyser=analyser, keep=keep)

    def counts(self, title: str, text: str) -> dict[int, int]:
        """How often each phrase of the vocabulary occurs in a document, by its number."""
        return self._table.counts(self._analyser.terms(f"{title}\n{text}"))

    def features(self, title: str, text: str) -> Features:
        """The strongest components of a document, with their counts."""
        return self.strongest(self.counts(title, text))

    def strongest(self, counts: Mapping[int, int]) -> Features:
        """The strongest components of a document whose phrases are counted."""
        weights = self._weights
        # Dividing by the largest count of the document changes no order, so it is left out.
        best = sorted(counts.items(), key=lambda item: (-item[1] * weights[item[0]], item[0]))[: self._keep]
        return Features(
            np.array([place for place, _ in best], dtype=np.int32),
            np.array([count for _, count in best], dtype=np.int32),
        )

    def values(self) -> dict[str, object]:
        """Everything but the weights, as JSON values."""
        analyser = self._analyser
        return {
            "terms": list(self.terms),
            "languages": list(analyser.languages),
            "segmenter": analyser.segmenter,
        }

    @classmethod
    def load(cls, values: object, idf: NDArray[np.generic], *, keep: int) -> Self:
        """Take back what `values` gave."""
        kept = msgspec.convert(values, _Values)
        analyser = Analyser(kept.languages, segmenter=kept.segmenter)
        return cls(kept.terms, idf.astype(np.float64), analyser=analyser, keep=keep)


class _PhraseTable:
    """Numbers of phrases, found in one pass without making the phrases of a text."""

    def __init__(self, phrases: Sequence[str]) -> None:
        self._single: dict[str, int] = {}
        self._pairs: dict[str, dict[str, int]] = {}
        for number, phrase in enumerate(phrases):
            first, _, second = phrase.partition(" ")
            if second:
                self._pairs.setdefault(first, {})[second] = number
            else:
                self._single[first] = number

    def counts(self, terms: Iterable[str]) -> dict[int, int]:
        single, pairs = self._single, self._pairs
        counts: dict[int, int] = {}
        followers: dict[str, int] | None = None
        for term in terms:
            if followers is not None and (place := followers.get(term)) is not None:
                counts[place] = counts.get(place, 0) + 1
            if (place := single.get(term)) is not None:
                counts[place] = counts.get(place, 0) + 1
            followers = pairs.get(term)
        return counts


def _phrases(terms: Sequence[str]) -> Iterable[str]:
    yield from terms
    for first, second in pairwise(terms):
        yield f"{first} {second}"


def _idf(phrases: Sequence[str], reference: Sequence[Document], analyser: Analyser) -> list[float]:
    if len(reference) < LEAST_BACKGROUND:
        common = background(analyser)
        most = math.log(common.documents)
        return [min(most, sum(map(common.idf, phrase.split(" ")))) for phrase in phrases]
    table = _PhraseTable(phrases)
    spread = [0] * len(phrases)
    for document in reference:
        for number in table.counts(analyser.terms(f"{document.title}\n{document.text}")):
            spread[number] += 1
    return [math.log(len(reference) / max(1, one)) for one in spread]
