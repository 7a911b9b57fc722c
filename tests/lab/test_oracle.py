from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from honeyguide.lab.measures.oracle import bound, oracle
from honeyguide.lab.webs.generated.draws import Draws

LINKS = {
    "s": ["x", "t1"],
    "t1": ["y"],
    "x": ["x2"],
    "x2": ["t2"],
    "y": ["t3", "t4"],
}


def test_takes_targets_first_then_the_nearest() -> None:
    result = oracle(LINKS, ["t1", "t2", "t3", "t4", "nowhere"], ["s"])
    assert result.order == ("s", "t1", "y", "t3", "t4", "x", "x2", "t2")
    assert result.hits.tolist() == [0, 1, 1, 2, 3, 3, 3, 4]
    assert result.reachable == 4


def test_prefers_the_target_that_shows_more() -> None:
    links = {"s": ["t1", "t2"], "t2": ["t3"], "t1": []}
    assert oracle(links, ["t1", "t2", "t3"], ["s"]).order == ("s", "t2", "t1", "t3")


def test_no_target_means_no_download() -> None:
    assert oracle(LINKS, [], ["s"]).order == ()
    assert oracle(LINKS, [], ["s"]).reachable == 0
    assert bound(LINKS, [], ["s"]).tolist() == []


def test_bound_by_hand() -> None:
    # Distances 1, 3, 3, 3: the second target needs its three steps, the others follow one by one.
    assert bound(LINKS, ["t1", "t2", "t3", "t4"], ["s"]).tolist() == [0, 1, 1, 3, 4]
    assert bound({"s": []}, ["s"], ["s"]).tolist() == [1]


@pytest.mark.parametrize("seed", range(8))
def test_between_every_order_and_the_bound(seed: int) -> None:
    """On small random graphs: the oracle is legal, below the bound, and near the best of all orders."""
    draws = Draws(seed)
    names = "abcdefg"
    links = {name: [names[draws.below(7)] for _ in range(2)] for name in names}
    targets = {name for name in names[1:] if draws.chance(0.5)}
    result, limit = oracle(links, targets, ["a"]), bound(links, targets, ["a"])
    known = {"a"}
    for page in result.order:
        assert page in known
        known.update(links[page])
    top = np.full(7, limit[-1] if len(limit) else 0)
    top[: len(limit)] = limit
    best = np.zeros(7, dtype=int)
    for order in permutations(names):
        known, hits = {"a"}, list[int]()
        for page in order:
            if page not in known:
                break
            known.update(links[page])
            hits.append((hits[-1] if hits else 0) + (page in targets))
        hits += [hits[-1] if hits else 0] * (7 - len(hits))
        assert (np.array(hits) <= top).all()
        best = np.maximum(best, hits)
    mine = np.full(7, result.reachable)
    mine[: len(result.hits)] = result.hits
    assert mine[-1] == best[-1]
    assert mine.sum() >= 0.8 * best.sum()
