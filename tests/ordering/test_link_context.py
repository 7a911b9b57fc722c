from __future__ import annotations

from collections.abc import Callable, Sequence

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.base import TextJudge
from honeyguide.ordering.link_context import LinkContext

MakePage = Callable[..., Page]
Priorities = Callable[[Sequence[Scored]], list[float]]


def test_words_around_the_link_are_the_priority(
    judge: TextJudge, links: tuple[Link, ...], on: Verdict, a_page: MakePage, priorities: Priorities
) -> None:
    assert priorities(LinkContext(judge).rank(a_page(), on, links)) == [0.25, 0.25, 0.0]
