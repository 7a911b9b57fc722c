from __future__ import annotations

from collections.abc import Callable, Sequence

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.best_first import BestFirst

MakePage = Callable[..., Page]
Priorities = Callable[[Sequence[Scored]], list[float]]


def test_best_first_takes_the_best_parent(
    links: tuple[Link, ...], on: Verdict, a_page: MakePage, priorities: Priorities
) -> None:
    assert BestFirst().combine == "max"
    assert priorities(BestFirst().rank(a_page(), on, links)) == [0.8] * 3
