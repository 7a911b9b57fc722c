"""Link context only: a link is worth what the text around it says."""

from __future__ import annotations

from collections.abc import Sequence

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.base import LocalOrder, TextJudge
from honeyguide.ordering.link_text import context_scores


class LinkContext(LocalOrder):
    """A URL has the page model's score of its link context.

    The context is all text below the anchor's parent element, the anchor included.

    Args:
        judge: Scores the contexts.

    Example:
        >>> from honeyguide.model import Link, Page, Verdict
        >>> class Owls:
        ...     def judge_texts(self, texts):
        ...         return [float("owl" in text) for text in texts]
        >>> page, links = Page(url="https://a.example/", id=1), [Link("https://b.example/", 2, "", "an owl")]
        >>> LinkContext(Owls()).rank(page, Verdict(0.0, False), links)[0].priority
        1.0

    References:
        Baseline of the CBP-SLC study; see section 6 of the literature notes.
    """

    def __init__(self, judge: TextJudge) -> None:
        self._judge = judge

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """The context's score."""
        return [
            Scored(index, score, factors={"context": score})
            for index, score in enumerate(context_scores(self._judge, links))
        ]
