from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.url_keywords import UrlKeywords

MakePage = Callable[..., Page]
Priorities = Callable[[Sequence[Scored]], list[float]]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://x.example/machinelearning.html", 1.0),
        ("https://x.example/MACHINES/", 0.5),
        ("https://x.example/start", 0.0),
        ("https://x.example/art", 1.0),
        ("https://x.example/%E9%B8%9F%E5%B7%A2", 1.0),
        ("https://x.example/", 0.0),
    ],
)
def test_url_keywords(
    url: str, expected: float, off: Verdict, a_page: MakePage, priorities: Priorities
) -> None:
    order = UrlKeywords(["machine learning", "art", "鸟巢"])
    assert priorities(order.rank(a_page(), off, [Link(url, 2)])) == [expected]


def test_url_keywords_without_keywords(
    links: tuple[Link, ...], off: Verdict, a_page: MakePage, priorities: Priorities
) -> None:
    assert priorities(UrlKeywords([]).rank(a_page(), off, links)) == [0.0] * 3
