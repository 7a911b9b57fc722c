"""Okapi similarity trained on what the topic query retrieves: the page model of SS2."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, Self, cast

import msgspec

from honeyguide.errors import TopicError
from honeyguide.model import Document, Examples, Page, Verdict
from honeyguide.relevance.calibration import separating_value
from honeyguide.store.models import Saved
from honeyguide.text.background import background
from honeyguide.text.segmentation import Segmenter
from honeyguide.text.tokens import Analyser
from honeyguide.text.weighting import (
    DocumentFrequencies,
    centroid,
    document_frequencies,
    dot,
    norm,
    normalised,
    okapi,
    strongest,
)
from honeyguide.topic.wordless import nothing_to_look_for

DEFAULT_THRESHOLD: Final = 0.1
TOP_TERMS: Final = 10
LEAST_BACKGROUND: Final = 20
"""Fewer unlabelled documents say less of common words than the built-in table."""


class _Learned(msgspec.Struct, frozen=True):
    topic: dict[str, float]
    table: DocumentFrequencies
    threshold: float
    languages: tuple[str, ...]
    segmenter: Segmenter
    known: tuple[str, ...] | None = None
    """The vocabulary, where it is limited."""


class Okapi:
    """Cosine of the page's Okapi weights with those of the topic's sample documents.

    The sample is what the topic words retrieve from the unlabelled text: the `retrieved` documents with
    the largest sums of Okapi weights of topic words. Positive examples join the sample. The topic vector
    is the centroid of the sample, cut to its `terms` strongest terms, plus the query itself; without any
    sample it is the query alone, with document frequencies from a built-in table of common words.
    Documents outside the sample are taken as off topic to set the threshold, the negatives too.

    Args:
        k1: How slowly repetition saturates.
        b: How much length counts against a document.
        retrieved: Documents taken from the unlabelled text.
        terms: Terms of the topic vector.
        vocabulary: Look only at so many of the most frequent stems of the unlabelled text and at the topic's
            own words (1,000 in the WebKB study); None for all.
        threshold: On topic from this score on; None to set it from the examples (0.1 without).

    Example:
        >>> model = Okapi().fit(Examples(keywords=("owl", "nest")))
        >>> owls = Page(url="https://a.example/", id=1, text="Owls nest in trees. An owl hoots.")
        >>> model.judge(owls).on_topic, model.judge_texts(["income tax"])
        (True, [0.0])

    References:
        Stephen Robertson, Karen Sparck Jones, "Simple, proven approaches to text retrieval",
        Technical Report 356, University of Cambridge, 1994.
        George Almpanidis, Constantine Kotropoulos, Ioannis Pitas, "Combining text and link analysis for
        focused crawling: an application for vertical search engines", Information Systems 32, 2007.
    """

    def __init__(
        self,
        *,
        k1: float = 2.0,
        b: float = 0.75,
        retrieved: int = 50,
        terms: int = 200,
        vocabulary: int | None = None,
        threshold: float | None = None,
    ) -> None:
        self._vocabulary = vocabulary
        self._k1 = k1
        self._b = b
        self._retrieved = retrieved
        self._terms = terms
        self._threshold = threshold
        self._analyser = Analyser()
        self._known: frozenset[str] | None = None
        self._learned: _Learned | None = None

    def fit(self, examples: Examples) -> Self:
        """Retrieve the sample and weigh its terms."""
        self._analyser = Analyser(examples.languages)
        query = dict.fromkeys(self._analyser.terms(" ".join(examples.keywords or examples.taxonomy)), 1.0)
        if not query and not examples.positives:
            raise TopicError(nothing_to_look_for(examples.keywords))
        unlabelled = [self._analyser.terms(_text(each)) for each in examples.unlabelled]
        table = background(self._analyser)
        if len(unlabelled) >= LEAST_BACKGROUND:
            table = document_frequencies(unlabelled)
        self._known = self._most_frequent(unlabelled, query)
        weighed = [self._weights(terms, table) for terms in unlabelled]
        sums = [dot(query, weights) for weights in weighed]
        best = [i for i in sorted(range(len(sums)), key=lambda i: -sums[i]) if sums[i] > 0.0]
        sample = [weighed[i] for i in best[: self._retrieved]]
        sample += [self._weights(self._analyser.terms(_text(each)), table) for each in examples.positives]
        topic = normalised({term: table.idf(term) for term in query})
        for term, weight in normalised(strongest(centroid(sample), self._terms) if sample else {}).items():
            topic[term] = topic.get(term, 0.0) + weight
        topic = normalised(topic)
        if not any(topic.values()):
            raise TopicError("keywords and examples hold no word that counts; give more telling ones")
        others = [weighed[i] for i in range(len(sums)) if i not in set(best[: self._retrieved])]
        others += [self._weights(self._analyser.terms(_text(each)), table) for each in examples.negatives]
        threshold = self._threshold if self._threshold is not None else _line(topic, sample, others)
        # Only the topic's own words are ever looked up, bar the length of the page's vector.
        self._learned = _Learned(
            topic,
            table,
            threshold,
            tuple(examples.languages),
            self._analyser.segmenter,
            tuple(sorted(self._known)) if self._known is not None else None,
        )
        return self

    def judge(self, page: Page) -> Verdict:
        """Score a page by its title and visible text."""
        learned = self._fitted()
        weights = self._weights(self._analyser.terms(f"{page.title} {page.content}"), learned.table)
        length = norm(weights)
        shares = {
            term: value * learned.topic[term] / length
            for term, value in weights.items()
            if value and term in learned.topic
        }
        score = min(1.0, math.fsum(shares.values()))
        top = sorted(shares.items(), key=lambda item: (-item[1], item[0]))[:TOP_TERMS]
        # Rounding down keeps the sum of the shares at or below the score.
        terms = tuple((term, math.floor(share * 1e9) / 1e9) for term, share in top)
        return Verdict(score, score >= learned.threshold, terms)

    def judge_texts(self, texts: Sequence[str]) -> list[float]:
        """Score short texts, each as a page of its own."""
        learned = self._fitted()
        found = []
        for text in texts:
            terms = self._analyser.terms(text)
            if learned.topic.keys().isdisjoint(terms):
                found.append(0.0)
                continue
            found.append(min(1.0, _cosine_with_unit(learned.topic, self._weights(terms, learned.table))))
        return found

    def save(self) -> Saved:
        """Topic vector, document frequencies and threshold."""
        return Saved(values=cast("dict[str, object]", msgspec.to_builtins(self._fitted())))

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave."""
        self._learned = msgspec.convert(saved.values, _Learned)
        self._analyser = Analyser(self._learned.languages, segmenter=self._learned.segmenter)
        self._known = None if self._learned.known is None else frozenset(self._learned.known)
        return self

    def _fitted(self) -> _Learned:
        if self._learned is None:
            raise TopicError("the page model knows no topic yet; call fit or load first")
        return self._learned

    def _weights(self, terms: Sequence[str], table: DocumentFrequencies) -> dict[str, float]:
        if self._known is not None:
            terms = [term for term in terms if term in self._known]
        return okapi(terms, table, k1=self._k1, b=self._b)

    def _most_frequent(
        self, documents: Sequence[Sequence[str]], topic: Iterable[str]
    ) -> frozenset[str] | None:
        if self._vocabulary is None or not documents:
            return None
        totals = Counter(term for terms in documents for term in terms)
        frequent = sorted(totals, key=lambda term: (-totals[term], term))[: self._vocabulary]
        return frozenset((*frequent, *topic))


def _text(document: Document) -> str:
    return f"{document.title} {document.text}"


def _cosine_with_unit(topic: dict[str, float], weights: dict[str, float]) -> float:
    shares = [value * topic[term] for term, value in weights.items() if term in topic]
    product = math.fsum(shares)
    return product / norm(weights) if product else 0.0


def _line(
    topic: dict[str, float], sample: Sequence[dict[str, float]], others: Sequence[dict[str, float]]
) -> float:
    if not sample:
        return DEFAULT_THRESHOLD
    return separating_value(
        [_cosine_with_unit(topic, weights) for weights in sample],
        [_cosine_with_unit(topic, weights) for weights in others],
    )
