"""Shark-Search: Fish-Search with degrees of relevance, and with the words around a link."""

from __future__ import annotations

from collections.abc import Sequence

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.base import LocalOrder, TextJudge
from honeyguide.ordering.depth_rule import MEMO, USED_UP, child_depth
from honeyguide.ordering.link_text import anchor_scores, context_where_anchor_is_silent

INHERITED = "inherited"


class SharkSearch(LocalOrder):
    """Half what a link inherits from its page, half what its neighbourhood says.

    `inherited(child) = decay * rel(parent)` if `rel(parent) > 0`, else `decay * inherited(parent)`;
    `anchor` is the score of the anchor text; `context` is 1 if `anchor > 0`, else the score of the
    surrounding text; `neighbourhood = beta * anchor + (1 - beta) * context`;
    `priority = gamma * inherited + (1 - gamma) * neighbourhood`. Depth rule as in Fish-Search, where
    a page is relevant when its page model says so.

    Args:
        judge: Scores anchors and contexts, normally the crawl's page model.
        decay: Share of relevance that reaches the next generation (delta).
        beta: Weight of the anchor text in the neighbourhood.
        gamma: Weight of what is inherited.
        depth: Generations that survive without a relevant page.

    Example:
        >>> from honeyguide.model import Link, Page, Verdict
        >>> class Owls:
        ...     def judge_texts(self, texts):
        ...         return [float("owl" in text) for text in texts]
        >>> page, links = Page(url="https://a.example/", id=1), [Link("https://b.example/", 2, "owls")]
        >>> SharkSearch(Owls()).rank(page, Verdict(0.8, True), links)[0].priority
        0.7

    References:
        Michael Hersovici, Michal Jacovi, Yoelle Maarek, Dan Pelleg, Menachem Shtalhaim, Sigalit Ur,
        "The shark-search algorithm. An application: tailored web site mapping", WWW 1998.
    """

    def __init__(
        self,
        judge: TextJudge,
        *,
        decay: float = 0.5,
        beta: float = 0.8,
        gamma: float = 0.5,
        depth: int = 3,
    ) -> None:
        self._judge = judge
        self._decay = decay
        self._beta = beta
        self._gamma = gamma
        self._depth = depth

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """Inherited score and neighbourhood score, by link."""
        left = child_depth(page, verdict.on_topic, depth=self._depth)
        if not left:
            return [Scored(index, 0.0, drop=USED_UP) for index in range(len(links))]
        own = page.via.memo.get(INHERITED, 0.0) if page.via is not None else 0.0
        inherited = self._decay * (verdict.score if verdict.score > 0.0 else own)
        anchors = anchor_scores(self._judge, links)
        contexts = context_where_anchor_is_silent(self._judge, links, anchors)
        memo = {MEMO: float(left), INHERITED: inherited}
        ranked = []
        for index, (anchor, silent_context) in enumerate(zip(anchors, contexts, strict=True)):
            context = 1.0 if anchor > 0.0 else silent_context
            neighbourhood = self._beta * anchor + (1.0 - self._beta) * context
            priority = self._gamma * inherited + (1.0 - self._gamma) * neighbourhood
            factors = {INHERITED: inherited, "anchor": anchor, "context": context}
            ranked.append(Scored(index, priority, factors=factors, memo=memo))
        return ranked
