from __future__ import annotations

from collections.abc import Callable, Sequence

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.anchor_only import AnchorOnly
from honeyguide.ordering.base import TextJudge

MakePage = Callable[..., Page]
Priorities = Callable[[Sequence[Scored]], list[float]]


def test_anchor_words_are_the_priority(
    judge: TextJudge, links: tuple[Link, ...], on: Verdict, a_page: MakePage, priorities: Priorities
) -> None:
    assert priorities(AnchorOnly(judge).rank(a_page(), on, links)) == [0.5, 0.0, 0.0]
