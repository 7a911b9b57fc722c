"""Weights of terms in documents, and the cosine of weighted documents.

Documents are plain dicts from term to number: on the hot path a page shares a handful of terms with
a topic, and a dict beats any matrix there. `honeyguide.text.vectors` has the matrix forms.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec


class DocumentFrequencies(msgspec.Struct, frozen=True):
    """In how many of `documents` texts each term occurs, and how long they are on average."""

    documents: int
    counts: dict[str, int]
    average_length: float
    """Terms a document."""

    def idf(self, term: str) -> float:
        """`log(n / n_t)`; a term never seen counts as seen once."""
        return math.log(max(1.0, self.documents / max(1, self.counts.get(term, 1))))


def document_frequencies(documents: Iterable[Sequence[str]]) -> DocumentFrequencies:
    """Count the terms of a corpus.

    Example:
        >>> table = document_frequencies([["a", "b", "a"], ["b"]])
        >>> table.counts["b"], table.average_length, table.idf("a") == math.log(2)
        (2, 2.0, True)
    """
    counts: Counter[str] = Counter()
    total = length = 0
    for terms in documents:
        counts.update(set(terms))
        total += 1
        length += len(terms)
    return DocumentFrequencies(total, dict(counts), length / total if total else 0.0)


def log_frequencies(terms: Iterable[str]) -> dict[str, float]:
    """`1 + log(tf)`: the tenth mention says less than the first."""
    return {term: 1.0 + math.log(count) for term, count in Counter(terms).items()}


def tf_idf(terms: Iterable[str], table: DocumentFrequencies) -> dict[str, float]:
    """`tf * log(n / n_t)`."""
    return {term: count * table.idf(term) for term, count in Counter(terms).items()}


def okapi(
    terms: Sequence[str], table: DocumentFrequencies, *, k1: float = 2.0, b: float = 0.75
) -> dict[str, float]:
    """Okapi combined weights of a document's terms.

    `CW(t,d) = log(n/n_t) * tf * (k1+1) / (k1 * ((1-b) + b * len(d)/avglen) + tf)`

    Args:
        terms: The document.
        table: n, n_t and avglen.
        k1: How slowly repetition saturates.
        b: How much length counts against a document.

    References:
        Stephen Robertson, Karen Sparck Jones, "Simple, proven approaches to text retrieval",
        Technical Report 356, University of Cambridge, 1994.
    """
    relative = len(terms) / table.average_length if table.average_length else 1.0
    penalty = k1 * ((1.0 - b) + b * relative)
    return {
        term: table.idf(term) * count * (k1 + 1.0) / (penalty + count)
        for term, count in Counter(terms).items()
    }


def norm(vector: Mapping[str, float]) -> float:
    """Euclidean length."""
    return math.sqrt(math.fsum(value * value for value in vector.values()))


def normalised(vector: Mapping[str, float]) -> dict[str, float]:
    """The vector at length one; a zero vector stays zero."""
    length = norm(vector) or 1.0
    return {term: value / length for term, value in vector.items()}


def dot(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """Inner product."""
    if len(b) < len(a):
        a, b = b, a
    return math.fsum(value * b[term] for term, value in a.items() if term in b)


def cosine(a: Mapping[str, float], b: Mapping[str, float]) -> float:
    """Cosine similarity; 0 where either vector is zero.

    Example:
        >>> round(cosine({"a": 1.0, "b": 1.0}, {"a": 2.0}), 4)
        0.7071
    """
    product = dot(a, b)
    return product / (norm(a) * norm(b)) if product else 0.0


def centroid(vectors: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Mean of the vectors after each is brought to length one."""
    total: dict[str, float] = {}
    count = 0
    for vector in vectors:
        count += 1
        for term, value in normalised(vector).items():
            total[term] = total.get(term, 0.0) + value
    return {term: value / count for term, value in total.items()}


def strongest(vector: Mapping[str, float], count: int) -> dict[str, float]:
    """The `count` largest components, largest first; equal ones in alphabetical order."""
    best = sorted(vector.items(), key=lambda item: (-item[1], item[0]))[:count]
    return {term: value for term, value in best if value > 0.0}
