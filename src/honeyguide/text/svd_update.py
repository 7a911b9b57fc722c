"""Truncated singular value decompositions that grow with their matrix.

`A ~ U diag(s) V'` of a term-document matrix is kept up to date while documents, terms or both are
added and weights are corrected, without going back to A (`add_documents` and its kin); what a truncation
dropped stays lost. `followed` goes back to A, but only for a few products with it: started from the factors
of a similar matrix it expands them by their residuals until they are those of this one. Folding-in, the cheap
alternative, projects new rows or columns on the old factors and so gives up their orthogonality.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast

import msgspec
import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import linalg as sparse_linalg

Array: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = Any
"""A dense array or a scipy sparse matrix (scipy has no type information)."""

NEGLIGIBLE: Final = 1e-10
"""Directions smaller than this, relative to the largest, are rounding errors."""
SINGLE: Final = 1e-6
"""The same for products in single precision."""
WELL_APART: Final = 0.1
"""Columns with this much outside the ones before them are made orthonormal in one step."""
DENSE_CELLS: Final = 1_000_000
"""Up to this size a dense decomposition is quickest."""
GRAM_ROWS: Final = 1200
"""Up to this many rows the eigenvectors of A A' are had about as fast as by iteration, and never fail."""


class Svd(msgspec.Struct, frozen=True, eq=False):
    """`A ~ u @ diag(s) @ v.T`, columns of `u` and `v` orthonormal, `s` falling."""

    u: Array
    """Terms by factors."""
    s: Array
    v: Array
    """Documents by factors."""

    @property
    def rank(self) -> int:
        """Number of factors kept."""
        return len(self.s)

    def matrix(self) -> Array:
        """The approximated matrix, in full."""
        return np.asarray((self.u * self.s) @ self.v.T)

    def cut(self, rank: int) -> Svd:
        """The `rank` largest factors."""
        return Svd(self.u[:, :rank], self.s[:rank], self.v[:, :rank])


def truncated_svd(matrix: Matrix, rank: int) -> Svd:
    """The `rank` largest singular triplets; fewer where the matrix has a lower rank.

    Small matrices are decomposed in full; those with few rows by the eigenvectors of A A', which tells
    singular values above 1e-5 of the largest; others by Lanczos iteration from a fixed start. Signs are
    chosen so that the largest component of each left vector is positive: equal input, equal output.

    Example:
        >>> truncated_svd(np.array([[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]]), 5).s.round(6).tolist()
        [3.0, 2.0]
    """
    rows, columns = matrix.shape
    rank = min(rank, rows, columns)
    if not rank:
        return Svd(np.zeros((rows, 0)), np.zeros(0), np.zeros((columns, 0)))
    if rows * columns <= DENSE_CELLS:
        left, sizes, right = np.linalg.svd(_dense(matrix), full_matrices=False)
        found, least = Svd(_dense(left), _dense(sizes), _dense(right.T)), NEGLIGIBLE
    elif min(rows, columns) <= GRAM_ROWS:
        wide = rows <= columns
        found, least = _by_gram(matrix if wide else matrix.T, rank), 1e-5
        found = found if wide else _swapped(found)
    else:
        start = np.full(min(rows, columns), 1.0)
        u, s, vt = sparse_linalg.svds(
            matrix.astype(np.float64), k=min(rank, min(rows, columns) - 1), v0=start
        )
        found, least = Svd(_dense(u[:, ::-1]), _dense(s[::-1]), _dense(vt[::-1].T)), NEGLIGIBLE
    kept = min(rank, int((found.s > least * max(found.s[0], np.finfo(float).tiny)).sum()))
    return _signed(found.cut(kept))


