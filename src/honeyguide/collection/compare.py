"""Two crawls side by side: their curves, and what each found that the other did not."""

from __future__ import annotations

from collections import Counter

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.collection.catalogue import Catalogue
from honeyguide.collection.collection import Collection
from honeyguide.collection.overview import POINTS
from honeyguide.model import Outcome

NEVER_MET = -1
SHOWN = 50
"""Pages that are named of those that only one crawl found."""


class OnlyHere(msgspec.Struct, frozen=True):
    """A page on topic that the other crawl does not have on topic."""

    row: int
    url: str
    title: str
    score: float
    there: str
    """What the other crawl made of it, in words."""


class Side(msgspec.Struct, frozen=True):
    """One of the two crawls."""

    name: str
    topic: str
    recipe: str
    pages: int
    relevant: int
    hosts: int
    """Hosts with pages on topic."""
    requests: int
    seconds: float
    curve: tuple[tuple[int, int], ...]
    """Pages, and pages on topic among them."""
    only: int
    """Pages on topic that the other crawl does not have on topic."""
    reasons: dict[str, int]
    """What the other crawl made of those."""
    examples: tuple[OnlyHere, ...]
    """The best of them."""


class Comparison(msgspec.Struct, frozen=True):
    """Two crawls side by side."""

    left: Side
    right: Side
    both: int
    """Pages on topic in both."""
    left_at: int
    """Pages on topic that the left crawl had found after as many pages as the shorter crawl has."""
    right_at: int
    at: int
    """Pages of the shorter crawl."""


def compare(
    left: Collection,
    right: Collection,
    *,
    shown: int = SHOWN,
    catalogues: tuple[Catalogue, Catalogue] | None = None,
) -> Comparison:
    """Compare two collections by the addresses of their pages on topic.

    Args:
        left: Open for reading.
        right: Open for reading.
        shown: How many pages to name of those that only one of them found.
        catalogues: Of both, up to date, where they are at hand.
    """
    held = catalogues or (Catalogue(), Catalogue())
    sides = [_Read(left, held[0]), _Read(right, held[1])]
    both = len(np.intersect1d(sides[0].ids, sides[1].ids))
    at = min(one.catalogue.size for one in sides)
    return Comparison(
        left=sides[0].side(sides[1], shown),
        right=sides[1].side(sides[0], shown),
        both=both,
        left_at=int(sides[0].catalogue.on_topic[:at].sum()),
        right_at=int(sides[1].catalogue.on_topic[:at].sum()),
        at=at,
    )


class _Read:
    """What is compared of one collection."""

    def __init__(self, collection: Collection, catalogue: Catalogue) -> None:
        self.collection = collection
        self.catalogue = catalogue
        self.catalogue.refresh(collection.state)
        self.rows = self.catalogue.rows[self.catalogue.on_topic]
        self.ids: NDArray[np.int64] = collection.state.columns().ids[self.rows]

    def side(self, other: _Read, shown: int) -> Side:
        new = ~np.isin(self.ids, other.ids)
        rows = self.rows[new]
        best = rows[np.argsort(-self.catalogue.scores[self.catalogue.on_topic][new], kind="stable")]
        codes = other.made_of(self.ids[new])
        there = dict(zip(rows.tolist(), codes.tolist(), strict=True))
        kinds, counts = np.unique(codes, return_counts=True)
        reasons: Counter[str] = Counter()
        for code, count in zip(kinds.tolist(), counts.tolist(), strict=True):
            reasons[_words(code)] += count
        status = self.collection.status()
        found = np.concatenate([[0], np.cumsum(self.catalogue.on_topic)])
        places = np.unique(np.linspace(0, self.catalogue.size, POINTS + 1).astype(np.int64))
        layout = self.collection.layout
        return Side(
            name=layout.root.resolve().name if layout else "",
            topic=self.collection.name,
            recipe=self.collection.recipe,
            pages=self.catalogue.size,
            relevant=len(self.rows),
            hosts=len(np.unique(self.catalogue.hosts[self.catalogue.on_topic])),
            requests=status.requests,
            seconds=status.seconds,
            curve=tuple(zip(places.tolist(), found[places].tolist(), strict=True)),
            only=len(rows),
            reasons=dict(reasons.most_common()),
            examples=tuple(self._example(row, _words(there[row])) for row in best[:shown].tolist()),
        )

    def _example(self, row: int, there: str) -> OnlyHere:
        record = self.collection.state.page_by_row(row)
        assert record is not None
        return OnlyHere(row, record.url, record.title, record.score, there)

    def made_of(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Outcomes of addresses that the other crawl found on topic; `NEVER_MET` where there is none."""
        made = np.full(len(ids), NEVER_MET)
        if not len(ids):
            return made
        columns = self.collection.state.columns()
        known = columns.ids[1 : columns.size + 1]
        order = np.argsort(ids, kind="stable")
        # Few are asked for, many are known: the few are sorted.
        places = np.minimum(np.searchsorted(ids, known, sorter=order), len(ids) - 1)
        met = np.flatnonzero(ids[order[places]] == known)
        made[order[places[met]]] = columns.status[met + 1]
        return made


def _words(code: int) -> str:
    if code == NEVER_MET:
        return "never met"
    outcome = Outcome(code)
    if outcome is Outcome.WAITING:
        return "still waiting"
    if outcome in (Outcome.FETCHED, Outcome.NOINDEX, Outcome.GONE):
        return "judged off topic"
    first, rest = outcome.label[0], outcome.label[1:]
    return outcome.label if rest[:1].isupper() else first.lower() + rest
