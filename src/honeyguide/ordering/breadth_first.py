"""Breadth-first: first found, first fetched."""

from __future__ import annotations

from collections.abc import Sequence

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.accepted import REJECTED, is_rejected
from honeyguide.ordering.base import Combine, LocalOrder


class BreadthFirst(LocalOrder):
    """FIFO: all links are equal, and ties go to the URL found first.

    The baseline of every study: it looks at nothing, and still finds well-linked pages early.

    Args:
        only_accepted: Drop the links of pages off topic (the GP hybrid study); seeds are always followed.

    Example:
        >>> from honeyguide.model import Link, Page, Verdict
        >>> page, links = Page(url="https://a.example/", id=1), [Link("https://b.example/", 2)]
        >>> BreadthFirst().rank(page, Verdict(0.9, True), links)[0].priority
        0.0

    References:
        Marc Najork, Janet Wiener, "Breadth-first crawling yields high-quality pages", WWW 2001.
    """

    combine: Combine = "first"

    def __init__(self, *, only_accepted: bool = False) -> None:
        self._only_accepted = only_accepted

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """Priority 0 for every link."""
        if self._only_accepted and is_rejected(page, verdict):
            return [Scored(index, 0.0, drop=REJECTED) for index in range(len(links))]
        return [Scored(index, 0.0) for index in range(len(links))]
