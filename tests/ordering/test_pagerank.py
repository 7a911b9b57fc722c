from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from honeyguide.model import CrawlGraph, Link, Page, Scored, Verdict
from honeyguide.ordering.pagerank import PageRank, power_iteration

MakePage = Callable[..., Page]
Priorities = Callable[[Sequence[Scored]], list[float]]


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


def test_pagerank_of_a_new_link(
    links: tuple[Link, ...], on: Verdict, a_page: MakePage, priorities: Priorities
) -> None:
    # 0.2 + 0.8 * 3 / 3
    assert priorities(PageRank().rank(a_page(memo={}, priority=3.0), on, links)) == [1.0] * 3
