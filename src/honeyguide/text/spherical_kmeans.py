"""Spherical k-means: clusters of documents by the angle between them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from honeyguide.text.vectors import Rows


class Clusters(NamedTuple):
    """The outcome of a clustering."""

    centroids: NDArray[np.float64]
    """One row a cluster, of Euclidean length one."""
    labels: NDArray[np.int32]
    """Cluster of each document; -1 for a document without terms."""
    closeness: NDArray[np.float64]
    """Cosine of each document with its centroid."""


def spherical_kmeans(matrix: Rows, clusters: int, *, seed: int = 0, rounds: int = 30) -> Clusters:
    """Cluster documents so that each is near the mean direction of its cluster.

    The first centroids are drawn as in k-means++, with one minus the cosine as the distance; then documents
    and centroids are moved in turn until few documents change. A cluster that loses all its documents is
    begun again from the document that fits its own centroid worst. Equal seeds give equal clusters.

    Args:
        matrix: One document a row, of Euclidean length one (`vectors.normalise_rows`) or zero.
        clusters: How many; no more than there are documents with terms.
        seed: Of the random generator that draws the first centroids.
        rounds: At most so many turns.

    Example:
        >>> rows = sparse.csr_matrix([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
        >>> found = spherical_kmeans(rows, 2)
        >>> bool(found.labels[0] == found.labels[1] != found.labels[2])
        True

    References:
        Inderjit Dhillon, Dharmendra Modha, "Concept decompositions for large sparse text data using
        clustering", Machine Learning 42, 2001.
        David Arthur, Sergei Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007.
    """
    labels = np.full(matrix.shape[0], -1, np.int32)
    closeness = np.zeros(matrix.shape[0])
    used = np.flatnonzero(np.diff(matrix.indptr))
    clusters = min(clusters, len(used))
    if clusters < 1:
        return Clusters(np.zeros((0, matrix.shape[1])), labels, closeness)
    documents = matrix[used]
    centroids = _first(documents, clusters, np.random.default_rng(seed))
    owner = np.full(len(used), -1, np.int32)
    for _ in range(max(1, rounds)):
        likeness = documents @ centroids.T
        moved = likeness.argmax(axis=1).astype(np.int32)
        best = likeness[np.arange(len(used)), moved]
        changed = int((moved != owner).sum())
        owner = moved
        if changed <= len(used) // 1000:
            break
        centroids = _means(documents, _refilled(owner, best, clusters), clusters)
    likeness = documents @ centroids.T
    owner = likeness.argmax(axis=1).astype(np.int32)
    labels[used] = owner
    closeness[used] = likeness[np.arange(len(used)), owner]
    return Clusters(centroids, labels, closeness)


def nearest(matrix: Rows, centroids: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The nearest centroid of each document (-1 for one without terms), and the cosine with it."""
    if not len(centroids):
        return np.full(matrix.shape[0], -1, np.int32), np.zeros(matrix.shape[0])
    likeness = np.asarray(matrix @ centroids.T)
    labels = likeness.argmax(axis=1).astype(np.int32)
    closeness = likeness[np.arange(len(labels)), labels]
    labels[np.diff(matrix.indptr) == 0] = -1
    return labels, closeness


def _first(documents: Rows, clusters: int, random: np.random.Generator) -> NDArray[np.float64]:
    chosen = [int(random.integers(documents.shape[0]))]
    distance = np.full(documents.shape[0], np.inf)
    while len(chosen) < clusters:
        latest = documents[chosen[-1]].toarray().ravel()
        distance = np.minimum(distance, np.maximum(0.0, 1.0 - documents @ latest))
        distance[chosen] = 0.0
        total = distance.sum()
        if total <= 0.0:  # the rest equals what is chosen
            rest = np.setdiff1d(np.arange(documents.shape[0]), chosen)
            chosen += rest[: clusters - len(chosen)].tolist()
            break
        chosen.append(int(np.searchsorted(np.cumsum(distance), random.random() * total, side="right")))
    return np.asarray(documents[chosen].toarray(), dtype=np.float64)


def _refilled(owner: NDArray[np.int32], best: NDArray[np.float64], clusters: int) -> NDArray[np.int32]:
    """The owners, with the worst-fitting documents given to clusters that have none."""
    sizes = np.bincount(owner, minlength=clusters)
    empty = np.flatnonzero(sizes == 0)
    if not len(empty):
        return owner
    owner = owner.copy()
    order = np.lexsort((np.arange(len(best)), best))
    free = [place for place in order.tolist() if sizes[owner[place]] > 1]
    for cluster, place in zip(empty.tolist(), free, strict=False):
        owner[place] = cluster
    return owner


def _means(documents: Rows, owner: NDArray[np.int32], clusters: int) -> NDArray[np.float64]:
    members = sparse.csr_matrix(
        (np.ones(len(owner)), (owner, np.arange(len(owner)))), shape=(clusters, len(owner))
    )
    sums = np.asarray((members @ documents).toarray())
    lengths = np.sqrt((sums * sums).sum(axis=1, keepdims=True))
    lengths[lengths == 0.0] = 1.0
    return np.asarray(sums / lengths, dtype=np.float64)
