from __future__ import annotations

from collections.abc import Callable

from honeyguide.model import Link, Page, Verdict
from honeyguide.ordering.iterative_deepening import IterativeDeepening

MakePage = Callable[..., Page]


def test_iterative_deepening_finishes_a_band_first(
    links: tuple[Link, ...], on: Verdict, a_page: MakePage
) -> None:
    order = IterativeDeepening(step=3)
    by_depth = [order.rank(a_page(depth=depth), on, links)[0].priority for depth in range(7)]
    # Children at depth 1-3, deepest first, then 4-6, then 7.
    assert sorted(range(7), key=lambda depth: -by_depth[depth]) == [2, 1, 0, 5, 4, 3, 6]
