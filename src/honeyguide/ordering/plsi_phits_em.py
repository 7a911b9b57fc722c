"""The joint probabilistic model of words and links (PLSI + PHITS), fitted by tempered EM."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = Any
"""A scipy CSR matrix, one row a document (scipy has no type information)."""

CHUNK: Final = 100_000
"""Nonzero entries worked on at a time: bounds memory to a few times 8 * K * CHUNK bytes."""
TINY: Final = 1e-300
SMOOTHING: Final = 1e-6
"""Probability that every term and link keeps, as a share of one factor: no factor rules out anything."""
GAIN: Final = 1e-4
"""Held-out likelihood must rise by this share to go on at the same temperature."""
PATIENCE: Final = 2
"""Steps without such a rise before the temperature falls."""
LEAST_STEPS: Final = 15
"""EM leaves an even start slowly: so many steps are made at least."""


class Tempering(msgspec.Struct, frozen=True):
    """How EM is cooled: beta falls by the factor eta from 1 to no less than `lowest`."""

    eta: float = 0.9
    lowest: float = 0.8
    held_out: float = 0.1
    """Share of the entries kept aside to tell when to stop."""
    iterations: int = 60
    """At most, over all temperatures."""


class Fitted(msgspec.Struct, frozen=True, eq=False):
    """A model of words: K factors over the terms of a corpus."""

    terms: Array
    """P(t|z), terms by factors."""
    counts: Array
    """Expected counts behind it, for adding further documents."""
    mixture: Array
    """P(z) over the corpus."""
    beta: float
    """The temperature that EM ended with."""


def normalised_rows(matrix: Rows) -> Rows:
    """Every row with sum one: each document counts the same, long or short."""
    totals = np.asarray(matrix.sum(axis=1)).ravel()
    factors = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0.0)
    data = matrix.data * np.repeat(factors, np.diff(matrix.indptr))
    return sparse.csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def fit_words(words: Rows, factors: int, *, random: np.random.Generator, tempering: Tempering) -> Fitted:
    """PLSI of a corpus by tempered EM.

    EM runs at beta = 1 until the likelihood of held-out entries no longer rises, then at beta * eta, and
    so on; the best model seen counts.

    Parameters:
        words: Documents by terms, rows with sum one.
        factors: K.
        random: For the start and the held-out split.
        tempering: The schedule.
    """
    kept, aside = _split(words, random, tempering.held_out)
    documents = random.dirichlet(np.ones(factors), size=words.shape[0])
    terms = _columns(random.random((words.shape[1], factors)) + 0.1)
    best, found = -np.inf, (documents, terms, 1.0)
    beta, idle = 1.0, 0
    for turn in range(tempering.iterations):
        documents, counts = step(kept, documents, terms, beta=beta)
        documents, terms = _rows(documents), _columns(counts)
        likelihood = log_likelihood(aside, documents, terms)
        idle = 0 if likelihood > best + GAIN * abs(likelihood) else idle + 1
        if likelihood > best:
            best, found = likelihood, (documents, terms, beta)
        if turn >= LEAST_STEPS and idle >= PATIENCE:
            beta, idle = beta * tempering.eta, 0
            if beta < tempering.lowest:
                break
            documents, terms, _ = found
    documents, terms, beta = found
    shares, counts = step(words, documents, terms, beta=beta)
    return Fitted(_columns(counts), counts, _rows(shares).mean(axis=0), beta)


def step(matrix: Rows, documents: Array, features: Array, *, beta: float) -> tuple[Array, Array]:
    """One tempered E and M step: expected counts by document and by feature, not normalised.

    `P(z|d,f)` is proportional to `(P(f|z) P(z|d))^beta`.

    Parameters:
        matrix: Documents by features.
        documents: P(z|d).
        features: P(f|z).
        beta: 1 for plain EM.
    """
    if beta != 1.0:
        documents, features = documents**beta, features**beta
    ratio = matrix.copy()
    ratio.data = matrix.data / np.maximum(_at(matrix, documents, features), TINY)
    return documents * (ratio @ features), features * (ratio.T @ documents)


def log_likelihood(matrix: Rows, documents: Array, features: Array) -> float:
    """`sum over d, f of n(d,f) log sum over z of P(f|z) P(z|d)`."""
    return float(matrix.data @ np.log(np.maximum(_at(matrix, documents, features), TINY)))


class Joint(msgspec.Struct, frozen=True, eq=False):
    """Words and links of crawled pages under one set of factors."""

    terms: Array
    """P(t|z)."""
    links: Array
    """P(c|z) for every fetched page c, as one that links."""
    pages: Array
    """P(z|d) of the fetched pages."""


def fit_joint(corpus: Fitted, words: Rows, links: Rows, start: Joint, *, alpha: float, steps: int) -> Joint:
    """A few EM steps over crawled pages; the corpus takes part by its expected counts.

    Maximises `alpha * words + (1 - alpha) * links`, both rows with sum one.

    Parameters:
        corpus: The model of the text corpus.
        words: Fetched pages by terms.
        links: Fetched pages by fetched pages that link to them.
        start: Where to begin.
        alpha: Weight of words.
        steps: EM steps.
    """
    terms, sources, pages = start.terms, start.links, start.pages
    for _ in range(steps):
        of_words, term_counts = step(words, pages, terms, beta=corpus.beta)
        of_links, link_counts = step(links, pages, sources, beta=corpus.beta)
        pages = _rows(alpha * of_words + (1.0 - alpha) * of_links, corpus.mixture)
        terms = _columns(corpus.counts + alpha * term_counts)
        sources = _columns((1.0 - alpha) * link_counts)
    return Joint(terms, sources, pages)


def folded_in(
    mixture: Array, parts: list[tuple[float, Rows, Array]], *, steps: int, beta: float = 1.0
) -> Array:
    """P(z|d) of new documents with the factors fixed, from the corpus's mixture on.

    One step gives the mean of `P(z|f)` over the document's features; many drive a document of one or two
    features to a single factor.

    Parameters:
        mixture: P(z).
        parts: Weight, documents by features (rows with sum one) and P(f|z), for words and for links.
        steps: EM steps.
        beta: Temperature.
    """
    count = parts[0][1].shape[0]
    documents = np.tile(mixture, (count, 1))
    for _ in range(steps):
        documents = _rows(
            sum((weight * step(rows, documents, features, beta=beta)[0] for weight, rows, features in parts),
                start=np.zeros((count, len(mixture)))),
            mixture,
        )  # fmt: skip
    return documents


def _at(matrix: Rows, documents: Array, features: Array) -> Array:
    """`documents @ features.T` at the nonzero entries of the matrix."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    found = np.empty(matrix.nnz)
    for begin in range(0, matrix.nnz, CHUNK):
        part = slice(begin, begin + CHUNK)
        found[part] = np.einsum("ij,ij->i", documents[rows[part]], features[matrix.indices[part]])
    return found


