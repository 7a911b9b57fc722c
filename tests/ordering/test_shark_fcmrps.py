from __future__ import annotations

from collections.abc import Callable, Sequence

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.base import TextJudge
from honeyguide.ordering.shark_fcmrps import SharkFcmrps

MakePage = Callable[..., Page]
Priorities = Callable[[Sequence[Scored]], list[float]]


def test_shark_as_in_the_fcmrps_study(
    judge: TextJudge,
    links: tuple[Link, ...],
    on: Verdict,
    off: Verdict,
    a_page: MakePage,
    priorities: Priorities,
) -> None:
    # 0.2*0.8 + 0.8*(0.5, context 0.25, 0)
    assert priorities(SharkFcmrps(judge).rank(a_page(), on, links)) == [0.56, 0.36, 0.16]
    assert all(s.drop for s in SharkFcmrps(judge).rank(a_page(memo={"depth": 1.0}), off, links))
