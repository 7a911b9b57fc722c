from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from honeyguide.model import CrawlGraph, Link, Page, Scored, Verdict
from honeyguide.ordering.shark_webkb import SharkWebkb

MakePage = Callable[..., Page]
Priorities = Callable[[Sequence[Scored]], list[float]]


def test_ss1_sums_ancestors_with_decay(
    links: tuple[Link, ...], a_page: MakePage, priorities: Priorities
) -> None:
    order, memo = SharkWebkb(), None
    for relevance in (0.8, 0.0, 0.4):
        ranked = order.rank(a_page(memo=memo), Verdict(relevance, False), links)
        memo = ranked[0].memo
    # d*0.4 + d^2*0.0 + d^3*0.8
    assert priorities(ranked) == [0.3] * 3


def test_all_parents_and_grandparents_count_each_once_a_level() -> None:
    # 0 -> 1, 0 -> 2, 1 -> 3, 2 -> 3: page 0 is a grandparent of 3 by two ways and counts once.
    graph = CrawlGraph(
        ids=np.arange(5),
        fetched=np.arange(5) < 3,
        waiting=np.arange(5) > 2,
        score=np.array([0.8, 0.4, 0.2, 0.0, 0.0], dtype=np.float32),
        sources=np.array([0, 0, 1, 2, 2, 0], dtype=np.int32),
        targets=np.array([1, 2, 3, 3, 3, 4], dtype=np.int32),
    )
    order = SharkWebkb()
    assert order.reorder(graph)[3:] == pytest.approx([0.5 * 0.6 + 0.25 * 0.8, 0.5 * 0.8])
    assert SharkWebkb(levels=1).reorder(graph)[3:] == pytest.approx([0.3, 0.4])


def test_new_links_wait_for_the_next_reordering(links: tuple[Link, ...], a_page: MakePage) -> None:
    graph = CrawlGraph(
        ids=np.arange(1),
        fetched=np.array([True]),
        waiting=np.array([False]),
        score=np.array([0.5], dtype=np.float32),
        sources=np.empty(0, dtype=np.int32),
        targets=np.empty(0, dtype=np.int32),
    )
    for every, priority in ((50, -1.0), (0, 0.25)):
        order = SharkWebkb(reorder_every=every)
        assert order.rank(a_page(), Verdict(0.5, True), links)[0].priority == 0.25
        order.reorder(graph)
        assert order.rank(a_page(), Verdict(0.5, True), links)[0].priority == priority
