"""Description cosine: how like a page is to the descriptions of a topic's example pages."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final, Self, cast

import msgspec

from honeyguide.errors import TopicError
from honeyguide.model import Examples, Page, Verdict
from honeyguide.store.models import Saved
from honeyguide.text.segmentation import Segmenter
from honeyguide.text.tokens import Analyser

THRESHOLD: Final = 0.2
TOP_TERMS: Final = 10
MAX_TERMS: Final = 50_000


class _Learned(msgspec.Struct, frozen=True):
    weights: dict[str, float]
    """TF(Desc) at Euclidean length one."""
    languages: tuple[str, ...]
    segmenter: Segmenter


class DescriptionCosine:
    """`R'_PC = cos(TF(title and text), TF(Desc))`, by which the FCMRPS study judges its results.

    There, Desc holds the descriptions and link texts of a directory node's whole subtree. Here it holds the
    titles and first lines of the example pages, which is what such descriptions are made from. It is meant
    for judging crawls, not for leading them: no crawl knows the pages of its topic beforehand.

    Args:
        lead: Characters taken from the beginning of each example's text.
        threshold: On topic from this score on.

    Example:
        >>> from honeyguide.model import Document
        >>> owls = Examples(positives=(Document("Owls hunt at night.", "Owl"),))
        >>> DescriptionCosine().fit(owls).judge(Page(url="https://a.example/", id=1, text="owl")).on_topic
        True

    References:
        Zhumin Chen, Jun Ma, Jingsheng Lei, Bo Yuan, Li Lian, Ling Song, "A cross-language focused
        crawling algorithm based on multiple relevance prediction strategies", Computers & Mathematics
        with Applications 57, 2009, equation 9.
    """

    def __init__(self, *, lead: int = 1000, threshold: float = THRESHOLD) -> None:
        self._lead = lead
        self._threshold = threshold
        self._learned: _Learned | None = None
        self._analyser = Analyser()

    def fit(self, examples: Examples) -> Self:
        """Take titles and first lines of the positive examples, or the keywords where there are none."""
        self._analyser = Analyser(examples.languages)
        texts = [f"{each.title}\n{each.text[: self._lead]}" for each in examples.positives]
        counts: Counter[str] = Counter()
        for text in texts or list(examples.keywords) or list(examples.taxonomy):
            counts.update(self._analyser.terms(text))
        if not counts:
            raise TopicError("the examples hold no word that counts; give example pages with text")
        kept = dict(counts.most_common(MAX_TERMS))
        length = math.sqrt(sum(count * count for count in kept.values()))
        weights = {term: count / length for term, count in kept.items()}
        self._learned = _Learned(weights, examples.languages, self._analyser.segmenter)
        return self

    def judge(self, page: Page) -> Verdict:
        """Score a page by its title and visible text."""
        shares = self._shares(f"{page.title}\n{page.content}")
        score = min(1.0, math.fsum(shares.values()))
        top = sorted(shares.items(), key=lambda item: (-item[1], item[0]))[:TOP_TERMS]
        terms = tuple((term, math.floor(share * 1e9) / 1e9) for term, share in top)
        return Verdict(score, score >= self._threshold, terms)

    def judge_texts(self, texts: Sequence[str]) -> list[float]:
        """Score short texts."""
        return [min(1.0, math.fsum(self._shares(text).values())) for text in texts]

    def save(self) -> Saved:
        """The vector of the descriptions."""
        return Saved(values=cast("dict[str, object]", msgspec.to_builtins(self._fitted())))

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave."""
        self._learned = msgspec.convert(saved.values, _Learned)
        self._analyser = Analyser(self._learned.languages, segmenter=self._learned.segmenter)
        return self

    def _fitted(self) -> _Learned:
        if self._learned is None:
            raise TopicError("the page model knows no topic yet; call fit or load first")
        return self._learned

    def _shares(self, text: str) -> dict[str, float]:
        weights = self._fitted().weights
        counts = Counter(self._analyser.terms(text))
        length = math.sqrt(sum(count * count for count in counts.values()))
        return {term: weights[term] * count / length for term, count in counts.items() if term in weights}
