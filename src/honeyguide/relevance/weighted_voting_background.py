"""Unlabelled text for users who have none: what it is made of, and how the topic is kept out of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from honeyguide.text.background import background
from honeyguide.text.tokens import Analyser

MADE_UP = 300
LONGEST = 2_000
"""Terms kept of one page."""
MILESTONES = (50, 100, 200, 400)
"""Numbers of kept pages at which a model is trained again."""


def made_up_background(analyser: Analyser, count: int = MADE_UP, *, seed: int = 0) -> list[list[str]]:
    """Documents of common words only: each word occurs in as many as the built-in table says.

    They cannot be on topic, since no topic's own words are in the table, and so are negatives for sure.
    They stand in until a crawl has seen pages of its own.

    Example:
        >>> documents = made_up_background(Analyser(), 100)
        >>> 20 < sum("home" in document for document in documents) < 60
        True
    """
    table = background(analyser)
    terms = sorted(table.counts)
    chances = np.array([table.counts[term] for term in terms]) / table.documents
    drawn = np.random.default_rng(seed).random((count, len(terms))) < chances
    return [[terms[column] for column in np.flatnonzero(row)] for row in drawn]


class EarlyPages:
    """The first pages of a crawl as unlabelled documents, with the topic kept out.

    A focused crawl starts among pages on topic, so its early pages are no fair sample of the web: as
    they come they would teach a model that the topic's words are nothing special. Three sieves keep them
    out: pages that the model calls on topic at the time, the example pages themselves (by address), and
    pages with the same words as an example or as a page that was kept. Pages on topic that slip
    through are few, and 1-DNFC takes none for a reliable negative that has a positive feature.

    Parameters:
        positives: Terms of the example pages.
        addresses: Where the example pages are.
        most: Pages to keep; then no more are taken.
    """

    def __init__(
        self, positives: Iterable[Sequence[str]] = (), addresses: Iterable[str] = (), *, most: int = 400
    ) -> None:
        self.documents: list[list[str]] = []
        self._most = most
        self._addresses = frozenset(addresses) - {""}
        self._seen = {frozenset(terms) for terms in positives}

    @property
    def full(self) -> bool:
        """Whether no more pages are taken."""
        return len(self.documents) >= self._most

    def offer(self, terms: Sequence[str], *, url: str, on_topic: bool) -> bool:
        """Keep a page's terms unless a sieve holds it back. Whether it is time to train again."""
        words = frozenset(terms)
        if self.full or on_topic or len(words) < 5 or url in self._addresses or words in self._seen:
            return False
        self._seen.add(words)
        self.documents.append(list(terms[:LONGEST]))
        return len(self.documents) in MILESTONES or self.full

    def restore(self, documents: Iterable[Sequence[str]]) -> None:
        """Take back pages that were kept before."""
        for terms in documents:
            self.documents.append(list(terms))
            self._seen.add(frozenset(terms))
