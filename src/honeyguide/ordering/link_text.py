"""Scores of the words in and around a link, in as few calls of the page model as possible."""

from __future__ import annotations

from collections.abc import Sequence

from honeyguide.model import Link
from honeyguide.ordering.base import TextJudge


def scores(judge: TextJudge, texts: Sequence[str]) -> list[float]:
    """Scores of `texts`; empty texts get 0 and are not asked about, equal ones are asked about once."""
    distinct = dict.fromkeys(text for text in texts if text)
    found: dict[str, float] = {}
    if distinct:
        answers = judge.judge_texts(list(distinct))
        found = {text: float(answer) for text, answer in zip(distinct, answers, strict=True)}
    return [found.get(text, 0.0) for text in texts]


def anchor_scores(judge: TextJudge, links: Sequence[Link]) -> list[float]:
    """Scores of the anchor texts."""
    return scores(judge, [link.anchor for link in links])


def context_scores(judge: TextJudge, links: Sequence[Link]) -> list[float]:
    """Scores of the link contexts."""
    return scores(judge, [link.context for link in links])


def context_where_anchor_is_silent(
    judge: TextJudge, links: Sequence[Link], anchors: Sequence[float]
) -> list[float]:
    """Scores of the contexts of links whose anchor scores nothing; 0 for the others."""
    return scores(
        judge, ["" if anchor > 0.0 else link.context for link, anchor in zip(links, anchors, strict=True)]
    )
