from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from honeyguide.text.spherical_kmeans import nearest, spherical_kmeans
from honeyguide.text.vectors import Rows, normalise_rows


def planted(groups: int, each: int, seed: int = 1) -> Rows:
    """Documents of `groups` subjects: ten terms of their own and five of everybody's."""
    random = np.random.default_rng(seed)
    dense = np.zeros((groups * each, groups * 10 + 5))
    for document in range(groups * each):
        own = (document % groups) * 10
        dense[document, own + random.choice(10, 5, replace=False)] = 1.0
        dense[document, -5:] = random.random(5) * 0.5
    return normalise_rows(sparse.csr_matrix(dense)).tocsr()


@pytest.mark.parametrize("seed", range(5))
def test_planted_subjects_are_found(seed: int) -> None:
    found = spherical_kmeans(planted(6, 30), 6, seed=seed)
    majority = sum(int(np.bincount(found.labels[group::6], minlength=6).max()) for group in range(6))
    assert majority >= 0.8 * 180
    np.testing.assert_allclose(np.linalg.norm(found.centroids, axis=1), 1.0)


def test_equal_seeds_give_equal_clusters() -> None:
    first, second = (spherical_kmeans(planted(4, 20), 5, seed=3) for _ in range(2))
    np.testing.assert_array_equal(first.labels, second.labels)
    np.testing.assert_array_equal(first.centroids, second.centroids)


def test_documents_without_terms_and_more_clusters_than_documents() -> None:
    rows = sparse.csr_matrix(np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
    found = spherical_kmeans(rows, 10)
    assert found.labels[1] == -1
    assert found.labels[0] == found.labels[3] != found.labels[2]
    labels, closeness = nearest(rows, found.centroids)
    np.testing.assert_array_equal(labels, found.labels)
    assert closeness[0] == pytest.approx(1.0)


def test_nothing_to_cluster() -> None:
    found = spherical_kmeans(sparse.csr_matrix((3, 4)), 2)
    assert found.labels.tolist() == [-1, -1, -1]
    assert nearest(sparse.csr_matrix((2, 4)), found.centroids)[0].tolist() == [-1, -1]
