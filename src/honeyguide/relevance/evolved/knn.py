"""kNN with an evolved similarity: a page is on topic when its nearest examples are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final, Self

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from honeyguide.errors import TopicError
from honeyguide.model import Document, Examples, Page, Verdict
from honeyguide.relevance.evolved.evolution import Settings
from honeyguide.relevance.evolved.formula import Formula, Program, as_json, parse, program, show
from honeyguide.relevance.evolved.index import ExampleIndex, Terms
from honeyguide.relevance.evolved.kernels import Floats, Ints, run_program, take_best
from honeyguide.relevance.evolved.model_file import read_similarity
from honeyguide.relevance.evolved.samples import (
    Labelled,
    Training,
    class_weights,
    neighbours_for,
    require_examples,
    split,
)
from honeyguide.store.models import Saved
from honeyguide.text.segmentation import Segmenter
from honeyguide.text.tokens import Analyser

TOP_TERMS: Final = 10
TRAINING_SHARE: Final = 10 / 17
"""Of the examples, for evolution; the rest validates: 10 % to 7 % in the study."""

TITLE_LENGTH: Final = 12
USUAL_K: Final = 10


class _Learned(msgspec.Struct, frozen=True):
    formula: list[object] | str
    k: int
    languages: tuple[str, ...]
    segmenter: Segmenter
    scores: dict[str, float]


class _Nearest(msgspec.Struct, frozen=True):
    """The neighbours of one page."""

    examples: Ints
    similarity: Floats
    share: float
    """Of the similarities, the part that speaks for the topic."""
    on_topic: int


class EvolvedKnn:
    """Nearest neighbours among the examples, by a similarity that genetic programming found.

    The similarity is a formula of six measures (title and body, each by bag of words, cosine and
    Okapi) that `honeyguide model evolve` wrote; without one it is evolved on the examples when the
    model is fitted, which takes seconds for hundreds of examples and minutes for thousands. The score
    of a page is the share of the topic's examples in the summed similarities of its k neighbours. Where
    the formula is zero for all examples, the sum of the six measures stands in for it.

    At crawl time the examples are an inverted index: a page costs the postings of its terms.

    Args:
        formula: File of `honeyguide model evolve`; empty: evolve when fitted.
        k: Neighbours; fewer where a class has fewer examples. None: those that the formula was evolved
            with, 10 where it is evolved here.
        threshold: On topic from this score on; 0.5 is the study's largest-sum rule.
        balance: Count neighbours in inverse proportion to the size of their class. The study's classes
            were of equal size, where it makes no difference; with few examples on topic and many off it,
            it accepts more pages, right and wrong ones.
        population: Trees of a generation.
        generations: How many.
        sample: Examples that evolution looks at, at most.
        seed: Of the evolution.

    Example:
        >>> owls = tuple(Document(f"owl nest feather {n}", "Owls") for n in range(12))
        >>> taxes = tuple(Document(f"tax form income {n}", "Taxes") for n in range(12))
        >>> model = EvolvedKnn(population=20, generations=2).fit(Examples(positives=owls, negatives=taxes))
        >>> model.judge(Page(url="https://a.example/", id=1, text="the owl left its nest")).on_topic
        True

    References:
        The GP hybrid study (see docs/systems/gp-hybrid.md), sections 4.2 to 4.3.
        Baoping Zhang et al., "Intelligent GP fusion from multiple sources for text classification",
        CIKM 2005.
    """

    def __init__(
        self,
        *,
        formula: str = "",
        k: int | None = None,
        threshold: float = 0.5,
        balance: bool = False,
        population: int = 400,
        generations: int = 30,
        sample: int = 2000,
        seed: int = 0,
    ) -> None:
        self._file = formula
        self._threshold = threshold
        self._balance = balance
        self._sample = sample
        self._k = k
        self._settings = Settings(
            population=population, generations=generations, k=USUAL_K if k is None else k, seed=seed
        )
        self._analyser = Analyser()
        self._learned: _Learned | None = None

    @property
    def formula(self) -> str:
        """The similarity in use, for people."""
        return show(parse(self._fitted().formula))

    @property
    def scores(self) -> dict[str, float]:
        """Macro-F1 on the samples of its evolution; empty for a formula from a file."""
        return self._fitted().scores

    def fit(self, examples: Examples) -> Self:
        """Index the examples, and evolve the similarity where no file gives one."""
        others = examples.negatives or examples.unlabelled
        require_examples(len(examples.positives), len(others))
        self._analyser = Analyser(examples.languages)
        documents = tuple(self._terms(each) for each in chain(examples.positives, others))
        classes = np.zeros(len(documents), dtype=np.int32)
        classes[: len(examples.positives)] = 1
        scores: dict[str, float] = {}
        if self._file:
            similarity = read_similarity(Path(self._file))
            formula, k = similarity.tree(), similarity.k if self._k is None else self._k
        else:
            formula, scores = self._evolve(Labelled(documents, classes))
            k = self._settings.k
        self._learned = _Learned(
            as_json(formula),
            neighbours_for(classes, k),
            tuple(examples.languages),
            self._analyser.segmenter,
            scores,
        )
        self._take(ExampleIndex.of(documents), classes, formula)
        return self

    def judge(self, page: Page) -> Verdict:
        """Score a page by its title and visible text."""
        learned = self._fitted()
        terms = Terms(tuple(self._analyser.terms(page.title)), tuple(self._analyser.terms(page.content)))
        nearest = self._nearest(terms, learned.k)
        facts = {
            "neighbours": float(len(nearest.examples)),
            "neighbours_on_topic": float(nearest.on_topic),
            "similarity": float(nearest.similarity[0]) if len(nearest.similarity) else 0.0,
        }
        named = self._behind(terms, nearest)
        return Verdict(nearest.share, nearest.share >= self._threshold, named, facts)

    def judge_texts(self, texts: Sequence[str]) -> list[float]:
        """Score texts, each as a page without a title; one as short as a title is its own title too."""
        learned = self._fitted()
        found = (tuple(self._analyser.terms(text)) for text in texts)
        return [
            self._nearest(Terms(terms if len(terms) <= TITLE_LENGTH else (), terms), learned.k).share
            for terms in found
        ]

    def save(self) -> Saved:
        """The formula and the examples' term counts."""
        learned = self._fitted()
        arrays: dict[str, NDArray[np.generic]] = {
            "terms": np.frombuffer("\n".join(self._index.terms).encode("utf-8", "surrogatepass"), np.uint8),
            "classes": self._classes,
        }
        for name, field in (("title", self._index.title), ("body", self._index.body)):
            arrays[f"{name}_starts"] = field.counts.indptr
            arrays[f"{name}_columns"] = field.counts.indices
            arrays[f"{name}_counts"] = field.counts.data.astype(np.float64)
        values = msgspec.to_builtins(learned)
        return Saved(values=values, arrays=arrays)

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave."""
        learned = msgspec.convert(saved.values, _Learned)
        arrays = saved.arrays
        terms = arrays["terms"].tobytes().decode("utf-8", "surrogatepass").split("\n")
        classes = arrays["classes"].astype(np.int32)
        title, body = (_matrix(arrays, name, (len(classes), len(terms))) for name in ("title", "body"))
        self._analyser = Analyser(learned.languages, segmenter=learned.segmenter)
        self._learned = learned
        self._take(ExampleIndex(terms, title, body), classes, parse(learned.formula))
        return self

    def _fitted(self) -> _Learned:
        if self._learned is None:
            raise TopicError("the page model knows no topic yet; call fit or load first")
        return self._learned

    def _terms(self, document: Document) -> Terms:
        return Terms(tuple(self._analyser.terms(document.title)), tuple(self._analyser.terms(document.text)))

    def _evolve(self, collection: Labelled) -> tuple[Formula, dict[str, float]]:
        share = min(1.0, self._sample / len(collection.documents))
        samples = split(
            collection,
            training=share * TRAINING_SHARE,
            validation=share * (1.0 - TRAINING_SHARE),
            seed=self._settings.seed,
            test=False,
        )
        outcome = Training(samples, self._settings, balance=self._balance).run()
        assert outcome is not None  # Nothing can stop it here.
        return outcome.formula, outcome.scores

    def _take(self, index: ExampleIndex, classes: NDArray[np.int32], formula: Formula) -> None:
        self._index = index
        self._classes = classes
        self._program: Program = program(formula)
        self._weights = class_weights(classes, balance=self._balance)
        self._registers = np.zeros((6 + len(self._program), index.size), dtype=np.float32)

    def _nearest(self, terms: Terms, k: int) -> _Nearest:
        registers = self._registers
        registers[:6] = self._index.evidence(terms)
        run_program(self._program, registers, self._index.size)
        value, place = np.empty(k, dtype=np.float32), np.empty(k, dtype=np.int32)
        found = take_best(registers[-1], self._index.size, k, value, place)
        if not found:
            # Such as a product with the title's similarity, for a page without a title.
            registers[-1] = registers[:6].sum(axis=0)
            found = take_best(registers[-1], self._index.size, k, value, place)
        kinds = self._classes[place[:found]]
        counted = value[:found].astype(np.float64) * self._weights[kinds]
        total = float(counted.sum())
        share = float(counted[kinds == 1].sum()) / total if total else 0.0
        return _Nearest(place[:found], value[:found], min(1.0, share), int((kinds == 1).sum()))

    def _behind(self, terms: Terms, nearest: _Nearest) -> tuple[tuple[str, float], ...]:
        """The terms that the page shares with its neighbours on topic, with their share of the score."""
        mine = self._classes[nearest.examples] == 1
        if not nearest.share or not mine.any():
            return ()
        gains = self._index.shared_terms(terms, nearest.examples[mine], nearest.similarity[mine])
        best = sorted(gains.items(), key=lambda item: (-item[1], item[0]))[:TOP_TERMS]
        total = math.fsum(gains.values())
        return tuple(
            (term, math.floor(nearest.share * gain / total * 1e9) / 1e9) for term, gain in best if gain > 0.0
        )


def _matrix(arrays: Mapping[str, NDArray[np.generic]], name: str, shape: tuple[int, int]) -> Any:
    parts: Any = tuple(arrays[f"{name}_{part}"] for part in ("counts", "columns", "starts"))
    return sparse.csr_matrix(parts, shape=shape)
