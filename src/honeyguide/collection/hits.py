"""HITS: hubs and authorities of a link graph."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from honeyguide.errors import MissingExtra

try:
    from scipy import sparse
except ImportError:
    raise MissingExtra("the analysis of links", "learn") from None


class HubsAndAuthorities(NamedTuple):
    """Two scores a node; each vector has Euclidean length one, or is zero where there are no links."""

    hubs: NDArray[np.float64]
    authorities: NDArray[np.float64]
    rounds: int
    """Iterations it took."""


def hits(
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
    size: int,
    *,
    hosts: NDArray[np.int32] | None = None,
    rounds: int = 200,
    tolerance: float = 1e-9,
) -> HubsAndAuthorities:
    """Score nodes by mutual reinforcement: good hubs link to good authorities.

    `a = L'h, h = L a`, normalised after each step, until no score moves by more than `tolerance`. With
    `hosts` a link within a host does not count, and k pages of one host that link to the same page share
    one vote (likewise k pages of one host that a page links to), which keeps one site's navigation from
    taking over: Bharat and Henzinger's remedy.

    Args:
        sources: Node of each link's page.
        targets: Node of each link's target. Repeated links count once, links to oneself not at all.
        size: Number of nodes; nodes are 0 to size - 1.
        hosts: Number of each node's host; None treats all links alike.
        rounds: Iterations at most.
        tolerance: Largest change of a score that ends it.

    Example:
        >>> found = hits(np.array([0, 0, 1], np.int32), np.array([2, 3, 2], np.int32), 4)
        >>> int(found.hubs.argmax()), int(found.authorities.argmax())
        (0, 2)

    References:
        Jon Kleinberg, "Authoritative sources in a hyperlinked environment", Journal of the ACM 46(5), 1999.
        Krishna Bharat, Monika Henzinger, "Improved algorithms for topic distillation in a hyperlinked
        environment", SIGIR 1998.
    """
    keep = sources != targets
    if hosts is not None:
        keep &= hosts[sources] != hosts[targets]
    sources, targets = sources[keep], targets[keep]
    links = sparse.csr_matrix((np.ones(len(sources)), (sources, targets)), shape=(size, size))
    links.data[:] = 1.0  # the constructor adds repeated links up
    forward, backward = links, links.T.tocsr()
    if hosts is not None:
        forward = _shared(links, hosts, by="target")
        backward = _shared(links, hosts, by="source").T.tocsr()
    return _iterate(forward, backward, rounds, tolerance)


def _iterate(
    forward: sparse.csr_matrix, backward: sparse.csr_matrix, rounds: int, tolerance: float
) -> HubsAndAuthorities:
    size = forward.shape[0]
    hubs = np.full(size, 1.0 / np.sqrt(max(1, size)))
    authorities = np.zeros(size)
    done = 0
    for done in range(1, rounds + 1):  # noqa: B007 - told to the caller
        new_authorities = _normalised(backward @ hubs)
        new_hubs = _normalised(forward @ new_authorities)
        moved = max(
            np.abs(new_hubs - hubs).max(initial=0.0), np.abs(new_authorities - authorities).max(initial=0.0)
        )
        hubs, authorities = new_hubs, new_authorities
        if moved < tolerance:
            break
    return HubsAndAuthorities(hubs, authorities, done)


def _shared(links: sparse.csr_matrix, hosts: NDArray[np.int32], *, by: str) -> sparse.csr_matrix:
    """Each link weighted by one over the links it shares its vote with.

    `by="source"`: links from pages of one host to the same page; `by="target"`: from one page to pages of
    one host.
    """
    pairs = links.tocoo()
    first, second = (pairs.col, hosts[pairs.row]) if by == "source" else (pairs.row, hosts[pairs.col])
    key = first.astype(np.int64) * (int(hosts.max(initial=0)) + 1) + second
    _, inverse, counts = np.unique(key, return_inverse=True, return_counts=True)
    return sparse.csr_matrix((1.0 / counts[inverse], (pairs.row, pairs.col)), shape=links.shape)


def _normalised(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    length = float(np.sqrt(vector @ vector))
    return vector / length if length else vector
