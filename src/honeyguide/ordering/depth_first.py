"""Depth-first: last found, first fetched."""

from __future__ import annotations

from collections.abc import Sequence

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.base import Combine, LocalOrder


class DepthFirst(LocalOrder):
    """LIFO over pages: the links of the page fetched last come first, in the order of the page.

    A URL found again moves up (`combine = "latest"`). With several fetches in flight the order is that of
    the pages' numbers.

    Example:
        >>> from honeyguide.model import Link, Page, Verdict
        >>> page, links = Page(url="https://a.example/", id=1, number=7), [Link("https://b.example/", 2)]
        >>> DepthFirst().rank(page, Verdict(0, False), links)[0].priority
        7.0
    """

    combine: Combine = "latest"

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """The page's number as priority of all its links."""
        priority = float(page.number)
        return [Scored(index, priority) for index in range(len(links))]
