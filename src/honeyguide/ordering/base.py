"""The one protocol of this folder: which link next?"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Literal, Protocol, Self, TypeAlias, TypeVar, runtime_checkable

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.model import CrawlGraph, Link, Page, Scored, UrlId, Verdict
from honeyguide.store.models import Saved

Combine: TypeAlias = Literal["max", "sum", "latest", "first"]
"""How priorities of the same URL, found by several links, become one."""
Result = TypeVar("Result")


class TextJudge(Protocol):
    """What an order needs of a page model to judge anchors and link contexts: scores in 0..1."""

    def judge_texts(self, texts: Sequence[str]) -> Sequence[float]:
        """Score all texts in one call."""
        ...


@runtime_checkable
class LinkOrder(Protocol):
    """Gives links priorities. Sees only fetched pages; never asks for an unfetched one.

    For each fetched page the engine calls `learn` (the outcome of the link that led there), then
    `rank` with the page's eligible links, and every `reorder_every` pages `reorder`.
    The same URL found again is joined by `combine`. With equal calls in equal order an order must
    give equal answers: randomness comes from a seed given to the constructor.
    """

    combine: Combine
    reorder_every: int | None
    """None: purely local, `reorder` is never called."""
    needs_blocks: bool
    """Whether `page.blocks` must be filled in."""

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> Sequence[Scored]:
        """Priorities for `links`; a link that is left out counts as dropped by the order."""
        ...

    def learn(self, page: Page, verdict: Verdict) -> None:
        """Take note of what a link (`page.via`) turned out to be."""
        ...

    def reorder(self, graph: CrawlGraph) -> NDArray[np.float64]:
        """New priorities by node of the graph; NaN leaves a node's priority as it is."""
        ...

    def explain(self, page: Page | None, url: str) -> dict[str, object]:
        """Facts for `honeyguide why` beyond the stored factors; may be empty."""
        ...

    def save(self) -> Saved:
        """Everything learned, as arrays and JSON values. The arrays may be its own: copy what is to stay."""
        ...

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave."""
        ...


class Revised(msgspec.Struct, frozen=True):
    """New priorities of URLs that wait."""

    ids: NDArray[np.int64]
    """Fingerprints (`UrlId`). URLs that wait no longer, and those that a person gave, are passed over."""
    priorities: NDArray[np.float64]

    @classmethod
    def none(cls) -> Revised:
        """Nothing changed."""
        return cls(np.empty(0, np.int64), np.empty(0, np.float64))


@runtime_checkable
class RevisingOrder(LinkOrder, Protocol):
    """An order that changes its mind about URLs that wait, a few at a time.

    `combine` should be `first`: a URL found again keeps its record, and its priority changes by `revised`.
    """

    def revised(self) -> Revised:
        """What changed since the last call. Asked after each page, when its links are in the frontier."""
        ...

    def gone(self, url: UrlId) -> None:
        """A URL ended without a page (not found, forbidden, a trap, a copy of a page that is there)."""
        ...

    def rejudged(self, page: Page, verdict: Verdict) -> None:
        """A page that was learned from earlier has another verdict now."""
        ...


@runtime_checkable
class PausingOrder(RevisingOrder, Protocol):
    """A `RevisingOrder` that may take long over its answer, and lets connections be served meanwhile."""

    def revising(self) -> Generator[None, None, Revised]:
        """What `revised` does, with pauses; nobody else asks or teaches the order before it has ended."""
        ...


def done(work: Generator[None, None, Result]) -> Result:
    """What work with pauses comes to, done without any."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: Result = end.value
            return result


@runtime_checkable
class BacklinkedOrder(LinkOrder, Protocol):
    """An order that has its own opinion of pages which are said to link to a page on topic."""

    def said_to_link(self, url: str, number: UrlId, to: UrlId) -> float:
        """The priority of a URL that a source says links to a page of the crawl.

        Args:
            url: The URL; it may be known already.
            number: Its fingerprint.
            to: The page's.
        """
        ...


class LocalOrder:
    """The parts of `LinkOrder` that an order without memory has no use for."""

    combine: Combine = "max"
    reorder_every: int | None = None
    needs_blocks: bool = False

    def learn(self, page: Page, verdict: Verdict) -> None:
        """Nothing to learn."""

    def reorder(self, graph: CrawlGraph) -> NDArray[np.float64]:
        """Never called for a local order."""
        return np.full(graph.size, np.nan)

    def explain(self, page: Page | None, url: str) -> dict[str, object]:
        """The stored factors say it all."""
        return {}

    def save(self) -> Saved:
        """No state."""
        return Saved()

    def load(self, saved: Saved) -> Self:
        """No state."""
        return self
