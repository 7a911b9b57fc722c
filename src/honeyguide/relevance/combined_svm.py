"""SVM over combined evidence: one kernel from six similarities, a baseline of the GP hybrid study."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Final, Self

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.svm import SVC

from honeyguide.errors import TopicError
from honeyguide.model import Document, Examples, Page, Verdict
from honeyguide.relevance.evolved.index import ExampleIndex, Terms
from honeyguide.store.models import Saved
from honeyguide.text.segmentation import Segmenter
from honeyguide.text.tokens import Analyser

TOP_TERMS: Final = 10
SLOPE: Final = 2.0
"""Score = 1 / (1 + exp(-2 * margin)): 0.5 at the separating plane."""


class _Learned(msgspec.Struct, frozen=True):
    intercept: float
    threshold: float
    languages: tuple[str, ...]
    segmenter: Segmenter


class CombinedSvm:
    """A support vector machine whose kernel is the mean of six similarities to the examples.

    Title and body, each by bag of words, cosine and Okapi, as the evolved similarity has them. Bag of words
    and Okapi are not symmetric: in training both directions are averaged; a page is compared as the one
    that is asked about. The mean need not be positive definite; LIBSVM then ends at a stationary point.

    Args:
        c: Cost of an error in training.
        balance: Weigh the classes by their size.
        threshold: On topic from this score on; 0.5 is the separating plane.

    Example:
        >>> owls = tuple(Document(f"owl nest feather {n}", "Owls") for n in range(3))
        >>> taxes = tuple(Document(f"tax form income {n}", "Taxes") for n in range(3))
        >>> model = CombinedSvm().fit(Examples(positives=owls, negatives=taxes))
        >>> owl, tax = model.judge_texts(["the owl left its nest", "income tax"])
        >>> owl > 0.5 > tax
        True

    References:
        The GP hybrid study (see docs/systems/gp-hybrid.md), tables 12 to 19.
        Thorsten Joachims, Nello Cristianini, John Shawe-Taylor, "Composite kernels for hypertext
        categorisation", ICML 2001.
    """

    def __init__(self, *, c: float = 1.0, balance: bool = True, threshold: float = 0.5) -> None:
        self.threshold = threshold
        self._c = c
        self._balance = balance
        self._analyser = Analyser()
        self._learned: _Learned | None = None

    def fit(self, examples: Examples) -> Self:
        """Train on the examples; unlabelled text stands for negatives where there are none."""
        others = examples.negatives or examples.unlabelled
        if not examples.positives or not others:
            raise TopicError("a classifier needs examples of both kinds; add 'examples' and 'negatives'")
        self._analyser = Analyser(examples.languages)
        documents = tuple(self._terms(each) for each in chain(examples.positives, others))
        classes = np.zeros(len(documents), dtype=np.int32)
        classes[: len(examples.positives)] = 1
        index = ExampleIndex.of(documents)
        kernel = np.stack([index.evidence(one).mean(axis=0) for one in documents]).astype(np.float64)
        machine = SVC(C=self._c, kernel="precomputed", class_weight="balanced" if self._balance else None)
        machine.fit((kernel + kernel.T) / 2.0, classes)
        weights = np.zeros(len(documents))
        weights[machine.support_] = machine.dual_coef_[0]
        self._index, self._weights = index, weights
        self._learned = _Learned(
            float(machine.intercept_[0]),
            self.threshold,
            tuple(examples.languages),
            self._analyser.segmenter,
        )
        return self

    def judge(self, page: Page) -> Verdict:
        """Score a page by its title and content."""
        terms = Terms(tuple(self._analyser.terms(page.title)), tuple(self._analyser.terms(page.content)))
        margin, evidence = self._margin(terms)
        score = _chance(margin)
        mine = np.flatnonzero((self._weights > 0.0) & (evidence > 0.0)).astype(np.int32)
        gains = self._index.shared_terms(terms, mine, self._weights[mine].astype(np.float32))
        best = sorted(gains.items(), key=lambda item: (-item[1], item[0]))[:TOP_TERMS]
        total = math.fsum(gains.values()) or 1.0
        # Rounding down keeps the sum of the shares at or below the score.
        named = tuple((term, math.floor(score * gain / total * 1e9) / 1e9) for term, gain in best if gain > 0)
        return Verdict(score, score >= self.threshold, named, {"margin": max(margin, -1e6)})

    def judge_texts(self, texts: Sequence[str]) -> list[float]:
        """Score texts, each as a page without a title."""
        self._fitted()
        return [_chance(self._margin(Terms((), tuple(self._analyser.terms(text))))[0]) for text in texts]

    def save(self) -> Saved:
        """The machine's weights and the examples' term counts."""
        arrays: dict[str, NDArray[np.generic]] = {
            "terms": np.frombuffer("\n".join(self._index.terms).encode("utf-8", "surrogatepass"), np.uint8),
            "weights": self._weights,
        }
        for name, field in (("title", self._index.title), ("body", self._index.body)):
            arrays[f"{name}_starts"] = field.counts.indptr
            arrays[f"{name}_columns"] = field.counts.indices
            arrays[f"{name}_counts"] = field.counts.data.astype(np.float64)
        return Saved(values=msgspec.to_builtins(self._fitted()), arrays=arrays)

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave."""
        self._learned = msgspec.convert(saved.values, _Learned)
        self.threshold = self._learned.threshold
        self._analyser = Analyser(self._learned.languages, segmenter=self._learned.segmenter)
        self._weights = saved.arrays["weights"].astype(np.float64)
        terms = saved.arrays["terms"].tobytes().decode("utf-8", "surrogatepass").split("\n")
        shape = (len(self._weights), len(terms))
        title, body = (_matrix(saved.arrays, name, shape) for name in ("title", "body"))
        self._index = ExampleIndex(terms, title, body)
        return self

    def _fitted(self) -> _Learned:
        if self._learned is None:
            raise TopicError("the page model knows no topic yet; call fit or load first")
        return self._learned

    def _terms(self, document: Document) -> Terms:
        return Terms(tuple(self._analyser.terms(document.title)), tuple(self._analyser.terms(document.text)))

    def _margin(self, terms: Terms) -> tuple[float, NDArray[np.float64]]:
        learned = self._fitted()
        evidence = self._index.evidence(terms).mean(axis=0).astype(np.float64)
        if not evidence.any():
            return -math.inf, evidence
        return float(self._weights @ evidence) + learned.intercept, evidence


def _chance(margin: float) -> float:
    return 0.0 if margin == -math.inf else 0.5 * (1.0 + math.tanh(0.5 * SLOPE * margin))


def _matrix(arrays: Mapping[str, NDArray[np.generic]], name: str, shape: tuple[int, int]) -> Any:
    parts: Any = tuple(arrays[f"{name}_{part}"] for part in ("counts", "columns", "starts"))
    return sparse.csr_matrix(parts, shape=shape)
