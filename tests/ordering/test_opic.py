from __future__ import annotations

from collections.abc import Callable, Sequence

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.opic import Opic

MakePage = Callable[..., Page]
Priorities = Callable[[Sequence[Scored]], list[float]]


def test_opic_conserves_cash(
    links: tuple[Link, ...], on: Verdict, a_page: MakePage, priorities: Priorities
) -> None:
    order = Opic()
    assert priorities(order.rank(a_page(), on, links)) == [round(1 / 3, 10)] * 3
    second = Page(url="https://b.example/", id=2)
    # Page 2 owns a third; page 1 is fetched, so page 3 gets it all.
    assert priorities(order.rank(second, on, [Link("", 1), Link("", 3)])) == [0.0, round(1 / 3, 10)]
    dead_end = Page(url="https://c.example/", id=3)
    assert order.rank(dead_end, on, []) == []
    last = Page(url="https://d.example/", id=4)
    assert priorities(order.rank(last, on, [Link("", 5)])) == [1.0]
