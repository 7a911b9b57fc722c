"""Documents as rows of sparse matrices, for everything that learns from many at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final, Self, TypeAlias

import numpy as np
import xxhash

from honeyguide.errors import MissingExtra

try:
    from scipy import sparse
except ImportError:
    raise MissingExtra("learning from many documents at once", "learn") from None

Rows: TypeAlias = Any
"""A scipy CSR matrix, one row a document (scipy has no type information)."""

HASH_CACHE: Final = 200_000


class Vocabulary:
    """A fixed list of terms; column j of every matrix stands for `terms[j]`.

    Example:
        >>> vocabulary = Vocabulary.of([["owl", "nest"], ["owl"]], most_frequent=1)
        >>> vocabulary.terms, vocabulary.counts([["owl", "owl", "sky"]]).toarray().tolist()
        (('owl',), [[2.0]])
    """

    def __init__(self, terms: Iterable[str]) -> None:
        self.terms = tuple(terms)
        self.column = {term: column for column, term in enumerate(self.terms)}

    def __len__(self) -> int:
        """Number of terms."""
        return len(self.terms)

    @classmethod
    def of(
        cls,
        documents: Iterable[Sequence[str]],
        *,
        most_frequent: int | None = None,
        least_documents: int = 1,
    ) -> Self:
        """The terms of a corpus, most frequent first, equal ones in alphabetical order."""
        totals: Counter[str] = Counter()
        spread: Counter[str] = Counter()
        for terms in documents:
            totals.update(terms)
            spread.update(set(terms))
        kept = [term for term in totals if spread[term] >= least_documents]
        kept.sort(key=lambda term: (-totals[term], term))
        return cls(kept[:most_frequent])

    def counts(self, documents: Iterable[Sequence[str]]) -> Rows:
        """Term counts, one row a document; terms outside the vocabulary are left out."""
        column = self.column
        return rows_of(
            ([column[term] for term in terms if term in column] for terms in documents), len(self.terms)
        )


class _Columns(dict[str, int]):
    """Term to column, filled in on the way; starts afresh at a limit."""

    def __init__(self, columns: int, salt: int) -> None:
        super().__init__()
        self._columns = columns
        self._salt = salt

    def __missing__(self, term: str) -> int:
        if len(self) >= HASH_CACHE:
            self.clear()
        found = xxhash.xxh3_64_intdigest(term.encode("utf-8", "surrogatepass"), self._salt) % self._columns
        self[term] = found
        return found


class HashedTerms:
    """Counts in a fixed number of columns, without a vocabulary: memory does not grow with the web.

    Two terms may share a column; with 2^18 columns and the terms of one topic that is rare. Hashes are
    the same on every machine and in every run.

    Args:
        columns: How many.
        salt: Another salt sends the same term to another column, for a second kind of feature.
    """

    def __init__(self, columns: int = 2**18, *, salt: int = 0) -> None:
        self.columns = columns
        self._column = _Columns(columns, salt)

    def column(self, term: str) -> int:
        """The column of a term."""
        return self._column[term]

    def columns_of(self, terms: Iterable[str]) -> list[int]:
        """The column of each term."""
        column = self._column
        return [column[term] for term in terms]

    def counts(self, documents: Iterable[Sequence[str]]) -> Rows:
        """Term counts, one row a document."""
        return rows_of((self.columns_of(terms) for terms in documents), self.columns)


def rows_of(documents: Iterable[Sequence[int]], columns: int) -> Rows:
    """Counts from column numbers, one row a document; a column named twice counts two."""
    indices: list[int] = []
    starts = [0]
    for document in documents:
        indices.extend(document)
        starts.append(len(indices))
    matrix = sparse.csr_matrix(
        (np.ones(len(indices)), np.array(indices, dtype=np.int32), np.array(starts, dtype=np.int32)),
        shape=(len(starts) - 1, columns),
    )
    matrix.sum_duplicates()
    return matrix


def normalise_rows(matrix: Rows) -> Rows:
    """Every row at Euclidean length one; zero rows stay zero."""
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    lengths[lengths == 0.0] = 1.0
    return sparse.diags(1.0 / lengths) @ matrix
