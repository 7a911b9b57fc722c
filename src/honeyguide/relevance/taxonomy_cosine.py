"""Taxonomy cosine: how much of a page's words are the labels of the topic's path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Self, cast

import msgspec

from honeyguide.errors import TopicError
from honeyguide.model import Examples, Page, Verdict
from honeyguide.store.models import Saved
from honeyguide.text.segmentation import Segmenter
from honeyguide.topic.taxonomy_vector import Labels, TopicVector, labels_of

THRESHOLD: Final = 0.1
TOP_TERMS: Final = 10


class _Learned(msgspec.Struct, frozen=True):
    labels: Labels
    languages: tuple[str, ...]
    segmenter: Segmenter


class TaxonomyCosine:
    """`R_PC = cos(TF(title and text), v_t)`, the page model of FCMRPS.

    v_t holds the labels of the topic's path, label i of D with weight i/D, in one language or several
    (`Sports|体育/Basketball|篮球`); see `TopicVector` for how languages are joined. Raw term frequencies,
    after stop-word removal and stemming; Chinese is segmented. Without a path the keywords serve, all of
    one weight.

    The plain cosine of a page with two or three words is small: 0.1, the paper's threshold, asks that
    the labels are among the page's most frequent words.

    Args:
        threshold: On topic from this score on.

    Example:
        >>> model = TaxonomyCosine().fit(Examples(taxonomy=("Sports", "Basketball")))
        >>> verdict = model.judge(Page(url="https://a.example/", id=1, text="Basketball news: who won?"))
        >>> round(verdict.score, 3), verdict.on_topic, verdict.terms[0][0]
        (0.632, True, 'basketbal')

    References:
        Zhumin Chen, Jun Ma, Jingsheng Lei, Bo Yuan, Li Lian, Ling Song, "A cross-language focused
        crawling algorithm based on multiple relevance prediction strategies", Computers & Mathematics
        with Applications 57, 2009.
    """

    def __init__(self, *, threshold: float = THRESHOLD) -> None:
        self._threshold = threshold
        self._learned: _Learned | None = None
        self._vector: TopicVector | None = None

    def fit(self, examples: Examples) -> Self:
        """Take the labels of the path (or the keywords); examples are not used."""
        labels = labels_of(examples.taxonomy, examples.keywords)
        vector = TopicVector(labels, examples.languages)
        self._vector = vector
        self._learned = _Learned(labels, examples.languages, vector.analyser.segmenter)
        return self

    def judge(self, page: Page) -> Verdict:
        """Score a page by its title and visible text."""
        found = self._fitted().match(page.title, page.content)
        return Verdict(found.score, found.score >= self._threshold, found.terms[:TOP_TERMS])

    def judge_texts(self, texts: Sequence[str]) -> list[float]:
        """Score short texts, each as a page without a title."""
        match = self._fitted().match
        return [match(text).score for text in texts]

    def save(self) -> Saved:
        """The labels."""
        self._fitted()
        return Saved(values=cast("dict[str, object]", msgspec.to_builtins(self._learned)))

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave."""
        learned = msgspec.convert(saved.values, _Learned)
        self._vector = TopicVector(learned.labels, learned.languages, segmenter=learned.segmenter)
        self._learned = learned
        return self

    def _fitted(self) -> TopicVector:
        if self._vector is None:
            raise TopicError("the page model knows no topic yet; call fit or load first")
        return self._vector
