from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from honeyguide.collection.hits import hits


def graph(pairs: list[tuple[int, int]]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    return np.array([a for a, _ in pairs], np.int32), np.array([b for _, b in pairs], np.int32)


def test_scores_are_the_principal_singular_vectors() -> None:
    random = np.random.default_rng(7)
    dense = (random.random((30, 30)) < 0.15).astype(float)
    np.fill_diagonal(dense, 0.0)
    sources, targets = (part.astype(np.int32) for part in np.nonzero(dense))
    found = hits(sources, targets, 30, rounds=2000, tolerance=1e-13)
    left, _, right = np.linalg.svd(dense)
    np.testing.assert_allclose(found.hubs, np.abs(left[:, 0]), atol=1e-6)
    np.testing.assert_allclose(found.authorities, np.abs(right[0]), atol=1e-6)


def test_repeated_links_count_once_and_own_links_not() -> None:
    once = hits(*graph([(0, 1), (2, 1), (2, 3)]), 4)
    often = hits(*graph([(0, 1)] * 9 + [(2, 1), (2, 3), (3, 3)]), 4)
    np.testing.assert_allclose(once.authorities, often.authorities)


def test_a_host_has_one_vote_for_a_page() -> None:
    # Five pages of host 0 link to node 5; pages of three hosts link to node 6.
    pairs = [(source, 5) for source in range(5)] + [(7, 6), (8, 6), (9, 6)]
    hosts = np.array([0, 0, 0, 0, 0, 1, 2, 3, 4, 5], np.int32)
    plain = hits(*graph(pairs), 10)
    shared = hits(*graph(pairs), 10, hosts=hosts)
    assert plain.authorities.argmax() == 5
    assert shared.authorities.argmax() == 6


def test_links_within_a_host_do_not_count_with_hosts() -> None:
    found = hits(*graph([(0, 1), (1, 0)]), 2, hosts=np.array([4, 4], np.int32))
    assert not found.hubs.any()
    assert not found.authorities.any()


def test_no_nodes_and_no_links() -> None:
    nothing = np.array([], np.int32)
    assert len(hits(nothing, nothing, 0).hubs) == 0
    assert not hits(nothing, nothing, 3).authorities.any()