def add_documents(svd: Svd, columns: Matrix, *, rank: int | None = None) -> Svd:
    """The decomposition of `[A_k, D]`, cut to `rank` factors (as many as before by default).

    Exact for `[A_k, D]`. Against a decomposition of `[A, D]` itself, singular values are off by at most
    the largest one that the truncation of A dropped (Weyl's inequality).

    Args:
        svd: What there is.
        columns: D, terms by new documents.
        rank: Factors to keep.

    Example:
        >>> svd = truncated_svd(np.array([[3.0], [0.0]]), 1)
        >>> add_documents(svd, np.array([[0.0], [2.0]]), rank=2).s.tolist()
        [3.0, 2.0]

    References:
        Hongyuan Zha, Horst Simon, "On updating problems in latent semantic indexing", SIAM Journal on
        Scientific Computing 21, 1999.
    """
    inside, basis, outside = _split(svd.u, _dense(columns))
    kept, new = svd.rank, inside.shape[1]
    core = np.zeros((kept + basis.shape[1], kept + new))
    core[:kept, :kept] = np.diag(svd.s)
    core[:kept, kept:] = inside
    core[kept:, kept:] = outside
    right = np.zeros((len(svd.v) + new, kept + new))
    right[: len(svd.v), :kept] = svd.v
    right[len(svd.v) :, kept:] = np.eye(new)
    return _rotated(np.hstack((svd.u, basis)), core, right, rank=svd.rank if rank is None else rank)


def add_terms(svd: Svd, rows: Matrix, *, rank: int | None = None) -> Svd:
    """The decomposition of A_k with the rows T below it; the mirror image of `add_documents`.

    Args:
        svd: What there is.
        rows: T, new terms by documents.
        rank: Factors to keep.
    """
    return _swapped(add_documents(_swapped(svd), rows.T, rank=rank))


def add_both(svd: Svd, rows: Matrix, columns: Matrix, *, rank: int | None = None) -> Svd:
    """Terms first, then documents that use old and new terms; cut back only at the end.

    Args:
        svd: What there is.
        rows: T, new terms by old documents.
        columns: D, all terms (old ones first) by new documents.
        rank: Factors to keep.
    """
    grown = add_terms(svd, rows, rank=svd.rank + rows.shape[0])
    return add_documents(grown, columns, rank=svd.rank if rank is None else rank)


def correct_weights(svd: Svd, terms: Matrix, changes: Matrix, *, rank: int | None = None) -> Svd:
    """The decomposition of `A_k + Y Z'`: the weights of j terms have changed in all documents.

    The part of the change outside the factors is kept too, so the result is exact for `A_k + Y Z'`.

    Args:
        svd: What there is.
        terms: Y, terms by j; usually a column of zeros with a one at the term.
        changes: Z, documents by j: new weight minus old.
        rank: Factors to keep.
    """
    in_terms, left, out_terms = _split(svd.u, _dense(terms))
    in_documents, right, out_documents = _split(svd.v, _dense(changes))
    core = np.vstack((in_terms, out_terms)) @ np.vstack((in_documents, out_documents)).T
    core[: svd.rank, : svd.rank] += np.diag(svd.s)
    u, v = np.hstack((svd.u, left)), np.hstack((svd.v, right))
    return _rotated(u, core, v, rank=svd.rank if rank is None else rank)


