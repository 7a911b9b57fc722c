"""Pairing heap: a priority queue whose nodes can change their key or leave, in flat arrays.

Many heaps share one set of arrays, a node being in at most one of them; a heap is known by its root. The
frontier has one heap of URLs a host, and heaps of hosts. The order in which nodes leave depends on keys
and ties only, never on the shape of the tree, so a heap built again after a restart behaves the same.

Keys are floats, higher first and never NaN; ties go to the lower `tie`, or the lower node number where
`tie` is empty. Node 0 is "none". `previous` is 0 for a node in no heap, -1 for a root.

Example:
    >>> tree = new_tree(10)
    >>> tree.key[1:4] = [0.5, 0.9, 0.5]
    >>> root = push(tree, push(tree, push(tree, 0, 3), 2), 1)
    >>> order = []
    >>> while root:
    ...     order.append(int(root))
    ...     root = pop(tree, root)
    >>> order
    [2, 1, 3]

References:
    Fredman, Sedgewick, Sleator, Tarjan: The pairing heap: a new form of self-adjusting heap.
    Algorithmica 1 (1986).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from honeyguide.compiled import compiled


class Tree(NamedTuple):
    """The arrays of a family of heaps, by node."""

    child: NDArray[np.int32]
    """First child."""
    next: NDArray[np.int32]
    """Next sibling."""
    previous: NDArray[np.int32]
    """Previous sibling, or the parent of a first child."""
    key: NDArray[np.float64]
    tie: NDArray[np.int32]


def new_tree(size: int) -> Tree:
    """Room for nodes 1 to `size` - 1, ties going to the lower number."""
    child, following, previous = np.zeros((3, size), np.int32)
    return Tree(child, following, previous, np.zeros(size, np.float64), np.zeros(0, np.int32))


@compiled
def before(tree: Tree, a: int, b: int) -> bool:
    """Whether node `a` leaves before node `b`."""
    if tree.key[a] != tree.key[b]:
        return bool(tree.key[a] > tree.key[b])
    if len(tree.tie) == 0:
        return a < b
    return bool(tree.tie[a] < tree.tie[b])


@compiled
def meld(tree: Tree, a: int, b: int) -> int:
    """Root of two heaps made one; either may be empty."""
    if a == 0:
        return b
    if b == 0:
        return a
    if before(tree, b, a):
        a, b = b, a
    first = tree.child[a]
    tree.next[b] = first
    if first != 0:
        tree.previous[first] = b
    tree.previous[b] = a
    tree.child[a] = b
    return a


@compiled
def push(tree: Tree, root: int, node: int) -> int:
    """Root after `node`, which is in no heap, has joined."""
    tree.child[node] = 0
    tree.next[node] = 0
    tree.previous[node] = -1
    return meld(tree, root, node)


@compiled
def pop(tree: Tree, root: int) -> int:
    """Root after the old root has left: its children are joined in pairs, then from right to left."""
    first = int(tree.child[root])
    tree.child[root] = 0
    tree.next[root] = 0
    tree.previous[root] = 0
    stack = 0
    while first != 0:
        a = first
        b = int(tree.next[a])
        first = 0
        tree.next[a] = 0
        tree.previous[a] = -1
        if b != 0:
            first = int(tree.next[b])
            tree.next[b] = 0
            tree.previous[b] = -1
        pair = meld(tree, a, b)
        tree.next[pair] = stack
        stack = pair
    result = 0
    while stack != 0:
        pair = stack
        stack = int(tree.next[pair])
        tree.next[pair] = 0
        result = meld(tree, result, pair)
    return result


@compiled
def remove(tree: Tree, root: int, node: int) -> int:
    """Root after `node` has left the heap it is in. Its key may have been changed before."""
    return pop(tree, root) if node == root else meld(tree, root, cut(tree, node))


def taken_out(tree: Tree, node: int) -> int:
    """Take a node that is no root out of its place, with all below it; a heap of its own then."""
    above = tree.previous[node]
    following = tree.next[node]
    if tree.child[above] == node:
        tree.child[above] = following
    else:
        tree.next[above] = following
    if following != 0:
        tree.previous[following] = above
    tree.next[node] = 0
    tree.previous[node] = -1
    return node


def cut(tree: Tree, node: int) -> int:
    """Take a node that is no root out of its heap; its children are a heap of their own then: their root."""
    return pop(tree, taken_out(tree, node))


@compiled
def join_evenly(tree: Tree, root: int, other: int, joined: NDArray[np.uint32]) -> int:
    """`meld`, and keep the children of the root few, as those of a binomial heap.

    A heap that is only added to is a root with all others below it, and the first `pop` has them all to
    pair, cold: 40 ms for the largest host of ten million URLs. So each that joins pairs as many of those
    that joined before as a binary counter has carries: one on average, and those that came last.

    Args:
        tree: The arrays.
        root: Of the heap that grows.
        other: Of the one that joins it.
        joined: How many have joined since the root is the root; counted here.
    """
    top = meld(tree, root, other)
    if top != root:
        joined[0] = 0
        return top
    if other == 0:
        return top
    bits = int(joined[0])
    joined[0] = (bits + 1) & 0xFFFFFFFF
    while bits & 1:
        bits >>= 1
        first = int(tree.child[top])
        second = int(tree.next[first])
        if second == 0:
            break
        rest = int(tree.next[second])
        pair = meld(tree, first, second)
        tree.previous[pair] = top
        tree.next[pair] = rest
        tree.child[top] = pair
        if rest != 0:
            tree.previous[rest] = pair
    return top


@compiled
def members(tree: Tree, root: int, found: NDArray[np.int32]) -> int:
    """Write the nodes of a heap to `found` in no particular order, as many as fit; returns the number."""
    if root == 0 or len(found) == 0:
        return 0
    found[0] = root
    count = 1
    done = 0
    while done < count:
        node = tree.child[found[done]]
        done += 1
        while node != 0 and count < len(found):
            found[count] = node
            count += 1
            node = tree.next[node]
    return count
