from __future__ import annotations

from collections.abc import Callable, Sequence

from honeyguide.model import Link, Page, Scored, Verdict, Via
from honeyguide.ordering.ache import Ache

MakePage = Callable[..., Page]
Priorities = Callable[[Sequence[Scored]], list[float]]


def teach(order: Ache, count: int) -> None:
    for number in range(count):
        good = number % 4 == 0
        via = Via(9, anchor="owl nests" if good else "tax forms", context="read more")
        page = Page(url=f"https://a.example/{'birds' if good else 'money'}/{number}", id=number, via=via)
        order.learn(page, Verdict(float(good), good))


def test_ache_is_best_first_until_it_has_learned(
    links: tuple[Link, ...], on: Verdict, a_page: MakePage, priorities: Priorities
) -> None:
    order = Ache(retrain_every=40)
    teach(order, 39)
    assert priorities(order.rank(a_page(), on, links)) == [0.8] * 3
    assert order.explain(None, "") == {"trained": False, "examples": 39}


def test_ache_learns_from_what_links_led_to(off: Verdict, a_page: MakePage, priorities: Priorities) -> None:
    order = Ache(retrain_every=40)
    teach(order, 40)
    links = [
        Link("https://z.example/x", 1, "tax forms"),
        Link("https://z.example/x", 2, "owl nests"),
        Link("https://z.example/birds/", 3, ""),
        Link("https://z.example/money/", 4, ""),
    ]
    bad, good, good_url, bad_url = priorities(order.rank(a_page(), off, links))
    assert good > 0.6 > 0.4 > bad
    assert good_url > bad_url


def test_ache_stays_best_first_with_one_class_only(
    links: tuple[Link, ...], off: Verdict, a_page: MakePage, priorities: Priorities
) -> None:
    order = Ache(retrain_every=5)
    for number in range(10):
        order.learn(Page(url="https://a.example/", id=number, via=Via(9, anchor="tax")), off)
    assert priorities(order.rank(a_page(), off, links)) == [0.2] * 3


def test_ache_forgets_old_examples_and_ignores_seeds(on: Verdict, a_page: MakePage) -> None:
    order = Ache(retrain_every=10, memory=20)
    teach(order, 100)
    assert order.explain(None, "")["examples"] == 20
    order.learn(a_page(), on)
    assert order.explain(None, "")["examples"] == 20