def followed(
    times: Callable[[Array], Array],
    start: Array,
    rank: int,
    *,
    spare: int = 10,
    depth: int = 0,
    rounds: int = 8,
    tolerance: float = 0.01,
) -> tuple[Array, Array]:
    """The strongest left singular vectors of A and their values, from the vectors of a similar matrix on.

    The start is expanded by `depth` blocks of residuals (block Krylov), then by the residuals of those
    vectors that have not settled: a vector has when its residual is below `tolerance` of the distance between
    its eigenvalue and that of the first vector left out. That bounds the angle between the subspace found
    and the true one, and says nothing about vectors within it. What is given is that subspace multiplied with
    A A' once more, which costs nothing, since the products are there already: rows that are new, and
    zero in the start, have their place by then. A start close to the end costs `depth + 1` products.

    Args:
        times: Multiplies a block of columns with A A'.
        start: Rows of A by directions; need not be orthonormal, and rows that are new may be zero. All is
            reckoned in its precision, so single precision takes half the time.
        rank: Vectors wanted.
        spare: Vectors given beyond that, for the next start.
        depth: Blocks of residuals before the first look.
        rounds: Looks at most; where two eigenvalues at the cut are equal nothing ever settles.
        tolerance: See above.

    Returns:
        Vectors and singular values, falling; fewer than asked for where A has a lower rank.

    Example:
        >>> A = np.diag([5.0, 4.0, 3.0, 0.1, 0.1])
        >>> vectors, values = followed(lambda X: A @ (A.T @ X), np.eye(5)[:, :2] + 0.1, 2, spare=0)
        >>> values.round(6).tolist()
        [5.0, 4.0]

    References:
        Cameron Musco, Christopher Musco, "Randomized block Krylov methods for stronger and faster
        approximate singular value decomposition", NIPS 2015.
    """
    kept = rank + spare
    basis = _completed(None, start)
    image = times(basis)
    newest = image
    for _ in range(depth):
        fresh = _completed(basis, newest)
        if not fresh.shape[1]:
            break
        newest = times(fresh)
        basis, image = np.hstack((basis, fresh)), np.hstack((image, newest))
    for look in range(rounds + 1):
        small = _dense(basis.T @ image)
        values, rotation = scipy.linalg.eigh(
            small, subset_by_index=(max(0, len(small) - kept), len(small) - 1)
        )
        values, rotation = values[::-1], np.ascontiguousarray(rotation[:, ::-1], dtype=basis.dtype)
        reached = image @ rotation
        if look == rounds:
            break
        residuals = reached - basis @ (rotation * values.astype(basis.dtype))
        cut = values[rank] if len(values) > rank else 0.0
        distance = np.maximum(values - cut, NEGLIGIBLE * values[0])
        unsettled = _lengths(residuals) > tolerance * distance
        if not unsettled[:rank].any():
            break
        unsettled[rank:] = True  # the first ones left out decide where the cut is
        fresh = _completed(basis, residuals[:, unsettled])
        if not fresh.shape[1]:
            break
        basis, image = np.hstack((basis, fresh)), np.hstack((image, times(fresh)))
    there = values > max((SINGLE if basis.dtype == np.float32 else NEGLIGIBLE) * values[0], 0.0)
    values = values[there]
    return _upright(reached[:, there] / values.astype(basis.dtype)), np.sqrt(values)


def fold_in_documents(svd: Svd, columns: Matrix) -> Array:
    """Rows of V for new documents by projection, `D' U / s`; the factors stay as they are."""
    return np.asarray(columns.T @ svd.u) / _divisors(svd.s)


def fold_in_terms(svd: Svd, rows: Matrix) -> Array:
    """Rows of U for new terms by projection, `T V / s`; the factors stay as they are."""
    return np.asarray(rows @ svd.v) / _divisors(svd.s)


def orthogonality_error(svd: Svd) -> float:
    """The largest entry of `U'U - I` and `V'V - I`: 0 for a perfect decomposition."""
    identity = np.eye(svd.rank)
    errors = (np.abs(factor.T @ factor - identity) for factor in (svd.u, svd.v))
    return float(max((error.max() for error in errors if error.size), default=0.0))


def subspace_angle(first: Array, second: Array) -> float:
    """The largest principal angle between two column spaces, in radians."""
    return float(scipy.linalg.subspace_angles(first, second)[0])


def orthonormal(columns: Array) -> Array:
    """An orthonormal basis of the columns, those that depend on others left out."""
    basis, triangle, _ = scipy.linalg.qr(columns, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(triangle))
    return np.asarray(basis[:, sizes > NEGLIGIBLE * max(sizes[0], np.finfo(float).tiny)])


def _split(basis: Array, columns: Array) -> tuple[Array, Array, Array]:
    """Columns as `basis @ inside + new @ outside` with `new` orthonormal and orthogonal to the basis.

    Projected out twice: one pass leaves rounding errors along the basis that add up over many updates.
    """
    inside = basis.T @ columns
    residual = columns - basis @ inside
    again = basis.T @ residual
    residual -= basis @ again
    inside += again
    scale = max(float(np.linalg.norm(columns)), np.finfo(float).tiny)
    if not residual.size or float(np.linalg.norm(residual)) <= NEGLIGIBLE * scale:
        return inside, np.zeros((len(basis), 0)), np.zeros((0, columns.shape[1]))
    left, triangle, _ = scipy.linalg.qr(residual, mode="economic", pivoting=True)
    new = left[:, np.abs(np.diag(triangle)) > NEGLIGIBLE * scale]
    new = new - basis @ (basis.T @ new)
    new = np.linalg.qr(new)[0]
    return inside, _dense(new), _dense(new.T @ residual)


