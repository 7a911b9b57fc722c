"""An order in the manner of ACHE: a link classifier that learns from its own crawl."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Self
from urllib.parse import unquote

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.base import LocalOrder
from honeyguide.ordering.logistic import fit_logistic, probabilities
from honeyguide.store.models import Saved
from honeyguide.text.tokens import Analyser
from honeyguide.text.vectors import HashedTerms, rows_of

_URL_TOKEN = re.compile(r"[^\W_]{2,}")


class Ache(LocalOrder):
    """Links are ordered by the chance that they lead to a relevant page, learned while crawling.

    A logistic model over the words of the URL, of the anchor and of the text around the link (three
    kinds of features, each word counted once, hashed into `columns`). Every page fetched by a link gives an
    example: the link's words and whether the page turned out on topic. Every `retrain_every` pages the
    model is trained again on the last `memory` examples; until it has seen both classes the order is
    best-first. URLs that wait keep the priority they got.

    Written from the published description; the details (features, model, balancing) are ours.

    Args:
        languages: Languages of the topic, for stemming anchors and contexts.
        retrain_every: Pages between trainings.
        memory: Examples kept, newest last.
        columns: Hash columns for features.
        context_words: Words of the context that are looked at.

    Example:
        >>> from honeyguide.model import Link, Page, Verdict, Via
        >>> order = Ache(retrain_every=4)
        >>> for number, (word, good) in enumerate([("owls", True), ("tax", False)] * 2):
        ...     page = Page(url=f"https://a.example/{number}", id=number, via=Via(9, anchor=word))
        ...     order.learn(page, Verdict(float(good), good))
        >>> links = [Link("https://b.example/", 2, "tax"), Link("https://c.example/", 3, "owls")]
        >>> bad, good = order.rank(Page(url="https://a.example/", id=1), Verdict(0.0, False), links)
        >>> good.priority > 0.5 > bad.priority
        True

    References:
        Luciano Barbosa, Juliana Freire, "An adaptive crawler for locating hidden-Web entry points",
        WWW 2007 (adaptive link learner of the ACHE crawler).
    """

    def __init__(
        self,
        *,
        languages: Sequence[str] = ("en",),
        retrain_every: int = 500,
        memory: int = 5000,
        columns: int = 2**16,
        context_words: int = 60,
    ) -> None:
        self._analyser = Analyser(languages)
        self._size = columns
        # A word in the URL, in the anchor and beside it are three features.
        self._in_url, self._in_anchor, self._in_context = (HashedTerms(columns, salt=s) for s in (1, 2, 3))
        self._retrain_every = retrain_every
        self._memory = memory
        self._context_words = context_words
        self._features: list[list[int]] = []
        self._labels: list[bool] = []
        self._seen = 0
        self._weights: NDArray[np.float64] | None = None

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """The classifier's answer, or the parent's score before there is one."""
        if self._weights is None or not links:
            factors = {"parent": verdict.score}
            return [Scored(index, verdict.score, factors=factors) for index in range(len(links))]
        features = [self._columns(link.url, link.anchor, link.context) for link in links]
        chances = probabilities(rows_of(features, self._size), self._weights)
        return [
            Scored(index, chance, factors={"link classifier": chance, "parent": verdict.score})
            for index, chance in enumerate(chances.tolist())
        ]

    def learn(self, page: Page, verdict: Verdict) -> None:
        """Keep the link's words with what it led to; train when it is time."""
        self._seen += 1
        if page.via is not None and page.via.parent:
            self._features.append(self._columns(page.url, page.via.anchor, page.via.context))
            self._labels.append(verdict.on_topic)
        if self._seen % self._retrain_every == 0:
            self._train()

    def explain(self, page: Page | None, url: str) -> dict[str, object]:
        """How much the classifier has learned from."""
        return {"trained": self._weights is not None, "examples": len(self._labels)}

    def save(self) -> Saved:
        """Examples and weights; only weights other than zero."""
        arrays: dict[str, NDArray[np.generic]] = {
            "features": np.array([column for each in self._features for column in each], dtype=np.int32),
            "ends": np.cumsum([len(each) for each in self._features], dtype=np.int64),
            "labels": np.array(self._labels, dtype=np.bool_),
        }
        if self._weights is not None:
            used = np.flatnonzero(self._weights)
            arrays |= {"columns": used, "weights": self._weights[used]}
        return Saved(values={"seen": self._seen}, arrays=arrays)

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave."""
        arrays = saved.arrays
        flat: list[int] = arrays["features"].tolist()
        ends: list[int] = arrays["ends"].tolist()
        self._features = [flat[start:end] for start, end in pairwise([0, *ends])]
        self._labels = arrays["labels"].tolist()
        self._seen = msgspec.convert(saved.values["seen"], int)
        self._weights = None
        if "weights" in arrays:
            self._weights = np.zeros(self._size + 1)
            self._weights[arrays["columns"].astype(np.int64)] = arrays["weights"]
        return self

    def _columns(self, url: str, anchor: str, context: str) -> list[int]:
        """Sorted feature columns of a link; the same word in URL, anchor and context has three."""
        terms = self._analyser.terms
        address = url.partition("://")[2][:500].lower()
        if "%" in address:
            address = unquote(address)
        found = set(self._in_url.columns_of(_URL_TOKEN.findall(address)))
        found.update(self._in_anchor.columns_of(terms(anchor)))
        found.update(self._in_context.columns_of(terms(context)[: self._context_words]))
        return sorted(found)

    def _train(self) -> None:
        del self._features[: -self._memory], self._labels[: -self._memory]
        labels = np.array(self._labels, dtype=np.bool_)
        if not labels.any() or labels.all():
            return
        rows = rows_of(self._features, self._size)
        start = np.zeros(self._size + 1) if self._weights is None else self._weights
        self._weights = fit_logistic(rows, labels, start)
