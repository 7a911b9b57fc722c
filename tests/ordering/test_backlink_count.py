from __future__ import annotations

from collections.abc import Callable, Sequence

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.backlink_count import BacklinkCount

MakePage = Callable[..., Page]
Priorities = Callable[[Sequence[Scored]], list[float]]


def test_backlinks_add_up(
    links: tuple[Link, ...], off: Verdict, a_page: MakePage, priorities: Priorities
) -> None:
    assert BacklinkCount().combine == "sum"
    assert priorities(BacklinkCount().rank(a_page(), off, links)) == [1.0] * 3