def _completed(basis: Array | None, columns: Array) -> Array:
    """Orthonormal columns that add to an orthonormal basis what others have outside it.

    By the small Gram matrix, which costs a third of a QR decomposition; done twice, that is as accurate, and
    once is enough where little was taken away.
    """
    room = len(columns) - (0 if basis is None else basis.shape[1])
    negligible = 10 * SINGLE if columns.dtype == np.float32 else NEGLIGIBLE
    for least in (SINGLE, 0.5):  # what is left of a column may be rounding the first time, never the second
        before = _lengths(columns)
        if basis is not None:
            columns = columns - basis @ (basis.T @ columns)
        lengths = _lengths(columns)
        there = lengths > np.maximum(least * before, np.finfo(float).tiny)
        columns = columns[:, there] / lengths[there]
        if not columns.shape[1] or room < 1:
            return columns[:, :0]
        gram = _dense(columns.T @ columns)
        turn = _triangle(gram) if columns.shape[1] <= room else None
        if turn is not None:
            columns = columns @ turn.astype(columns.dtype)
            if (lengths[there] > 0.5 * before[there]).all():
                break
            continue
        values, vectors = scipy.linalg.eigh(gram)
        kept = values > negligible * values[-1]
        kept[: max(0, len(kept) - room)] = False
        columns = columns @ (vectors[:, kept] / np.sqrt(values[kept])).astype(columns.dtype)
    return np.asarray(columns)


def _upright(columns: Array) -> Array:
    """Columns that are nearly orthonormal made so, each in turn: it keeps what it has beside those before."""
    turn = _triangle(_dense(columns.T @ columns))
    return np.asarray(np.linalg.qr(columns)[0] if turn is None else columns @ turn.astype(columns.dtype))


def _triangle(gram: Array) -> Array | None:
    """What makes columns with these products orthonormal; None where they nearly depend on each other."""
    upper, failed = scipy.linalg.lapack.dpotrf(gram)
    if failed or upper.diagonal().min() < WELL_APART:
        return None
    inverse, failed = scipy.linalg.lapack.dtrtri(upper)
    return None if failed else np.asarray(inverse)


def _lengths(columns: Array) -> Array:
    return np.asarray(np.sqrt(np.einsum("ij,ij->j", columns, columns)))


def _rotated(left: Array, core: Array, right: Array, *, rank: int) -> Svd:
    """`left @ core @ right.T` as a decomposition; `left` and `right` are orthonormal."""
    if not core.size:
        return Svd(left[:, :0], np.zeros(0), right[:, :0])
    u, s, vt = scipy.linalg.svd(core, full_matrices=False)
    kept = min(rank, int((s > NEGLIGIBLE * max(s[0], np.finfo(float).tiny)).sum()))
    return Svd(left @ u[:, :kept], s[:kept], right @ vt[:kept].T)


def _by_gram(matrix: Matrix, rank: int) -> Svd:
    gram = _dense(matrix @ matrix.T)
    size = len(gram)
    values, vectors = scipy.linalg.eigh(gram, subset_by_index=(size - rank, size - 1))
    s = np.sqrt(np.maximum(values[::-1], 0.0))
    u = vectors[:, ::-1]
    return Svd(u, s, np.asarray(matrix.T @ u) / _divisors(s))


def _signed(svd: Svd) -> Svd:
    if not svd.rank:
        return svd
    largest = svd.u[np.abs(svd.u).argmax(axis=0), np.arange(svd.rank)]
    signs = np.where(largest < 0.0, -1.0, 1.0)
    return Svd(svd.u * signs, svd.s, svd.v * signs)


def _swapped(svd: Svd) -> Svd:
    return Svd(svd.v, svd.s, svd.u)


def _divisors(s: Array) -> Array:
    return np.where(s > 0.0, s, 1.0)


def _dense(matrix: Matrix) -> Array:
    if sparse.issparse(matrix):
        matrix = cast("Any", matrix).toarray()
    return np.asarray(matrix, dtype=np.float64)
