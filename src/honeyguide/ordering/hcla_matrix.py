"""The expanded matrix of HCLA and its left singular subspace."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import msgspec
import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy import sparse

from honeyguide.text.latent import LatentSpace
from honeyguide.text.svd_update import truncated_svd

Array: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = Any
"""A scipy CSR matrix (scipy has no type information)."""

OVERSAMPLING: Final = 30
"""Directions iterated beyond those kept: the last one kept converges as fast as its gap to these."""


class Expanded(msgspec.Struct, frozen=True, eq=False):
    """The matrix C of terms and fetched pages by documents, in blocks; documents are rows here.

        C = | A  L  O |
            | 0  G  R |

    A is replaced by the k columns `U_k S_k`, which have the same left singular vectors and values.
    Columns of fetched and frontier pages have length one.
    """

    basis: Array
    values: Array
    words: Rows
    """L, transposed: fetched pages by terms."""
    among: Rows
    """G, transposed: fetched pages by fetched pages that link to them."""
    anchors: Rows | None
    """O, transposed: frontier pages by terms; None for zero."""
    links: Rows
    """R, transposed: frontier pages by fetched pages that link to them."""

    @property
    def terms(self) -> int:
        """m: number of rows that are terms."""
        return len(self.basis)

    @property
    def pages(self) -> int:
        """a: number of rows that are fetched pages."""
        return int(self.among.shape[1])

    def places(self, block: Array) -> tuple[Array, Array, Array]:
        """`C' X`, for the corpus, the fetched and the frontier pages."""
        top, bottom = block[: self.terms], block[self.terms :]
        frontier = self.links @ bottom
        if self.anchors is not None:
            frontier += self.anchors @ top
        corpus = self.values[:, None] * (self.basis.T @ top)
        return corpus, self.words @ top + self.among @ bottom, frontier

    def times(self, corpus: Array, fetched: Array, frontier: Array) -> Array:
        """`C Y` for the three parts of Y."""
        top = self.basis @ (self.values[:, None] * corpus) + self.words.T @ fetched
        if self.anchors is not None:
            top += self.anchors.T @ frontier
        return np.vstack((top, self.among.T @ fetched + self.links.T @ frontier))

    def matrix(self) -> Rows:
        """C itself, for a decomposition in full."""
        anchors = self.anchors
        if anchors is None:
            anchors = sparse.csr_matrix((self.links.shape[0], self.terms))
        corpus = sparse.csr_matrix(self.basis * self.values)
        blocks = [[corpus, self.words.T, anchors.T], [None, self.among.T, self.links.T]]
        if not self.pages:
            return sparse.csr_matrix(sparse.hstack(blocks[0]))
        return sparse.csr_matrix(sparse.bmat(blocks))


class Subspace(msgspec.Struct, frozen=True, eq=False):
    """Left singular vectors and values of C, with a few more than asked for."""

    vectors: Array
    values: Array
    frontier: Array
    """`U' c` of every frontier page, one row each."""


def expanded(
    space: LatentSpace,
    words: Rows,
    among: Rows,
    anchors: Rows | None,
    links: Rows,
    *,
    link_weight: float = 1.0,
    frontier_weight: float = 1.0,
) -> Expanded:
    """Weigh links against words and bring every new column to length one, or to `frontier_weight`."""
    words, among = _normalised(words, among, link_weight, 1.0)
    anchors, links = _normalised(anchors, links, link_weight, frontier_weight)
    return Expanded(space.basis, space.values, words, among, anchors, links)


def tracked(matrix: Expanded, start: Array, *, passes: int) -> Subspace:
    """Block subspace iteration: from the subspace of a similar matrix to that of this one.

    One pass costs two products with C: O(nnz * k). Rows that are new stand at zero in `start` and are
    filled in by the first pass. Ends with a Rayleigh-Ritz step.

    Parameters:
        matrix: C.
        start: Rows of C by directions; need not be orthonormal.
        passes: At least 1.
    """
    block = start
    for _ in range(passes):
        block = np.linalg.qr(matrix.times(*matrix.places(block)))[0]
    places = matrix.places(block)
    corpus, fetched, frontier = (part.T @ part for part in places)
    values, rotation = scipy.linalg.eigh(corpus + fetched + frontier)
    rotation = rotation[:, ::-1]
    return Subspace(
        block @ rotation, np.sqrt(np.maximum(values[::-1], 0.0)), np.asarray(places[2] @ rotation)
    )


def recomputed(matrix: Expanded, rank: int) -> Subspace:
    """The same by a full decomposition of C, for comparison."""
    svd = truncated_svd(matrix.matrix(), rank)
    return Subspace(svd.u, svd.s, matrix.places(svd.u)[2])


def start_block(
    space: LatentSpace, pages: int, columns: int, *, random: np.random.Generator, known: Array | None = None
) -> Array:
    """Where to begin: the known directions (or those of the corpus), then random ones.

    Parameters:
        space: The corpus.
        pages: Rows below the terms.
        columns: Directions wanted.
        random: For those that are missing.
        known: The last subspace, in the rows of this matrix.
    """
    if known is None:
        known = np.vstack((space.basis, np.zeros((pages, space.rank))))
    missing = columns - known.shape[1]
    if missing <= 0:
        return known[:, :columns]
    drawn = random.normal(size=(len(known), columns))[:, -missing:]
    return np.hstack((known, drawn * 1e-2))


def _normalised(words: Rows | None, links: Rows, weight: float, length: float) -> tuple[Rows | None, Rows]:
    squares = np.diff(links.indptr) * weight * weight
    if words is not None:
        row = np.repeat(np.arange(words.shape[0]), np.diff(words.indptr))
        squares = squares + np.bincount(row, weights=words.data * words.data, minlength=words.shape[0])
    lengths = np.sqrt(squares)
    factors = np.divide(length, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)
    scaled = _scaled(links, factors * weight)
    return (None if words is None else _scaled(words, factors)), scaled


def _scaled(matrix: Rows, factors: Array) -> Rows:
    data = matrix.data * np.repeat(factors, np.diff(matrix.indptr))
    return sparse.csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)
