from __future__ import annotations

from collections.abc import Callable

from honeyguide.model import Link, Page, Verdict
from honeyguide.ordering.fish_search import FishSearch

MakePage = Callable[..., Page]


def test_fish_search_depth(links: tuple[Link, ...], on: Verdict, off: Verdict, a_page: MakePage) -> None:
    order = FishSearch()
    fed = order.rank(a_page(memo={"depth": 1.0}), on, links)[0]
    assert (fed.priority, fed.memo) == (1.0, {"depth": 3.0})
    hungry = order.rank(a_page(memo={"depth": 2.0}), off, links)[0]
    assert (hungry.priority, hungry.memo) == (0.5, {"depth": 1.0})
    seed = order.rank(a_page(), off, links)[0]
    assert seed.memo == {"depth": 2.0}
    assert all(s.drop for s in order.rank(a_page(memo={"depth": 1.0}), off, links))
