"""CBP-SLC: content blocks first, then anchors, then link contexts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final, Literal, Self, TypeAlias

import msgspec

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.base import Combine, LocalOrder, TextJudge
from honeyguide.ordering.link_text import scores
from honeyguide.store.models import Saved

RULES: Final = ("block", "anchor", "context", "kept")
"""What can bring a link in; in `memo` and `factors` as 1, 2, 3, 4 under the name `rule`."""
USUAL_THRESHOLD: Final = 0.5
Queued: TypeAlias = Literal["best", "first"]


class CbpSlc(LocalOrder):
    """Follows all links of relevant content blocks, and of the others only those with relevant words.

    For each block of a page: if the block is relevant, all its links get the block's relevance. Of
    the other links, those whose anchor text is relevant get the anchor's relevance; of the rest, those
    whose link context is relevant get the context's. All others are dropped. A target that several
    blocks link to goes by its best block. A page without blocks (a PDF, a text file) is one block.

    Blocks, anchors and contexts are judged by the crawl's page model, whichever it is, in one call
    each. The order counts which rule brought in each fetched page, and how many of these turned out
    on topic (`counts`, and in `honeyguide why`).

    Args:
        judge: Scores the texts.
        threshold: Relevant from this score on; None asks the page model (its `threshold`), else 0.5.
        alpha: Granularity of the blocks; smaller values give smaller blocks.
        block_tags: `modern`, or `paper` for the paper's list of content block tags.
        context: Characters of a link's context, the text below the anchor's parent element, at most. The
            paper has no limit; pages whose links all hang below one large element need one.
        queued: What a link to a URL that waits already does: `best` keeps the better of the two scores,
            `first` leaves it where it is, as published.
        keep_rejected: Keep links that no rule brings in, behind all others, instead of dropping them. Among
            themselves they go by the best score of block, anchor, context and page.

    Example:
        >>> from honeyguide.model import Block, Link, Page, Verdict
        >>> class Owls:
        ...     def judge_texts(self, texts):
        ...         return [float("owl" in text) for text in texts]
        >>> links = (Link("https://b.example/", 2, "more"), Link("https://c.example/", 3, "an owl"))
        >>> blocks = (Block("owls and their nests, more", (0,)), Block("tax and an ow1", (1,)))
        >>> page = Page(url="https://a.example/", id=1, links=links, blocks=blocks)
        >>> [scored.factors for scored in CbpSlc(Owls()).rank(page, Verdict(0.2, False), links)]
        [{'block': 1.0, 'rule': 1.0}, {'block': 0.0, 'anchor': 1.0, 'rule': 2.0}]

    References:
        Tao Peng, Lu Liu, "Focused crawling enhanced by CBP-SLC", Knowledge-Based Systems 51, 2013,
        algorithm 4.
    """

    needs_blocks = True
    uses: ClassVar[frozenset[str]] = frozenset(("block", "anchor", "context"))
    """Which rules this strategy has."""

    def __init__(
        self,
        judge: TextJudge,
        *,
        threshold: float | None = None,
        alpha: float = 0.5,
        block_tags: Literal["modern", "paper"] = "modern",
        context: int = 4000,
        queued: Queued = "best",
        keep_rejected: bool = False,
    ) -> None:
        if not 0.0 < alpha <= 1.0:
            raise ValueError(f"option 'alpha' must be above 0 and at most 1, not {alpha}")
        if context < 1:
            raise ValueError(f"option 'context' must be 1 or more, not {context}")
        self._judge = judge
        self._threshold = threshold
        self.block_alpha = alpha
        self.block_tags = block_tags
        self.block_context = context
        self.combine: Combine = "max" if queued == "best" else "first"
        self._keep_rejected = keep_rejected
        self._fetched = [0] * len(RULES)
        self._relevant = [0] * len(RULES)

    @property
    def threshold(self) -> float:
        """Score from which a text is relevant; a model that learns may move its own."""
        if self._threshold is not None:
            return self._threshold
        return float(getattr(self._judge, "threshold", USUAL_THRESHOLD))

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """One answer a link: by its block, else its anchor, else its context."""
        if not links:
            return []
        threshold = self.threshold
        factors: list[dict[str, float]] = [{} for _ in links]
        rules = [0] * len(links)
        for number, name in enumerate(RULES[:3], 1):
            left = [i for i, rule in enumerate(rules) if not rule]
            if not left or name not in self.uses:
                continue
            for place, score in zip(
                left, self._scores(name, page, verdict, [links[i] for i in left]), strict=True
            ):
                factors[place][name] = score
                if score >= threshold:
                    rules[place] = number
        return [self._answer(i, rules[i], factors[i], page=verdict.score) for i in range(len(links))]

    def learn(self, page: Page, verdict: Verdict) -> None:
        """Count which rule led here, and whether it was right."""
        rule = int(page.via.memo.get("rule", 0.0)) if page.via is not None else 0
        if 1 <= rule <= len(RULES):
            self._fetched[rule - 1] += 1
            self._relevant[rule - 1] += verdict.on_topic

    @property
    def counts(self) -> dict[str, tuple[int, int]]:
        """By rule: pages fetched, and how many of these were on topic."""
        return dict(zip(RULES, zip(self._fetched, self._relevant, strict=True), strict=True))

    def explain(self, page: Page | None, url: str) -> dict[str, object]:
        """The counters and, for a page, its blocks with their scores."""
        facts: dict[str, object] = {
            f"pages by {rule}": f"{relevant} of {fetched} on topic"
            for rule, (fetched, relevant) in self.counts.items()
            if fetched
        }
        if page is not None and page.blocks and "block" in self.uses:
            values = scores(self._judge, [block.text for block in page.blocks])
            facts["blocks"] = [
                {"path": block.tag_path, "links": len(block.links), "score": value, "text": block.text[:200]}
                for block, value in zip(page.blocks, values, strict=True)
            ]
        return facts

    def save(self) -> Saved:
        """The counters."""
        return Saved(values={"fetched": list(self._fetched), "relevant": list(self._relevant)})

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave."""
        self._fetched = msgspec.convert(saved.values["fetched"], list[int])
        self._relevant = msgspec.convert(saved.values["relevant"], list[int])
        return self

    def _scores(self, name: str, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[float]:
        if name == "anchor":
            return scores(self._judge, [link.anchor for link in links])
        if name == "context":
            return scores(self._judge, [link.context for link in links])
        if not page.blocks:
            return [verdict.score] * len(links)
        values = scores(self._judge, [block.text if block.links else "" for block in page.blocks])
        best: dict[int, float] = {}
        for block, value in zip(page.blocks, values, strict=True):
            for index in block.links:
                target = page.links[index].id
                best[target] = max(value, best.get(target, 0.0))
        return [best.get(link.id, 0.0) for link in links]

    def _answer(self, place: int, rule: int, factors: dict[str, float], *, page: float) -> Scored:
        if rule:
            factors["rule"] = float(rule)
            return Scored(place, factors[RULES[rule - 1]], factors=factors, memo={"rule": float(rule)})
        if not self._keep_rejected:
            return Scored(place, 0.0, drop=f"no relevant {' or '.join(sorted(self.uses))}", factors=factors)
        # Best-first among themselves. Scores are at most one: below zero is behind all admitted links.
        priority = max(page, *factors.values()) - 2.0
        return Scored(place, priority, factors={**factors, "page": page, "rule": 4.0}, memo={"rule": 4.0})


class Cbp(CbpSlc):
    """CBP alone: all links of relevant content blocks, and no others.

    Args:
        judge: Scores the blocks.
        threshold: As for `CbpSlc`.
        alpha: As for `CbpSlc`.
        block_tags: As for `CbpSlc`.
        context: As for `CbpSlc`.
        queued: As for `CbpSlc`.
        keep_rejected: As for `CbpSlc`.

    References:
        Strategy "CBP" of the CBP-SLC study.
    """

    uses = frozenset(("block",))


class Slc(CbpSlc):
    """SLC alone: links with relevant anchors, else with relevant contexts; no blocks.

    Args:
        judge: Scores anchors and contexts.
        threshold: As for `CbpSlc`.
        context: As for `CbpSlc`.
        queued: As for `CbpSlc`.
        keep_rejected: As for `CbpSlc`.

    References:
        Strategy "SLC" of the CBP-SLC study.
    """

    uses = frozenset(("anchor", "context"))

    def __init__(
        self,
        judge: TextJudge,
        *,
        threshold: float | None = None,
        context: int = 4000,
        queued: Queued = "best",
        keep_rejected: bool = False,
    ) -> None:
        super().__init__(
            judge, threshold=threshold, context=context, queued=queued, keep_rejected=keep_rejected
        )
