"""An inverted index over labelled examples that gives all six similarities of a page in one pass."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.relevance.evolved.kernels import Floats, Ints, Longs, accumulate
from honeyguide.text.vectors import rows_of

K1: Final = 2.0
B: Final = 0.75


class Terms(msgspec.Struct, frozen=True):
    """A document as its terms, field by field."""

    title: tuple[str, ...]
    body: tuple[str, ...]


class _Query(msgspec.Struct, frozen=True):
    terms: Ints
    bow: float
    cosine: Floats
    okapi: Floats


class FieldIndex:
    """One field (title or body) of all examples.

    With d1 the page that is asked about and d2 an example:

    - bag of words: `|d1 ∩ d2| / |d1|`, over sets of terms;
    - cosine of the `tf * log(n/n_t)` vectors;
    - Okapi: `Σ tf(t,d1) * CW(t,d2)`, `CW = log(n/n_t) * tf * (k1+1) / (k1*((1-b) + b*len/avglen) + tf)`
      with k1 = 2, b = 0.75, divided by the same sum of d1 with itself. The division changes no ranking
      of d1's neighbours; it brings the three measures to one scale, without which a sum of them is
      Okapi alone.

    Args:
        counts: CSR matrix of term counts, one row an example.
    """

    def __init__(self, counts: Any) -> None:
        self.counts = counts.tocsr()
        documents, self._width = self.counts.shape
        self.documents = documents
        lengths = np.asarray(self.counts.sum(axis=1), dtype=np.float64).ravel()
        spread = np.bincount(self.counts.indices, minlength=self._width)
        self._idf = np.log(max(1, documents) / np.maximum(spread, 1))
        self._unseen = math.log(max(1, documents))
        self._average = float(lengths.mean()) or 1.0 if documents else 1.0
        rows = np.repeat(np.arange(documents), np.diff(self.counts.indptr))
        tf = self.counts.data.astype(np.float64)
        weight = tf * self._idf[self.counts.indices]
        norms = np.sqrt(np.bincount(rows, weight * weight, minlength=documents))
        norms[norms == 0.0] = 1.0
        penalty = K1 * ((1.0 - B) + B * lengths / self._average)
        self._by_row = (weight / norms[rows]).astype(np.float32)
        okapi = weight * (K1 + 1.0) / (penalty[rows] + tf)
        order = np.argsort(self.counts.indices, kind="stable")
        self._starts: Longs = np.concatenate(([0], np.cumsum(spread))).astype(np.int64)
        self._docs: Ints = rows[order].astype(np.int32)
        self._weights: Floats = np.stack((weight / norms[rows], okapi), axis=1)[order].astype(np.float32)

    def query(
        self, columns: NDArray[np.int32], counts: NDArray[np.float64], *, unseen: Sequence[int]
    ) -> _Query:
        """What the kernel needs of one document.

        Args:
            columns: Columns of its terms that the index knows.
            counts: How often each occurs.
            unseen: How often each of its other terms occurs.
        """
        other = np.asarray(unseen, dtype=np.float64)
        weight = counts * self._idf[columns]
        other_weight = other * self._unseen
        norm = math.sqrt(float(weight @ weight) + float(other_weight @ other_weight)) or 1.0
        length = float(counts.sum() + other.sum())
        penalty = K1 * ((1.0 - B) + B * length / self._average)
        itself = float((counts * weight * (K1 + 1.0) / (penalty + counts)).sum())
        itself += float((other * other_weight * (K1 + 1.0) / (penalty + other)).sum())
        return _Query(
            columns,
            1.0 / max(1, len(counts) + len(other)),
            (weight / norm).astype(np.float32),
            (counts / (itself or 1.0)).astype(np.float32),
        )

    def row(self, example: int) -> tuple[list[int], list[float]]:
        """Columns and cosine weights of one example."""
        place = slice(self.counts.indptr[example], self.counts.indptr[example + 1])
        return self.counts.indices[place].tolist(), self._by_row[place].tolist()

    def add(self, query: _Query, out: Floats) -> None:
        """Add the evidence of a query to three rows."""
        accumulate(
            query.terms, query.bow, query.cosine, query.okapi, self._starts, self._docs, self._weights, out
        )


class ExampleIndex:
    """Title and body of all examples over one vocabulary.

    Args:
        terms: The vocabulary, column by column.
        title: Counts of title terms, one row an example.
        body: Counts of body terms.

    Example:
        >>> index = ExampleIndex.of([Terms(("owl",), ("owl", "nest")), Terms(("tax",), ("tax", "form"))])
        >>> index.evidence(Terms((), ("owl", "owl")))[3].tolist()
        [1.0, 0.0]
    """

    def __init__(self, terms: Sequence[str], title: Any, body: Any) -> None:
        self.terms = tuple(terms)
        self._column = {term: column for column, term in enumerate(self.terms)}
        self.title = FieldIndex(title)
        self.body = FieldIndex(body)
        self.size = self.body.documents

    @classmethod
    def of(cls, documents: Iterable[Terms]) -> Self:
        """Index documents; columns go by first occurrence."""
        column: dict[str, int] = {}
        kept = list(documents)
        rows = [
            [[column.setdefault(term, len(column)) for term in field] for field in (each.title, each.body)]
            for each in kept
        ]
        width = max(1, len(column))
        names = tuple(column) or ("",)
        title, body = (rows_of((row[field] for row in rows), width) for field in (0, 1))
        return cls(names, title, body)

    def evidence(self, document: Terms) -> Floats:
        """The six similarities of a document to every example: one row a kind, one column an example."""
        out = np.zeros((6, self.size), dtype=np.float32)
        for index, field, rows in (
            (self.title, document.title, out[:3]),
            (self.body, document.body, out[3:]),
        ):
            if field:
                index.add(self._query(index, field), rows)
        return out

    def _query(self, index: FieldIndex, field: Sequence[str]) -> _Query:
        column = self._column
        counted = Counter(field)
        known = [(column[term], count) for term, count in counted.items() if term in column]
        unseen = [count for term, count in counted.items() if term not in column]
        columns = np.array([place for place, _ in known], dtype=np.int32)
        return index.query(columns, np.array([count for _, count in known], dtype=np.float64), unseen=unseen)

    def shared_terms(self, document: Terms, examples: Ints, weights: Floats) -> dict[str, float]:
        """What each term of a document adds to its body cosine with some examples.

        Args:
            document: The page.
            examples: Which examples.
            weights: What each of them counts.
        """
        if not document.body:
            return {}
        query = self._query(self.body, document.body)
        own = dict(zip(query.terms.tolist(), query.cosine.tolist(), strict=True))
        gains: dict[str, float] = {}
        for example, weight in zip(examples.tolist(), weights.tolist(), strict=True):
            columns, values = self.body.row(example)
            for column, value in zip(columns, values, strict=True):
                if column in own:
                    term = self.terms[column]
                    gains[term] = gains.get(term, 0.0) + own[column] * value * weight
        return gains
