"""Backlink count: the most linked-to URL first."""

from __future__ import annotations

from collections.abc import Sequence

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.base import Combine, LocalOrder


class BacklinkCount(LocalOrder):
    """A URL's priority is the number of fetched pages that link to it.

    Each link is worth one, and priorities of the same URL add up, so the count is up to date at any time
    without a pass over the graph.

    Example:
        >>> from honeyguide.model import Link, Page, Verdict
        >>> page = Page(url="https://a.example/", id=1)
        >>> BacklinkCount().rank(page, Verdict(0, False), [Link("https://b.example/", 2)])[0].priority
        1.0

    References:
        Junghoo Cho, Hector Garcia-Molina, Lawrence Page, "Efficient crawling through URL ordering",
        WWW 1998.
    """

    combine: Combine = "sum"

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """One for every link."""
        return [Scored(index, 1.0) for index in range(len(links))]
