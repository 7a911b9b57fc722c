"""Shark-Search as in the WebKB study: SS1 and SS2."""

from __future__ import annotations

from collections.abc import Sequence

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.base import LocalOrder, TextJudge

INHERITED = "inherited"


class SharkWebkb(LocalOrder):
    """A URL inherits `d * rel(parent) + d^2 * rel(grandparent) + ...` along the path it was found by.

    What a page inherited travels in the memo, so the sum costs one addition a page:
    `inherited(child) = d * (rel(page) + inherited(page))`. Of several parents the best counts. The
    words of links are not looked at.

    SS1 and SS2 differ in `rel` only: SS1 takes the cosine with the topic words (page model `tf-cosine`
    with `scoring = "cosine"`), SS2 Okapi weights trained on what the topic query retrieves (page model
    `okapi`).

    Parameters:
        judge: Scores the page for this order; None takes the verdict of the crawl's page model.
        decay: d.

    Example:
        >>> from honeyguide.model import Link, Page, Verdict, Via
        >>> page = Page(url="https://a.example/", id=1, via=Via(9, memo={"inherited": 0.4}))
        >>> SharkWebkb().rank(page, Verdict(0.6, True), [Link("https://b.example/", 2)])[0].priority
        0.5

    References:
        George Almpanidis, Constantine Kotropoulos, Ioannis Pitas, "Combining text and link analysis for
        focused crawling: an application for vertical search engines", Information Systems 32, 2007.
    """

    def __init__(self, judge: TextJudge | None = None, *, decay: float = 0.5) -> None:
        self._judge = judge
        self._decay = decay

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """The same inherited score for all links of the page."""
        relevance = verdict.score
        if self._judge is not None:
            relevance = float(self._judge.judge_texts([f"{page.title} {page.content}"])[0])
        own = page.via.memo.get(INHERITED, 0.0) if page.via is not None else 0.0
        inherited = self._decay * (relevance + own)
        factors, memo = {"parent": relevance, "ancestors": own}, {INHERITED: inherited}
        return [Scored(index, inherited, factors=factors, memo=memo) for index in range(len(links))]
