from __future__ import annotations

from collections.abc import Callable, Sequence

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.breadth_first import BreadthFirst

MakePage = Callable[..., Page]
Priorities = Callable[[Sequence[Scored]], list[float]]


def test_breadth_first_is_first_come_first_served(
    links: tuple[Link, ...], on: Verdict, off: Verdict, a_page: MakePage, priorities: Priorities
) -> None:
    order = BreadthFirst()
    assert order.combine == "first"
    assert priorities(order.rank(a_page(number=1), on, links)) == [0.0] * 3
    assert priorities(order.rank(a_page(number=9), off, links)) == [0.0] * 3
