"""Shark-Search as in the FCMRPS study: page content and anchor text."""

from __future__ import annotations

from collections.abc import Sequence

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.base import LocalOrder, TextJudge
from honeyguide.ordering.depth_rule import MEMO, USED_UP, child_depth
from honeyguide.ordering.link_text import anchor_scores, context_where_anchor_is_silent


class SharkFcmrps(LocalOrder):
    """`0.2 * R_PC + 0.8 * R_AT`, with Fish-Search's depth rule.

    R_PC is the page's score; R_AT that of the anchor text where it is positive, else that of the link
    context.

    Args:
        judge: Scores anchors and contexts.
        content_weight: Weight of R_PC.
        anchor_weight: Weight of R_AT.
        depth: Generations that survive without a relevant page.

    Example:
        >>> from honeyguide.model import Link, Page, Verdict
        >>> class Owls:
        ...     def judge_texts(self, texts):
        ...         return [float("owl" in text) for text in texts]
        >>> page = Page(url="https://a.example/", id=1)
        >>> links = [Link("https://b.example/", 2, "see", "an owl")]
        >>> SharkFcmrps(Owls()).rank(page, Verdict(0.5, True), links)[0].priority
        0.9

    References:
        Zhumin Chen, Jun Ma, Jingsheng Lei, Bo Yuan, Li Lian, Ling Song, "A cross-language focused
        crawling algorithm based on multiple relevance prediction strategies", Computers & Mathematics
        with Applications 57, 2009.
    """

    def __init__(
        self,
        judge: TextJudge,
        *,
        content_weight: float = 0.2,
        anchor_weight: float = 0.8,
        depth: int = 3,
    ) -> None:
        self._judge = judge
        self._content_weight = content_weight
        self._anchor_weight = anchor_weight
        self._depth = depth

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """The weighted sum, by link."""
        left = child_depth(page, verdict.on_topic, depth=self._depth)
        if not left:
            return [Scored(index, 0.0, drop=USED_UP) for index in range(len(links))]
        anchors = anchor_scores(self._judge, links)
        contexts = context_where_anchor_is_silent(self._judge, links, anchors)
        content = self._content_weight * verdict.score
        memo = {MEMO: float(left)}
        ranked = []
        for index, (anchor, context) in enumerate(zip(anchors, contexts, strict=True)):
            words = anchor if anchor > 0.0 else context
            factors = {"content": verdict.score, "anchor": words}
            ranked.append(Scored(index, content + self._anchor_weight * words, factors=factors, memo=memo))
        return ranked
