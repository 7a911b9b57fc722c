from __future__ import annotations

from collections.abc import Callable, Sequence

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.shark_webkb import SharkWebkb

MakePage = Callable[..., Page]
Priorities = Callable[[Sequence[Scored]], list[float]]


class Table:
    """A judge that knows a few texts, and counts how it is asked."""

    def __init__(self, **known: float) -> None:
        self.known = known
        self.calls: list[list[str]] = []

    def judge_texts(self, texts: Sequence[str]) -> list[float]:
        self.calls.append(list(texts))
        return [self.known.get(text, 0.0) for text in texts]


def test_ss1_sums_ancestors_with_decay(
    links: tuple[Link, ...], a_page: MakePage, priorities: Priorities
) -> None:
    order, memo = SharkWebkb(), None
    for relevance in (0.8, 0.0, 0.4):
        ranked = order.rank(a_page(memo=memo), Verdict(relevance, False), links)
        memo = ranked[0].memo
    # d*0.4 + d^2*0.0 + d^3*0.8
    assert priorities(ranked) == [0.3] * 3


def test_ss2_may_use_a_judge_of_its_own(
    links: tuple[Link, ...], on: Verdict, a_page: MakePage, priorities: Priorities
) -> None:
    judge = Table(**{"owl ": 0.6})
    assert priorities(SharkWebkb(judge).rank(a_page(), on, links)) == [0.3] * 3
