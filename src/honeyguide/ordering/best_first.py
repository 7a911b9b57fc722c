"""Best-first: links of relevant pages first."""

from __future__ import annotations

from collections.abc import Sequence

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.accepted import REJECTED, is_rejected
from honeyguide.ordering.base import LocalOrder


class BestFirst(LocalOrder):
    """A URL has the relevance of the best page it was found on.

    The plain focused crawler: strong while relevant pages link to each other, blind to hubs and to the
    differences between the links of one page.

    Args:
        only_accepted: Drop the links of pages off topic (the GP hybrid study); seeds are always followed.

    Example:
        >>> from honeyguide.model import Link, Page, Verdict
        >>> page = Page(url="https://a.example/", id=1)
        >>> BestFirst().rank(page, Verdict(0.75, True), [Link("https://b.example/", 2)])[0].priority
        0.75

    References:
        Junghoo Cho, Hector Garcia-Molina, Lawrence Page, "Efficient crawling through URL ordering",
        WWW 1998.
        Filippo Menczer, Gautam Pant, Padmini Srinivasan, "Topical web crawlers: evaluating adaptive
        algorithms", ACM TOIT 2004.
    """

    def __init__(self, *, only_accepted: bool = False) -> None:
        self._only_accepted = only_accepted

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """The page's score as priority of all its links."""
        if self._only_accepted and is_rejected(page, verdict):
            return [Scored(index, 0.0, drop=REJECTED) for index in range(len(links))]
        factors = {"parent": verdict.score}
        return [Scored(index, verdict.score, factors=factors) for index in range(len(links))]
