"""Latent semantic indexing: a space of terms in which texts with related words lie close together."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, TypeAlias, cast

import numpy as np
import xxhash
from numpy.typing import NDArray
from scipy import sparse

from honeyguide.errors import TopicError
from honeyguide.model import Document, Examples
from honeyguide.text.segmentation import Segmenter
from honeyguide.text.svd_update import truncated_svd
from honeyguide.text.tokens import Analyser, Places
from honeyguide.text.vectors import Rows, Vocabulary, normalise_rows

Array: TypeAlias = NDArray[np.float64]
Weighting: TypeAlias = Literal["count", "log", "binary"]
"""How often a term occurs, `1 + log` of that, or whether it does."""

LEAST_DOCUMENTS: Final = 2
REMEMBERED: Final = 8
"""Corpora and spaces kept in memory: a laboratory fits the same ones again and again."""


class TermSpace:
    """The terms of a corpus, and the way from a text to weights of them.

    Args:
        terms: The vocabulary.
        weighting: How term counts become weights.
        analyser: Cuts texts into the same terms as the corpus.
    """

    def __init__(
        self, terms: Iterable[str], *, weighting: Weighting = "count", analyser: Analyser | None = None
    ) -> None:
        self.vocabulary = Vocabulary(terms)
        self.weighting: Weighting = weighting
        self.analyser = analyser or Analyser()
        self._places = Places(self.vocabulary.column)
        self._last: tuple[tuple[str, ...], dict[int, float]] = ((), {})

    def weights(self, *texts: str) -> dict[int, float]:
        """Weights by term number of the texts taken together, not normalised.

        The last answer is remembered: page model and link order ask for the same page in turn.
        """
        known, answer = self._last
        if len(known) == len(texts) and all(a is b for a, b in zip(known, texts, strict=True)):
            return answer
        read = self.analyser.numbered(*texts)
        terms, counts = self.analyser.counted(np.concatenate(read.texts))
        columns = self._places.of(read.names, terms)
        ours = columns >= 0
        found = dict(zip(columns[ours].tolist(), counts[ours].astype(np.float64).tolist(), strict=True))
        answer = _weighted(found, self.weighting)
        self._last = (texts, answer)
        return answer

    def rows(self, texts: Iterable[str]) -> Rows:
        """Weights of many texts, one row each, not normalised."""
        return rows_from((self.weights(text) for text in texts), len(self.vocabulary))


class LatentSpace(TermSpace):
    """The k strongest directions of a text corpus, and the way from a text to them.

    Args:
        terms: Row i of `basis` is term i.
        basis: U, terms by factors.
        values: The singular values, falling.
        weighting: How term counts become weights.
        analyser: Cuts texts into the same terms as the corpus.
    """

    def __init__(
        self,
        terms: Iterable[str],
        basis: Array,
        values: Array,
        *,
        weighting: Weighting = "count",
        analyser: Analyser | None = None,
    ) -> None:
        super().__init__(terms, weighting=weighting, analyser=analyser)
        self.basis = basis
        self.values = values

    @property
    def rank(self) -> int:
        """k: number of factors."""
        return len(self.values)

    def project(self, weights: dict[int, float]) -> Array:
        """Place of one text: `U' d` for its weights at length one; zeros when it has no known term."""
        if not weights:
            return np.zeros(self.rank)
        numbers = np.fromiter(weights.keys(), np.int64, len(weights))
        values = np.fromiter(weights.values(), np.float64, len(weights))
        return np.asarray((values / np.sqrt(values @ values)) @ self.basis[numbers])

    def cut(self, rank: int) -> LatentSpace:
        """The same space with fewer factors."""
        return LatentSpace(
            self.vocabulary.terms,
            self.basis[:, :rank],
            self.values[:rank],
            weighting=self.weighting,
            analyser=self.analyser,
        )

    def described(self) -> tuple[dict[str, object], dict[str, NDArray[np.generic]]]:
        """The space as JSON values and arrays."""
        values: dict[str, object] = {
            "terms": list(self.vocabulary.terms),
            "weighting": self.weighting,
            "languages": list(self.analyser.languages),
            "segmenter": self.analyser.segmenter,
        }
        return values, {"basis": self.basis, "values": self.values}

    @classmethod
    def restored(cls, values: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> LatentSpace:
        """Take back what `described` gave."""
        segmenter = cast("Segmenter", values["segmenter"])
        return cls(
            values["terms"],
            np.asarray(arrays["basis"], dtype=np.float64),
            np.asarray(arrays["values"], dtype=np.float64),
            weighting=values["weighting"],
            analyser=Analyser(values["languages"], segmenter=segmenter),
        )


def fit_terms(
    examples: Examples, *, terms: int = 1000, weighting: Weighting = "count"
) -> tuple[TermSpace, Rows, str]:
    """The vocabulary of everything the user gave as text, and that text: one row a document.

    Vocabulary: the most frequent stems of the corpus, and the topic's own words wherever they occur in it
    (a topic word outside the 1,000 most frequent would otherwise count for nothing).

    Args:
        examples: Unlabelled text and example pages are the corpus; keywords add to the vocabulary.
        terms: Most frequent stems kept.
        weighting: How term counts become weights.

    Returns:
        The space; the weights of unlabelled, positive and negative documents in this order, not
        normalised; a name for the corpus.

    Raises:
        TopicError: Fewer than two documents with words in them.
    """
    analyser = Analyser(examples.languages)
    documents = (*examples.unlabelled, *examples.positives, *examples.negatives)
    corpus, key = _corpus(documents, analyser)
    useful = sum(map(bool, corpus))
    if useful < LEAST_DOCUMENTS:
        raise TopicError(
            f"LSI needs a corpus of texts and has {useful} with any words in them; "
            "add files to 'background' in [topic]"
        )
    topic = tuple(analyser.terms(" ".join((*examples.keywords, *examples.taxonomy))))
    place = (key, topic, terms, weighting)
    if place not in _matrices:
        vocabulary = Vocabulary(_vocabulary(corpus, terms, topic))
        column = vocabulary.column
        vectors = (
            _weighted({column[term]: float(n) for term, n in counts.items() if term in column}, weighting)
            for counts in corpus
        )
        _remember(_matrices, place, (vocabulary.terms, rows_from(vectors, len(column))))
    names, rows = _matrices[place]
    return TermSpace(names, weighting=weighting, analyser=analyser), rows, key


def fit_space(
    examples: Examples, *, k: int = 50, terms: int = 1000, weighting: Weighting = "count"
) -> LatentSpace:
    """The latent space of everything the user gave as text, labels not looked at.

    Vocabulary as in `fit_terms`; columns are brought to length one; k is cut to the rank of the matrix.

    Args:
        examples: Unlabelled text and example pages are the corpus; keywords add to the vocabulary.
        k: Factors kept.
        terms: Most frequent stems kept.
        weighting: How term counts become weights.

    Raises:
        TopicError: Fewer than two documents with words in them.
    """
    if k < 1 or terms < 1:
        raise TopicError(f"an LSI space cannot have k = {k} and {terms} terms; both must be at least 1")
    space, rows, key = fit_terms(examples, terms=terms, weighting=weighting)
    names = space.vocabulary.terms
    place = (key, names, k, weighting)
    if place not in _spaces:
        svd = truncated_svd(normalise_rows(rows).T.tocsr(), k)
        _remember(_spaces, place, (np.ascontiguousarray(svd.u), svd.s))
    basis, values = _spaces[place]
    return LatentSpace(names, basis, values, weighting=weighting, analyser=space.analyser)


def topic_weights(space: TermSpace, examples: Examples) -> dict[int, float]:
    """The topic as weights by term number.

    Keywords (or the labels of a taxonomy path), one each; the mean of the positive examples, each at
    length one, where there are no keywords.

    Raises:
        TopicError: No word of it is in the corpus.
    """
    words = examples.keywords or (() if examples.positives else examples.taxonomy)
    weights: dict[int, float] = {}
    if words:
        weights = dict.fromkeys(space.weights(" ".join(words)), 1.0)
    elif examples.positives:
        texts = (f"{one.title} {one.text}" for one in examples.positives)
        mean = np.asarray(normalise_rows(space.rows(texts)).mean(axis=0)).ravel()
        weights = {number: float(mean[number]) for number in np.flatnonzero(mean).tolist()}
    else:
        raise TopicError("the topic has no word to look for; give keywords or example pages")
    if not weights:
        named = ", ".join(words) or "the example pages"
        raise TopicError(
            f"no word of the topic ({named}) occurs in the background text; "
            "add texts about the topic to 'background', or other keywords"
        )
    return weights


def query_vector(space: LatentSpace, examples: Examples) -> Array:
    """The topic as a vector over the space's terms, of length one.

    Raises:
        TopicError: No word of it is in the corpus.
    """
    query = np.zeros(len(space.vocabulary))
    for number, weight in topic_weights(space, examples).items():
        query[number] = weight
    return np.asarray(query / np.linalg.norm(query))


def rows_from(vectors: Iterable[dict[int, float]], columns: int) -> Rows:
    """Sparse vectors as the rows of a matrix."""
    numbers: list[int] = []
    values: list[float] = []
    ends = [0]
    for vector in vectors:
        numbers.extend(vector.keys())
        values.extend(vector.values())
        ends.append(len(numbers))
    return sparse.csr_matrix(
        (np.array(values, dtype=np.float64), np.array(numbers, dtype=np.int32), np.array(ends)),
        shape=(len(ends) - 1, columns),
    )


def _weighted(counts: dict[int, float], weighting: Weighting) -> dict[int, float]:
    if weighting == "count":
        return counts
    if weighting == "binary":
        return dict.fromkeys(counts, 1.0)
    return {number: 1.0 + float(np.log(count)) for number, count in counts.items()}


_corpora: OrderedDict[str, list[Counter[str]]] = OrderedDict()
_matrices: OrderedDict[tuple[object, ...], tuple[tuple[str, ...], Rows]] = OrderedDict()
_spaces: OrderedDict[tuple[object, ...], tuple[Array, Array]] = OrderedDict()


def _remember(memory: OrderedDict[Any, Any], key: object, value: object) -> None:
    memory[key] = value
    while len(memory) > REMEMBERED:
        memory.popitem(last=False)


def _corpus(documents: Sequence[Document], analyser: Analyser) -> tuple[list[Counter[str]], str]:
    """Term counts of the documents, and a name for them."""
    digest = xxhash.xxh3_128()
    digest.update(repr((analyser.languages, analyser.segmenter)).encode())
    for document in documents:
        digest.update(f"{document.title}\x00{document.text}\x01".encode("utf-8", "surrogatepass"))
    key = digest.hexdigest()
    if key in _corpora:
        return _corpora[key], key
    counted = [Counter(analyser.terms(f"{one.title} {one.text}")) for one in documents]
    _remember(_corpora, key, counted)
    return counted, key


def _vocabulary(corpus: Sequence[Counter[str]], size: int, topic: Iterable[str]) -> tuple[str, ...]:
    totals: Counter[str] = Counter()
    for counts in corpus:
        totals.update(counts)
    frequent = sorted(totals, key=lambda term: (-totals[term], term))[:size]
    kept = set(frequent)
    return (*frequent, *(term for term in dict.fromkeys(topic) if term in totals and term not in kept))
