from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from honeyguide.text.svd_update import (
    Svd,
    add_both,
    add_documents,
    add_terms,
    correct_weights,
    fold_in_documents,
    fold_in_terms,
    followed,
    orthogonality_error,
    orthonormal,
    subspace_angle,
    truncated_svd,
)

Array = NDArray[np.float64]
TERMS, DOCUMENTS, KEPT = 60, 80, 10


def low_rank(seed: int, rows: int, columns: int, rank: int = KEPT) -> Array:
    random = np.random.default_rng(seed)
    return random.normal(size=(rows, rank)) @ random.normal(size=(rank, columns))


def with_tail(seed: int, rows: int, columns: int, *, noise: float) -> Array:
    """A matrix of clear rank KEPT plus noise, as a term-document matrix has it."""
    return low_rank(seed, rows, columns) + noise * np.random.default_rng(seed + 1).normal(
        size=(rows, columns)
    )


def full(matrix: Array, rank: int = KEPT) -> Svd:
    u, s, vt = np.linalg.svd(matrix, full_matrices=False)
    return Svd(u[:, :rank], s[:rank], vt[:rank].T)


def dropped(matrix: Array, rank: int = KEPT) -> float:
    return float(np.linalg.svd(matrix, compute_uv=False)[rank])


def assert_same(found: Svd, expected: Svd, tolerance: float = 1e-9) -> None:
    assert found.s == pytest.approx(expected.s, abs=tolerance * expected.s[0])
    assert subspace_angle(found.u, expected.u) < 1e-6
    assert subspace_angle(found.v, expected.v) < 1e-6
    assert orthogonality_error(found) < 1e-12


def assert_within(found: Svd, expected: Svd, perturbation: float, gap: float) -> None:
    """Weyl's bound for the values and Wedin's for the spaces."""
    assert np.abs(found.s - expected.s).max() <= perturbation + 1e-9
    assert np.sin(subspace_angle(found.u, expected.u)) <= perturbation / gap
    assert np.sin(subspace_angle(found.v, expected.v)) <= perturbation / gap


@pytest.mark.parametrize(("rows", "columns"), [(40, 30), (200, 5200), (5200, 200), (1300, 1250)])
def test_truncated_svd_finds_the_largest_triplets(rows: int, columns: int) -> None:
    random = np.random.default_rng(1)
    left = orthonormal(random.normal(size=(rows, 5)))
    right = orthonormal(random.normal(size=(columns, 5)))
    matrix = left @ np.diag([9.0, 7.0, 5.0, 3.0, 1.0]) @ right.T
    found = truncated_svd(sparse.csr_matrix(matrix), 3)
    assert found.s == pytest.approx([9.0, 7.0, 5.0])
    assert subspace_angle(found.u, left[:, :3]) < 1e-6
    assert subspace_angle(found.v, right[:, :3]) < 1e-6
    again = truncated_svd(sparse.csr_matrix(matrix), 3)
    assert np.array_equal(found.u, again.u)
    assert np.array_equal(found.v, again.v)


def test_rank_of_the_matrix_is_the_limit() -> None:
    assert truncated_svd(low_rank(2, 30, 40, rank=4), 20).rank == 4
    assert truncated_svd(sparse.csr_matrix(low_rank(2, 300, 4000, rank=4)), 20).rank == 4
    assert truncated_svd(np.zeros((3, 4)), 2).rank == 0
    assert truncated_svd(np.zeros((0, 4)), 2).rank == 0


def test_documents_of_a_matrix_of_the_rank_kept_are_added_exactly() -> None:
    matrix = low_rank(3, TERMS, DOCUMENTS)
    found = add_documents(truncated_svd(matrix[:, :50], KEPT), sparse.csc_matrix(matrix[:, 50:]))
    assert_same(found, full(matrix))


def test_terms_of_a_matrix_of_the_rank_kept_are_added_exactly() -> None:
    matrix = low_rank(4, TERMS, DOCUMENTS)
    found = add_terms(truncated_svd(matrix[:40], KEPT), sparse.csr_matrix(matrix[40:]))
    assert_same(found, full(matrix))


def test_both_are_added_exactly() -> None:
    matrix = low_rank(5, TERMS, DOCUMENTS)
    old = truncated_svd(matrix[:40, :50], KEPT)
    assert_same(add_both(old, matrix[40:, :50], matrix[:, 50:]), full(matrix))


def test_new_directions_are_found() -> None:
    """Documents on new subjects, in new words: folding-in cannot see them, updating does."""
    old = np.vstack((low_rank(6, 40, 50, rank=3), np.zeros((20, 50))))
    new = np.vstack((np.zeros((40, 30)), 10.0 * low_rank(7, 20, 30, rank=2)))
    svd = truncated_svd(old, 5)
    assert np.abs(fold_in_documents(svd, new)).max() < 1e-12
    assert_same(add_documents(svd, new, rank=5), full(np.hstack((old, new)), 5))


