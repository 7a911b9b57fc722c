"""Anchor text only: a link is worth what its own words say."""

from __future__ import annotations

from collections.abc import Sequence

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.base import LocalOrder, TextJudge
from honeyguide.ordering.link_text import anchor_scores


class AnchorOnly(LocalOrder):
    """A URL has the page model's score of its anchor text.

    Links without words (images, arrows) get 0 and come last.

    Args:
        judge: Scores the anchors.

    Example:
        >>> from honeyguide.model import Link, Page, Verdict
        >>> class Owls:
        ...     def judge_texts(self, texts):
        ...         return [float("owl" in text) for text in texts]
        >>> page, links = Page(url="https://a.example/", id=1), [Link("https://b.example/", 2, "owls")]
        >>> AnchorOnly(Owls()).rank(page, Verdict(0.0, False), links)[0].priority
        1.0

    References:
        Baseline of the CBP-SLC study; see section 6 of the literature notes.
    """

    def __init__(self, judge: TextJudge) -> None:
        self._judge = judge

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """The anchor's score."""
        return [
            Scored(index, score, factors={"anchor": score})
            for index, score in enumerate(anchor_scores(self._judge, links))
        ]
