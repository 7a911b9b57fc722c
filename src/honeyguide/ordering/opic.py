"""OPIC: on-line page importance, without ever computing over the whole graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import msgspec
import numpy as np

from honeyguide.model import Link, Page, Scored, UrlId, Verdict
from honeyguide.ordering.base import Combine, LocalOrder
from honeyguide.store.models import Saved


class Opic(LocalOrder):
    """Every page has cash; a fetched page gives all of its cash to the pages it links to.

    The waiting page with most cash is the most important one known, so it comes next. Seeds and other
    pages found by no link start with `seed_cash`. A crawl fetches each page once: cash for a page that is
    already fetched would lie idle, so it is divided among the page's other links; a page with none leaves
    its cash in a pool (the paper's virtual page), which goes out with the next page that has some.
    Total cash is conserved. Relevance plays no part.

    The order keeps cash by URL, about 100 bytes a known URL, and ranks add up in the frontier
    (`combine = "sum"`), so that a URL's priority is its cash.

    Args:
        seed_cash: Cash of a page found by no link.

    Example:
        >>> from honeyguide.model import Link, Page, Verdict
        >>> page = Page(url="https://a.example/", id=1)
        >>> links = [Link("https://b.example/", 2), Link("https://c.example/", 3)]
        >>> [scored.priority for scored in Opic().rank(page, Verdict(0.0, False), links)]
        [0.5, 0.5]

    References:
        Serge Abiteboul, Mihai Preda, Grégory Cobena, "Adaptive on-line page importance computation",
        WWW 2003.
    """

    combine: Combine = "sum"

    def __init__(self, *, seed_cash: float = 1.0) -> None:
        self._seed_cash = seed_cash
        self._cash: dict[UrlId, float] = {}
        self._fetched: set[UrlId] = set()
        self._pool = 0.0

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """An equal part of the page's cash for each link to a page not yet fetched."""
        purse = self._cash.pop(page.id, 0.0 if page.id in self._fetched else self._seed_cash) + self._pool
        self._fetched.add(page.id)
        open_links = [index for index, link in enumerate(links) if link.id not in self._fetched]
        if not open_links:
            self._pool = purse
            return [Scored(index, 0.0) for index in range(len(links))]
        self._pool = 0.0
        part = purse / len(open_links)
        parts = dict.fromkeys(open_links, part)
        cash = self._cash
        for index in open_links:
            target = links[index].id
            cash[target] = cash.get(target, 0.0) + part
        return [
            Scored(index, parts.get(index, 0.0), factors={"cash": parts.get(index, 0.0)})
            for index in range(len(links))
        ]

    def save(self) -> Saved:
        """Cash by URL, and what is fetched."""
        return Saved(
            values={"pool": self._pool},
            arrays={
                "ids": np.fromiter(self._cash, dtype=np.int64, count=len(self._cash)),
                "cash": np.fromiter(self._cash.values(), dtype=np.float64, count=len(self._cash)),
                "fetched": np.fromiter(sorted(self._fetched), dtype=np.int64, count=len(self._fetched)),
            },
        )

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave."""
        arrays = saved.arrays
        self._pool = msgspec.convert(saved.values["pool"], float)
        self._cash = dict(zip(arrays["ids"].tolist(), arrays["cash"].tolist(), strict=True))
        self._fetched = set(arrays["fetched"].tolist())
        return self
