"""Each order's formula on examples worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from honeyguide.model import CrawlGraph, Link, Page, Scored, Verdict, Via
from honeyguide.ordering.ache import Ache
from honeyguide.ordering.anchor_only import AnchorOnly
from honeyguide.ordering.backlink_count import BacklinkCount
from honeyguide.ordering.best_first import BestFirst
from honeyguide.ordering.breadth_first import BreadthFirst
from honeyguide.ordering.depth_first import DepthFirst
from honeyguide.ordering.fish_search import FishSearch
from honeyguide.ordering.iterative_deepening import IterativeDeepening
from honeyguide.ordering.link_context import LinkContext
from honeyguide.ordering.link_text import scores
from honeyguide.ordering.opic import Opic
from honeyguide.ordering.pagerank import PageRank, power_iteration
from honeyguide.ordering.random_order import RandomOrder
from honeyguide.ordering.shark_fcmrps import SharkFcmrps
from honeyguide.ordering.shark_search import SharkSearch
from honeyguide.ordering.shark_webkb import SharkWebkb
from honeyguide.ordering.url_keywords import UrlKeywords


class Table:
    """A judge that knows a few texts, and counts how it is asked."""

    def __init__(self, **known: float) -> None:
        self.known = known
        self.calls: list[list[str]] = []

    def judge_texts(self, texts: Sequence[str]) -> list[float]:
        self.calls.append(list(texts))
        return [self.known.get(text, 0.0) for text in texts]


LINKS = (
    Link("https://b.example/owls/one.html", 2, "owl", "near"),
    Link("https://c.example/tax", 3, "tax", "near"),
    Link("https://d.example/", 4, "", ""),
)
JUDGE = Table(owl=0.5, near=0.25)
ON, OFF = Verdict(0.8, True), Verdict(0.2, False)


def a_page(
    *, memo: dict[str, float] | None = None, priority: float = 0.0, number: int = 1, depth: int = 0
) -> Page:
    via = None if memo is None else Via(9, priority=priority, memo=memo)
    return Page(url="https://a.example/", id=1, title="owl", text="", via=via, number=number, depth=depth)


def priorities(ranked: Sequence[Scored]) -> list[float]:
    return [round(scored.priority, 10) for scored in ranked]


def test_breadth_first_is_first_come_first_served() -> None:
    order = BreadthFirst()
    assert order.combine == "first"
    assert priorities(order.rank(a_page(number=1), ON, LINKS)) == [0.0] * 3
    assert priorities(order.rank(a_page(number=9), OFF, LINKS)) == [0.0] * 3


def test_depth_first_prefers_the_newest_page() -> None:
    order = DepthFirst()
    assert order.combine == "latest"
    assert (
        order.rank(a_page(number=9), ON, LINKS)[0].priority
        > order.rank(a_page(number=8), ON, LINKS)[2].priority
    )


def test_random_order_is_uniform_and_by_url() -> None:
    links = [Link("", i) for i in range(-2000, 2000)]
    drawn = np.array([s.priority for s in RandomOrder(seed=5).rank(a_page(), ON, links)])
    assert drawn.min() >= 0.0
    assert drawn.max() < 1.0
    assert abs(drawn.mean() - 0.5) < 0.03
    assert abs(np.corrcoef(drawn, np.arange(4000))[0, 1]) < 0.05


def test_best_first_takes_the_best_parent() -> None:
    assert BestFirst().combine == "max"
    assert priorities(BestFirst().rank(a_page(), ON, LINKS)) == [0.8] * 3


def test_backlinks_add_up() -> None:
    assert BacklinkCount().combine == "sum"
    assert priorities(BacklinkCount().rank(a_page(), OFF, LINKS)) == [1.0] * 3


def test_fish_search_depth() -> None:
    order = FishSearch()
    fed = order.rank(a_page(memo={"depth": 1.0}), ON, LINKS)[0]
    assert (fed.priority, fed.memo) == (1.0, {"depth": 3.0})
    hungry = order.rank(a_page(memo={"depth": 2.0}), OFF, LINKS)[0]
    assert (hungry.priority, hungry.memo) == (0.5, {"depth": 1.0})
    seed = order.rank(a_page(), OFF, LINKS)[0]
    assert seed.memo == {"depth": 2.0}
    assert all(s.drop for s in order.rank(a_page(memo={"depth": 1.0}), OFF, LINKS))


def test_shark_search_by_hand() -> None:
    ranked = SharkSearch(JUDGE).rank(a_page(), ON, LINKS)
    # inherited = 0.5 * 0.8 = 0.4
    # owl: 0.8*0.5 + 0.2*1 = 0.6;  tax: 0.8*0 + 0.2*0.25 = 0.05;  bare: 0
    assert priorities(ranked) == [0.5, 0.225, 0.2]
    assert ranked[0].memo == {"depth": 3.0, "inherited": 0.4}


def test_shark_search_inherits_from_afar_only_where_the_page_says_nothing() -> None:
    silent = SharkSearch(JUDGE).rank(
        a_page(memo={"depth": 3.0, "inherited": 0.4}), Verdict(0.0, False), LINKS
    )
    assert silent[2].priority == pytest.approx(0.5 * 0.5 * 0.4)
    assert silent[2].memo == {"depth": 2.0, "inherited": 0.2}
    weak = SharkSearch(JUDGE).rank(a_page(memo={"depth": 3.0, "inherited": 0.4}), OFF, LINKS)
    assert weak[2].memo["inherited"] == pytest.approx(0.1)


def test_shark_search_dies_at_depth_zero() -> None:
    assert all(s.drop for s in SharkSearch(JUDGE).rank(a_page(memo={"depth": 1.0}), OFF, LINKS))


def test_ss1_sums_ancestors_with_decay() -> None:
    order, memo = SharkWebkb(), None
    for relevance in (0.8, 0.0, 0.4):
        ranked = order.rank(a_page(memo=memo), Verdict(relevance, False), LINKS)
        memo = ranked[0].memo
    # d*0.4 + d^2*0.0 + d^3*0.8
    assert priorities(ranked) == [0.3] * 3


def test_ss2_may_use_a_judge_of_its_own() -> None:
    judge = Table(**{"owl ": 0.6})
    assert priorities(SharkWebkb(judge).rank(a_page(), ON, LINKS)) == [0.3] * 3


def test_shark_as_in_the_fcmrps_study() -> None:
    # 0.2*0.8 + 0.8*(0.5, context 0.25, 0)
    assert priorities(SharkFcmrps(JUDGE).rank(a_page(), ON, LINKS)) == [0.56, 0.36, 0.16]
    assert all(s.drop for s in SharkFcmrps(JUDGE).rank(a_page(memo={"depth": 1.0}), OFF, LINKS))


def test_anchor_only_and_link_context() -> None:
    assert priorities(AnchorOnly(JUDGE).rank(a_page(), ON, LINKS)) == [0.5, 0.0, 0.0]
    assert priorities(LinkContext(JUDGE).rank(a_page(), ON, LINKS)) == [0.25, 0.25, 0.0]


def test_texts_are_judged_once_and_in_one_call() -> None:
    judge = Table(a=1.0)
    assert scores(judge, ["a", "b", "", "a"]) == [1.0, 0.0, 0.0, 1.0]
    assert judge.calls == [["a", "b"]]
    assert scores(judge, ["", ""]) == [0.0, 0.0]
    assert len(judge.calls) == 1


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
def test_url_keywords(url: str, expected: float) -> None:
    order = UrlKeywords(["machine learning", "art", "鸟巢"])
    assert priorities(order.rank(a_page(), OFF, [Link(url, 2)])) == [expected]


def test_url_keywords_without_keywords() -> None:
    assert priorities(UrlKeywords([]).rank(a_page(), OFF, LINKS)) == [0.0] * 3


def test_iterative_deepening_finishes_a_band_first() -> None:
    order = IterativeDeepening(step=3)
    by_depth = [order.rank(a_page(depth=depth), ON, LINKS)[0].priority for depth in range(7)]
    # Children at depth 1-3, deepest first, then 4-6, then 7.
    assert sorted(range(7), key=lambda depth: -by_depth[depth]) == [2, 1, 0, 5, 4, 3, 6]


def a_graph(size: int, pairs: list[tuple[int, int]], waiting: list[int]) -> CrawlGraph:
    sources, targets = (np.array([pair[i] for pair in pairs], dtype=np.int32) for i in (0, 1))
    flags = np.zeros(size, dtype=np.bool_)
    flags[waiting] = True
    score = np.zeros(size, dtype=np.float32)
    return CrawlGraph(np.arange(size, dtype=np.int64), ~flags, flags, score, sources, targets)


def dense_pagerank(graph: CrawlGraph) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    size = graph.size
    matrix = np.zeros((size, size))
    for source, target in zip(graph.sources, graph.targets, strict=True):
        matrix[target, source] += 1
    degree = matrix.sum(axis=0)
    matrix[:, degree > 0] /= degree[degree > 0]
    matrix[:, degree == 0] = 1 / size
    solved = np.linalg.solve(np.eye(size) - 0.8 * matrix, np.full(size, 0.2 / size))
    return np.asarray(solved * size)


def test_pagerank_agrees_with_the_exact_solution() -> None:
    generator = np.random.default_rng(3)
    pairs = [(int(a), int(b)) for a, b in generator.integers(0, 40, (200, 2)) if a != b and a < 25]
    graph = a_graph(40, pairs, list(range(25, 40)))
    exact = dense_pagerank(graph)
    assert power_iteration(graph, np.empty(0), iterations=200, tolerance=0.0) == pytest.approx(
        exact, abs=1e-9
    )
    ten = power_iteration(graph, np.empty(0))
    assert ten == pytest.approx(exact, rel=0.05)
    assert ten.sum() == pytest.approx(40.0)


def test_pagerank_by_hand_and_warm_start() -> None:
    # 0 -> 1, 0 -> 2, 1 -> 2; node 2 waits and is dangling.
    graph = a_graph(3, [(0, 1), (0, 2), (1, 2)], [2])
    order = PageRank()
    assert order.reorder_every == 25
    for _ in range(5):
        found = order.reorder(graph)
    assert np.isnan(found[:2]).all()
    assert found[2] == pytest.approx(dense_pagerank(graph)[2], abs=1e-3)
    larger = a_graph(4, [(0, 1), (0, 2), (1, 2), (1, 3)], [2, 3])
    assert PageRank().load(order.save()).reorder(larger).tolist()[2:] == order.reorder(larger).tolist()[2:]


def test_pagerank_of_a_new_link() -> None:
    # 0.2 + 0.8 * 3 / 3
    assert priorities(PageRank().rank(a_page(memo={}, priority=3.0), ON, LINKS)) == [1.0] * 3


def test_opic_conserves_cash() -> None:
    order = Opic()
    assert priorities(order.rank(a_page(), ON, LINKS)) == [round(1 / 3, 10)] * 3
    second = Page(url="https://b.example/", id=2)
    # Page 2 owns a third; page 1 is fetched, so page 3 gets it all.
    assert priorities(order.rank(second, ON, [Link("", 1), Link("", 3)])) == [0.0, round(1 / 3, 10)]
    dead_end = Page(url="https://c.example/", id=3)
    assert order.rank(dead_end, ON, []) == []
    last = Page(url="https://d.example/", id=4)
    assert priorities(order.rank(last, ON, [Link("", 5)])) == [1.0]


def teach(order: Ache, count: int) -> None:
    for number in range(count):
        good = number % 4 == 0
        via = Via(9, anchor="owl nests" if good else "tax forms", context="read more")
        page = Page(url=f"https://a.example/{'birds' if good else 'money'}/{number}", id=number, via=via)
        order.learn(page, Verdict(float(good), good))


def test_ache_is_best_first_until_it_has_learned() -> None:
    order = Ache(retrain_every=40)
    teach(order, 39)
    assert priorities(order.rank(a_page(), ON, LINKS)) == [0.8] * 3
    assert order.explain(None, "") == {"trained": False, "examples": 39}


def test_ache_learns_from_what_links_led_to() -> None:
    order = Ache(retrain_every=40)
    teach(order, 40)
    links = [
        Link("https://z.example/x", 1, "tax forms"),
        Link("https://z.example/x", 2, "owl nests"),
        Link("https://z.example/birds/", 3, ""),
        Link("https://z.example/money/", 4, ""),
    ]
    bad, good, good_url, bad_url = priorities(order.rank(a_page(), OFF, links))
    assert good > 0.6 > 0.4 > bad
    assert good_url > bad_url


def test_ache_stays_best_first_with_one_class_only() -> None:
    order = Ache(retrain_every=5)
    for number in range(10):
        order.learn(Page(url="https://a.example/", id=number, via=Via(9, anchor="tax")), OFF)
    assert priorities(order.rank(a_page(), OFF, LINKS)) == [0.2] * 3


def test_ache_forgets_old_examples_and_ignores_seeds() -> None:
    order = Ache(retrain_every=10, memory=20)
    teach(order, 100)
    assert order.explain(None, "")["examples"] == 20
    order.learn(a_page(), ON)
    assert order.explain(None, "")["examples"] == 20
