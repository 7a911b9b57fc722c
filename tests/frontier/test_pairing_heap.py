"""The pairing heap against sorting."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.frontier.pairing_heap import Tree, cut, join_evenly, members, new_tree, pop, push, remove

KEYS = st.lists(st.sampled_from([0.0, 0.5, 1.0, -2.0, float("inf"), float("-inf")]), min_size=1, max_size=40)


@settings(deadline=None)  # the first call may compile
@given(KEYS, st.randoms(use_true_random=False))
def test_nodes_leave_in_order_whatever_happened_before(keys: list[float], random: object) -> None:
    tree = new_tree(len(keys) + 1)
    tree.key[1:] = keys
    nodes = list(range(1, len(keys) + 1))
    random.shuffle(nodes)  # type: ignore[attr-defined]
    root = 0
    for node in nodes:
        root = push(tree, root, node)
    gone = [node for node in nodes if node % 3 == 0]
    for node in gone:
        root = remove(tree, root, node)
    for node in gone[::2]:
        tree.key[node] = 0.25
        root = push(tree, root, node)
    left = [node for node in nodes if node not in gone or node in gone[::2]]
    found = np.empty(len(keys) + 5, np.int32)
    assert sorted(found[: members(tree, root, found)].tolist()) == sorted(left)
    order = []
    while root:
        order.append(root)
        root = pop(tree, root)
    assert order == sorted(left, key=lambda node: (-tree.key[node], node))
    assert not tree.previous.any()


def test_ties_by_another_array() -> None:
    tree = new_tree(4)._replace(tie=np.array([0, 30, 20, 10], np.int32))
    root = 0
    for node in (1, 2, 3):
        root = push(tree, root, node)
    assert root == 3
    assert pop(tree, root) == 2


def test_a_heap_of_rising_keys_does_not_recurse() -> None:
    size = 200_000
    tree = new_tree(size + 1)
    tree.key[1:] = np.arange(size)
    root = 0
    for node in range(1, size + 1):
        root = push(tree, root, node)
    found = np.empty(size, np.int32)
    assert members(tree, root, found) == size
    assert pop(tree, root) == size - 1


@settings(deadline=None)
@given(KEYS, st.randoms(use_true_random=False))
def test_what_joined_evenly_leaves_in_order(keys: list[float], random: object) -> None:
    tree, joined = new_tree(len(keys) + 1), np.zeros(1, np.uint32)
    tree.key[1:] = keys
    nodes = list(range(1, len(keys) + 1))
    random.shuffle(nodes)  # type: ignore[attr-defined]
    root = 0
    for node in nodes:
        root = join_evenly(tree, root, push(tree, 0, node), joined)
    gone = [node for node in nodes if node % 3 == 0 and node != root]
    for node in gone:
        root = join_evenly(tree, root, cut(tree, node), joined)
    left = [node for node in nodes if node not in gone]
    order = []
    while root:
        order.append(root)
        root = pop(tree, root)
    assert order == sorted(left, key=lambda node: (-tree.key[node], node))
    assert not tree.previous.any()


def test_the_first_to_leave_a_large_heap_leaves_few_to_pair() -> None:
    size = 1 << 16
    even, flat, joined = new_tree(size), new_tree(size), np.zeros(1, np.uint32)
    for tree in (even, flat):
        tree.key[1:] = np.random.default_rng(1).random(size - 1)
    root = other = 0
    for node in range(1, size):
        root = join_evenly(even, root, push(even, 0, node), joined)
        other = push(flat, other, node)
    assert children(even, root) <= 17
    assert children(flat, other) > 1_000
    for _ in range(100):
        root, other = pop(even, root), pop(flat, other)
        assert root == other
        assert children(even, root) <= 60


def children(tree: Tree, node: int) -> int:
    """How many nodes lie right below one."""
    count, child = 0, tree.child[node]
    while child:
        count, child = count + 1, tree.next[child]
    return count
