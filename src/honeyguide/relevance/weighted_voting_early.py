"""The crawl's own early pages as unlabelled text, with the topic kept out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import xxhash
from numpy.typing import NDArray

LONGEST: Final = 2_000
"""Terms kept of one page."""
MILESTONES: Final = (50, 100, 200, 400, 800)
"""Numbers of pages at which a model is trained again."""
LEAST_TERMS: Final = 5


class EarlyPages:
    """The first pages of a crawl, for a model that has no other unlabelled text.

    A focused crawl starts among pages on topic, so its early pages are no fair sample of the web: as
    they come they would teach a model that the topic's own words are nothing special. The example
    pages (by address) and pages with the same text as an example or an earlier page are not taken at all.
    Of the others, those that the model calls on topic at the time of a training are held out of it:
    they help to draw the line, and are never negatives (at most half of all pages, the best ones, are
    held out). Which ones that are is asked anew at each training, of a model that knows more. Pages on
    topic that slip through all this are few, and 1-DNFC takes none for a
    reliable negative that has a positive feature.

    Parameters:
        positives: Terms of the example pages.
        addresses: Where the example pages are.
        most: Pages to keep; then no more are taken.

    Example:
        >>> early = EarlyPages([["owl", "nest"]], ["https://a.example/owl"], most=10)
        >>> early.offer(["tax", "form", "bank", "loan", "rate"], url="https://a.example/tax")
        False
        >>> len(early.documents)
        1
    """

    def __init__(
        self, positives: Iterable[Sequence[str]] = (), addresses: Iterable[str] = (), *, most: int = 400
    ) -> None:
        self.documents: list[list[str]] = []
        self.held_out: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)
        """Which documents the last training left out; as many as there were then."""
        self._most = most
        self._addresses = frozenset(addresses) - {""}
        self._seen = {_fingerprint(terms) for terms in positives}

    @property
    def full(self) -> bool:
        """Whether no more pages are taken."""
        return len(self.documents) >= self._most

    def offer(self, terms: Sequence[str], *, url: str) -> bool:
        """Take a page unless it is an example or a double. Whether it is time to train."""
        mark = _fingerprint(terms)
        few = len(terms) < LEAST_TERMS
        if self.full or few or url in self._addresses or mark in self._seen:
            return False
        self._seen.add(mark)
        self.documents.append(list(terms[:LONGEST]))
        return len(self.documents) in MILESTONES or self.full

    def restore(self, documents: Iterable[Sequence[str]], held_out: NDArray[np.bool_]) -> None:
        """Take back what was kept before."""
        for terms in documents:
            self.documents.append(list(terms))
            self._seen.add(_fingerprint(terms))
        self.held_out = held_out


def _fingerprint(terms: Sequence[str]) -> int:
    return xxhash.xxh3_64_intdigest(" ".join(terms[:LONGEST]).encode("utf-8", "surrogatepass"))