def _split(matrix: Rows, random: np.random.Generator, share: float) -> tuple[Rows, Rows]:
    """Entries to fit on and entries held out; both keep the shape."""
    aside = random.random(matrix.nnz) < share
    if aside.all() or not aside.any():
        return matrix, matrix
    kept, other = matrix.copy(), matrix.copy()
    kept.data = np.where(aside, 0.0, matrix.data)
    other.data = np.where(aside, matrix.data, 0.0)
    kept.eliminate_zeros()
    other.eliminate_zeros()
    return kept, other


def _rows(counts: Array, instead: Array | None = None) -> Array:
    """Rows with sum one; a row of zeros becomes `instead`, or even."""
    totals = counts.sum(axis=1, keepdims=True)
    even = np.full(counts.shape[1], 1.0 / counts.shape[1]) if instead is None else instead
    return np.where(totals > 0.0, counts / np.where(totals > 0.0, totals, 1.0), even)


def _columns(counts: Array) -> Array:
    """Columns with sum one, smoothed a little."""
    size = max(1, len(counts))
    totals = counts.sum(axis=0, keepdims=True)
    shares = np.where(totals > 0.0, counts / np.where(totals > 0.0, totals, 1.0), 1.0 / size)
    return np.asarray((1.0 - SMOOTHING) * shares + SMOOTHING / size)
