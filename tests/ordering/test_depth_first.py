from __future__ import annotations

from collections.abc import Callable

from honeyguide.model import Link, Page, Verdict
from honeyguide.ordering.depth_first import DepthFirst

MakePage = Callable[..., Page]


def test_depth_first_prefers_the_newest_page(links: tuple[Link, ...], on: Verdict, a_page: MakePage) -> None:
    order = DepthFirst()
    assert order.combine == "latest"
    assert (
        order.rank(a_page(number=9), on, links)[0].priority
        > order.rank(a_page(number=8), on, links)[2].priority
    )
