"""What orders in a latent space remember of a crawl: words of fetched pages, words of links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, Self, TypeAlias, cast

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from honeyguide.model import CrawlGraph
from honeyguide.store.models import Saved

Rows: TypeAlias = Any
"""A scipy CSR matrix (scipy has no type information)."""

SHOWN: Final = 8
"""Names that an explanation tells."""
ANCHOR_TERMS: Final = 64
"""Different terms remembered of all links to one URL."""


class SeenPages:
    """Fetched pages with their words, in the order they were fetched, and words of links to others.

    Pages are cut to the most relevant `limit` at each reordering (the newest of equals), words of
    links to the newest `anchor_limit` URLs: memory and time of a reordering stay bounded.
    """

    def __init__(self, *, limit: int, anchor_limit: int) -> None:
        self.limit = limit
        self.anchor_limit = anchor_limit
        self.ids: list[int] = []
        self.urls: list[str] = []
        self.scores: list[float] = []
        self._words: list[tuple[NDArray[np.int32], NDArray[np.float64]]] = []
        self._squares: list[float] = []
        self._dense: NDArray[np.float32] = np.empty((0, 0), dtype=np.float32)
        self._filled = 0
        self._links: list[NDArray[np.int64]] = []
        self._known: set[int] = set()
        self._anchors: dict[int, dict[int, float]] = {}

    def __len__(self) -> int:
        """Number of pages remembered."""
        return len(self.ids)

    def add(
        self, page: int, url: str, score: float, weights: dict[int, float], links: Sequence[int] = ()
    ) -> None:
        """Remember a fetched page; what links said of it is no longer needed.

        Args:
            page: Its id.
            url: Its address.
            score: Its relevance.
            weights: Its words.
            links: Targets of those of its links that alone shall count (`known_links`).
        """
        self._anchors.pop(page, None)
        if page in self._known:
            return
        self._known.add(page)
        self.ids.append(page)
        self.urls.append(url)
        self.scores.append(score)
        numbers = np.fromiter(weights.keys(), np.int32, len(weights))
        values = np.fromiter(weights.values(), np.float64, len(weights))
        self._words.append((numbers, values))
        self._squares.append(float(values @ values))
        self._links.append(np.array(links, dtype=np.int64))

    def add_anchor(self, page: int, weights: dict[int, float]) -> None:
        """Add the words of one link to what is known of its target."""
        if page in self._known or not weights:
            return
        known = self._anchors.setdefault(page, {})
        for number, weight in weights.items():
            if number in known or len(known) < ANCHOR_TERMS:
                known[number] = known.get(number, 0.0) + weight
        while len(self._anchors) > self.anchor_limit:
            del self._anchors[next(iter(self._anchors))]

    def anchor(self, page: int) -> dict[int, float]:
        """Words of the links to a page."""
        return self._anchors.get(page, {})

    def addresses(self) -> Iterator[tuple[int, str]]:
        """Ids and URLs of the pages."""
        return zip(self.ids, self.urls, strict=True)

    def cut(self) -> None:
        """Keep the most relevant pages only."""
        if len(self.ids) <= self.limit:
            return
        order = np.lexsort((-np.arange(len(self.ids)), -np.array(self.scores)))
        dropped = np.sort(order[self.limit :]).tolist()
        self._known.difference_update(self.ids[place] for place in dropped)
        for place in reversed(dropped):
            for each in (self.ids, self.urls, self.scores, self._words, self._squares, self._links):
                del each[place]
        # Rows before the first that goes stay where they are.
        gone = np.array([place for place in dropped if place < self._filled], dtype=np.int64)
        if len(gone):
            after = np.delete(np.arange(gone[0], self._filled), gone - gone[0])
            self._dense[gone[0] : gone[0] + len(after)] = self._dense[after]
            self._filled -= len(gone)

    def links(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The links that alone shall count: place of the page among those remembered, and target."""
        counts = [len(one) for one in self._links]
        return np.repeat(np.arange(len(counts)), counts), np.concatenate(
            (*self._links, np.empty(0, np.int64))
        )

    def words(self, terms: int) -> Rows:
        """Term weights, one row a page."""
        return _stacked(self._words, terms)

    def dense_words(self, terms: int) -> NDArray[np.float32]:
        """The same as a dense array in single precision; kept, and extended by the pages that are new."""
        if len(self.ids) > len(self._dense) or self._dense.shape[1] != terms:
            if self._dense.shape[1] != terms:
                self._filled = 0
            grown = np.zeros((max(64, 2 * len(self.ids)), terms), dtype=np.float32)
            grown[: self._filled] = self._dense[: self._filled] if self._filled else 0.0
            self._dense = grown
        for place in range(self._filled, len(self.ids)):
            numbers, weights = self._words[place]
            self._dense[place] = 0.0
            self._dense[place, numbers] = weights
        self._filled = len(self.ids)
        return self._dense[: self._filled]

    def squares(self) -> NDArray[np.float64]:
        """The squared length of each page's words."""
        return np.array(self._squares, dtype=np.float64)

    def anchors(self, ids: NDArray[np.int64], terms: int) -> Rows:
        """Term weights of the links to each of `ids`, one row each."""
        vectors = [self._anchors.get(each, {}) for each in ids.tolist()]
        return _stacked(
            [
                (np.fromiter(one.keys(), np.int32, len(one)), np.fromiter(one.values(), np.float64, len(one)))
                for one in vectors
            ],
            terms,
        )

    def save(self) -> Saved:
        """Everything remembered."""
        anchors = [
            (np.fromiter(one.keys(), np.int32, len(one)), np.fromiter(one.values(), np.float64, len(one)))
            for one in self._anchors.values()
        ]
        arrays: dict[str, NDArray[np.generic]] = {
            "page_ids": np.array(self.ids, dtype=np.int64),
            "page_scores": np.array(self.scores, dtype=np.float64),
            "anchor_ids": np.array(list(self._anchors), dtype=np.int64),
            "page_links": self.links()[1],
            "page_link_ends": np.cumsum([len(one) for one in self._links], dtype=np.int64),
        }
        return Saved(
            values={"urls": self.urls}, arrays=arrays | _flat("page", self._words) | _flat("anchor", anchors)
        )

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave."""
        arrays = saved.arrays
        self.ids = arrays["page_ids"].tolist()
        self._known = set(self.ids)
        self.urls = msgspec.convert(saved.values["urls"], list[str])
        self.scores = arrays["page_scores"].tolist()
        self._words = _unflat("page", arrays)
        self._squares = [float(values @ values) for _, values in self._words]
        self._filled = 0
        ends: list[int] = arrays["page_link_ends"].tolist()
        links = arrays["page_links"].astype(np.int64)
        self._links = [links[start:end] for start, end in pairwise([0, *ends])]
        self._anchors = {
            page: dict(zip(numbers.tolist(), weights.tolist(), strict=True))
            for page, (numbers, weights) in zip(
                arrays["anchor_ids"].tolist(), _unflat("anchor", arrays), strict=True
            )
        }
        return self


class KnownLinks(msgspec.Struct, frozen=True, eq=False):
    """The links that remembered pages give, as matrices: one row a target, one column a page."""

    among: Rows
    """Links among the remembered pages (G, transposed)."""
    frontier: Rows
    """Links to waiting pages (R, transposed)."""
    nodes: NDArray[np.int64]
    """The waiting pages of `frontier`, as nodes of the graph."""


def known_links(
    seen: SeenPages, graph: CrawlGraph, *, self_link: bool, remembered: bool = False
) -> KnownLinks:
    """Links of the graph as seen from the remembered pages. Cost: linear in nodes and links.

    Args:
        seen: Pages that stand for rows of the matrix.
        graph: The crawl.
        self_link: Whether every page links to itself, so that its row carries its own words.
        remembered: Whether only those links count that were remembered with the pages.
    """
    size, pages = graph.size, len(seen)
    place = np.full(size, -1, dtype=np.int32)
    if pages and size:
        ids = np.array(seen.ids, dtype=np.int64)
        order = np.argsort(ids)
        found = np.minimum(np.searchsorted(ids[order], graph.ids), pages - 1)
        same = ids[order][found] == graph.ids
        place[same] = order[found[same]]
    source = place[graph.sources]
    used = source >= 0
    if remembered:
        pages_of, ids = seen.links()
        used &= np.isin(_pair(source, graph.ids[graph.targets]), _pair(pages_of, ids))
    sources, targets = source[used], graph.targets[used]
    target = place[targets]
    inner = target >= 0
    outer = graph.waiting[targets] & ~inner
    rows, columns = target[inner], sources[inner]
    if not self_link:
        other = rows != columns
        rows, columns = rows[other], columns[other]
    else:
        rows, columns = (np.concatenate((each, np.arange(pages, dtype=np.int32))) for each in (rows, columns))
    waiting = targets[outer]
    reached = np.zeros(size, dtype=np.bool_)
    reached[waiting] = True
    nodes = np.flatnonzero(reached)
    numbers = np.cumsum(reached, dtype=np.int32)[waiting] - 1
    return KnownLinks(
        _ones(rows, columns, (pages, pages)), _ones(numbers, sources[outer], (len(nodes), pages)), nodes
    )


def _pair(places: NDArray[np.integer], ids: NDArray[np.int64]) -> NDArray[np.uint64]:
    """One number for a page and a target; that two pairs share one is as unlikely as with the ids."""
    spread = places.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return ids.astype(np.uint64) ^ (spread ^ (spread >> np.uint64(29)))


def _ones(rows: NDArray[np.int32], columns: NDArray[np.int32], shape: tuple[int, int]) -> Rows:
    matrix = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)
    matrix.data[:] = 1.0  # several links from one page to another count once
    return matrix


def strongest(names: Sequence[str], shares: Sequence[float]) -> list[list[object]]:
    """The largest shares with their names, largest first."""
    best = sorted(zip(names, shares, strict=True), key=lambda item: (-item[1], item[0]))[:SHOWN]
    return [[name, round(share, 6)] for name, share in best]


Vectors: TypeAlias = list[tuple[NDArray[np.int32], NDArray[np.float64]]]


def _stacked(vectors: Vectors, columns: int) -> Rows:
    flat = cast("dict[str, Any]", _flat("x", vectors))
    ends = np.concatenate((np.zeros(1, dtype=np.int64), flat["x_ends"]))
    return sparse.csr_matrix((flat["x_values"], flat["x_numbers"], ends), shape=(len(vectors), columns))


def _flat(name: str, vectors: Vectors) -> dict[str, NDArray[np.generic]]:
    numbers = [one for one, _ in vectors] or [np.empty(0, dtype=np.int32)]
    values = [one for _, one in vectors] or [np.empty(0)]
    return {
        f"{name}_numbers": np.concatenate(numbers),
        f"{name}_values": np.concatenate(values),
        f"{name}_ends": np.cumsum([len(one) for one, _ in vectors], dtype=np.int64),
    }


def _unflat(name: str, arrays: dict[str, NDArray[np.generic]]) -> Vectors:
    numbers = arrays[f"{name}_numbers"].astype(np.int32)
    values = arrays[f"{name}_values"].astype(np.float64)
    ends: list[int] = arrays[f"{name}_ends"].tolist()
    return [(numbers[start:end], values[start:end]) for start, end in pairwise([0, *ends])]