@pytest.mark.parametrize("noise", [0.01, 0.1])
def test_with_a_tail_the_error_keeps_to_the_bounds(noise: float) -> None:
    matrix = with_tail(8, TERMS, DOCUMENTS, noise=noise)
    expected = full(matrix)
    gap = float(expected.s[-1]) - dropped(matrix)

    old = matrix[:, :50]
    assert_within(
        add_documents(truncated_svd(old, KEPT), matrix[:, 50:]), expected, dropped(old), gap - dropped(old)
    )
    old = matrix[:40]
    assert_within(
        add_terms(truncated_svd(old, KEPT), matrix[40:]), expected, dropped(old), gap - dropped(old)
    )
    old = matrix[:40, :50]
    both = add_both(truncated_svd(old, KEPT), matrix[40:, :50], matrix[:, 50:])
    assert_within(both, expected, dropped(old), gap - dropped(old))


def test_weights_are_corrected() -> None:
    matrix = low_rank(9, TERMS, DOCUMENTS)
    changed = matrix.copy()
    changed[[3, 7]] *= 0.25
    terms = np.zeros((TERMS, 2))
    terms[[3, 7], [0, 1]] = 1.0
    changes = (changed - matrix)[[3, 7]].T
    found = correct_weights(truncated_svd(matrix, KEPT), terms, changes, rank=KEPT + 2)
    assert np.allclose(found.matrix(), changed, atol=1e-9)
    cut = correct_weights(truncated_svd(matrix, KEPT), terms, changes)
    assert_same(cut, full(changed))


def test_folding_in_old_documents_and_terms_gives_their_own_places() -> None:
    matrix = low_rank(10, TERMS, DOCUMENTS)
    svd = truncated_svd(matrix, KEPT)
    assert np.allclose(fold_in_documents(svd, matrix[:, 5:9]), svd.v[5:9])
    assert np.allclose(fold_in_terms(svd, sparse.csr_matrix(matrix[5:9])), svd.u[5:9])


def test_orthogonality_stays_after_a_hundred_updates() -> None:
    """Also when most of what is added lies in the space already, where rounding errors are the rule."""
    random = np.random.default_rng(11)
    svd = truncated_svd(low_rank(11, 40, 50), KEPT)
    for turn in range(100):
        columns = svd.u @ random.normal(size=(svd.rank, 4))
        columns[:, 0] += (
            1e-9 * random.normal(size=len(columns)) if turn % 3 else random.normal(size=len(columns))
        )
        svd = add_documents(svd, columns)
        rows = random.normal(size=(1, svd.rank)) @ (svd.s[:, None] * svd.v.T) * 1e-3
        svd = add_terms(svd, rows)
        svd = correct_weights(svd, np.eye(len(svd.u))[:, :1], 1e-3 * random.normal(size=(len(svd.v), 1)))
    assert svd.rank == KEPT
    assert orthogonality_error(svd) < 1e-8
    assert orthogonality_error(svd) < 1e-11


def test_folding_in_corrupts_orthogonality_and_updating_does_not() -> None:
    matrix = with_tail(12, TERMS, DOCUMENTS, noise=0.5)
    svd = truncated_svd(matrix[:, :40], KEPT)
    folded = Svd(svd.u, svd.s, np.vstack((svd.v, fold_in_documents(svd, matrix[:, 40:]))))
    assert orthogonality_error(folded) > 0.1
    assert orthogonality_error(add_documents(svd, matrix[:, 40:])) < 1e-12


def test_nothing_added_changes_nothing() -> None:
    svd = truncated_svd(low_rank(13, TERMS, DOCUMENTS), KEPT)
    assert_same(add_documents(svd, np.zeros((TERMS, 0))), svd)
    assert_same(add_terms(svd, np.zeros((0, DOCUMENTS))), svd)
    assert_same(
        add_documents(svd, np.zeros((TERMS, 3))).cut(KEPT),
        Svd(svd.u, svd.s, np.vstack((svd.v, np.zeros((3, KEPT))))),
    )


def test_an_empty_decomposition_can_grow() -> None:
    matrix = low_rank(14, TERMS, 30, rank=4)
    empty = Svd(np.zeros((TERMS, 0)), np.zeros(0), np.zeros((0, 0)))
    assert_same(add_documents(empty, matrix, rank=4), full(matrix, 4))


def test_followed_places_new_rows_with_a_single_product() -> None:
    """Rows that are new are zero in the start: the product that tells the values gives them their place."""
    random = np.random.default_rng(5)
    falling = np.geomspace(100.0, 0.1, 40)
    matrix = random.normal(size=(230, 40)) * falling @ np.linalg.qr(random.normal(size=(300, 40)))[0].T
    start = np.zeros((230, 15))
    start[:200] = truncated_svd(matrix[:200], 15).u
    vectors, values = followed(lambda block: matrix @ (matrix.T @ block), start, 10, spare=5, rounds=0)
    exact = truncated_svd(matrix, 10)
    assert vectors.shape == (230, 15)
    assert np.abs(vectors.T @ vectors - np.eye(15)).max() < 1e-8
    assert values[:5] == pytest.approx(exact.s[:5], rel=0.1)
    for number in range(5):
        found, true = vectors[200:, number], exact.u[200:, number]
        assert abs(found @ true) / (np.linalg.norm(found) * np.linalg.norm(true)) > 0.95


def test_followed_gives_no_more_than_the_rank() -> None:
    matrix = np.diag([3.0, 2.0, 0.0, 0.0])
    vectors, values = followed(lambda block: matrix @ (matrix.T @ block), np.eye(4), 3, spare=1)
    assert values.tolist() == pytest.approx([3.0, 2.0])
    assert np.abs(vectors).round(6).tolist() == [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0]]
