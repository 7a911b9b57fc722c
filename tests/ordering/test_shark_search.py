from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.base import TextJudge
from honeyguide.ordering.shark_search import SharkSearch

MakePage = Callable[..., Page]
Priorities = Callable[[Sequence[Scored]], list[float]]


def test_shark_search_by_hand(
    judge: TextJudge, links: tuple[Link, ...], on: Verdict, a_page: MakePage, priorities: Priorities
) -> None:
    ranked = SharkSearch(judge).rank(a_page(), on, links)
    # inherited = 0.5 * 0.8 = 0.4
    # owl: 0.8*0.5 + 0.2*1 = 0.6;  tax: 0.8*0 + 0.2*0.25 = 0.05;  bare: 0
    assert priorities(ranked) == [0.5, 0.225, 0.2]
    assert ranked[0].memo == {"depth": 3.0, "inherited": 0.4}


def test_shark_search_inherits_from_afar_only_where_the_page_says_nothing(
    judge: TextJudge, links: tuple[Link, ...], off: Verdict, a_page: MakePage
) -> None:
    silent = SharkSearch(judge).rank(
        a_page(memo={"depth": 3.0, "inherited": 0.4}), Verdict(0.0, False), links
    )
    assert silent[2].priority == pytest.approx(0.5 * 0.5 * 0.4)
    assert silent[2].memo == {"depth": 2.0, "inherited": 0.2}
    weak = SharkSearch(judge).rank(a_page(memo={"depth": 3.0, "inherited": 0.4}), off, links)
    assert weak[2].memo["inherited"] == pytest.approx(0.1)


def test_shark_search_dies_at_depth_zero(
    judge: TextJudge, links: tuple[Link, ...], off: Verdict, a_page: MakePage
) -> None:
    assert all(s.drop for s in SharkSearch(judge).rank(a_page(memo={"depth": 1.0}), off, links))
