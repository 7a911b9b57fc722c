from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from honeyguide.model import CrawlGraph, Link, Page, Verdict
from honeyguide.ordering.context_graph import ContextGraphOrder
from honeyguide.testing.link_orders import Check, all_checks


class Layered:
    """A page model whose layers are the ids of pages; it changes when told to."""

    depth = 4
    rebuilds = True

    def __init__(self) -> None:
        self.generation = 0

    def places(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        layers = ids.astype(np.float64)
        return np.where(ids < 6, layers, np.nan), np.full(len(ids), -1.0)


@pytest.mark.parametrize("check", all_checks(), ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(ContextGraphOrder)
    check(lambda: ContextGraphOrder(judge=Layered(), reorder_every=7))


def priority(order: ContextGraphOrder, layer: float, likelihood: float) -> float:
    verdict = Verdict(0.1, False, facts={"layer": layer, "log_likelihood": likelihood})
    links = [Link("https://b.example/", 2)]
    return order.rank(Page(url="https://a.example/", id=1), verdict, links)[0].priority


def test_queues_by_layer_then_by_likelihood() -> None:
    order = ContextGraphOrder()
    ranked = [
        priority(order, 0, -8),
        priority(order, 0, -9),
        priority(order, 1, -0.1),
        priority(order, 5, -9),
    ]
    assert ranked == sorted(ranked, reverse=True)
    assert priority(order, 0, -9.0) == pytest.approx(5.1)
    assert priority(order, 5, -300.0) == pytest.approx(1 / 301)


def test_factors_tell_layer_and_likelihood() -> None:
    verdict = Verdict(0.1, False, facts={"layer": 2.0, "log_likelihood": -7.5})
    page = Page(url="https://a.example/", id=1)
    scored = ContextGraphOrder().rank(page, verdict, [Link("https://b.example/", 2)])[0]
    assert scored.factors == {"layer": 2.0, "log likelihood": -7.5}


def test_a_page_model_without_layers_has_two() -> None:
    page, links = Page(url="https://a.example/", id=1), [Link("https://b.example/", 2)]
    order = ContextGraphOrder()
    assert order.rank(page, Verdict(0.9, True), links)[0].factors["layer"] == 0.0
    assert order.rank(page, Verdict(0.2, False), links)[0].factors["layer"] == 5.0
    assert order.reorder_every is None


def test_waiting_links_follow_their_pages_to_new_layers() -> None:
    judge = Layered()
    order = ContextGraphOrder(judge=judge, reorder_every=10)
    assert order.reorder_every == 10
    # Pages 1, 3 and 9 (unknown to the model) are fetched; 20 is linked from 1 and 3, 21 from 3, 22 from 9.
    graph = CrawlGraph(
        ids=np.array([1, 3, 9, 20, 21, 22]),
        fetched=np.array([True, True, True, False, False, False]),
        waiting=np.array([False, False, False, True, True, True]),
        score=np.zeros(6, dtype=np.float32),
        sources=np.array([0, 1, 1, 2], dtype=np.int32),
        targets=np.array([3, 3, 4, 5], dtype=np.int32),
    )
    assert np.isnan(order.reorder(graph)).all(), "nothing has changed yet"
    judge.generation = 1
    first = order.reorder(graph)
    assert first[3:5] == pytest.approx([4.5, 2.5])
    assert np.isnan(first[[0, 1, 2, 5]]).all()
    assert np.isnan(order.reorder(graph)).all(), "the same change counts once"
    assert order.save().values == {"generation": 1}


def test_bad_options() -> None:
    with pytest.raises(ValueError, match="1 or more"):
        ContextGraphOrder(depth=0)
