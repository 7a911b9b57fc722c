"""From labelled documents to an evolved formula: samples, candidates, evolution, choice."""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Callable, Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.errors import TopicError
from honeyguide.relevance.evolved.evolution import Evolution, Generation, Settings, begin, choose, run
from honeyguide.relevance.evolved.fitness import Fitness
from honeyguide.relevance.evolved.formula import Formula, program
from honeyguide.relevance.evolved.index import ExampleIndex, Terms
from honeyguide.relevance.evolved.kernels import Floats
from honeyguide.relevance.evolved.neighbourhoods import NEAREST, Neighbourhoods
from honeyguide.relevance.evolved.scores import macro_f1, study_f1

LEAST: Final = 10
"""Examples of a class below which nothing is evolved."""


class Labelled(msgspec.Struct, frozen=True):
    """Documents with their classes (1: on topic)."""

    documents: tuple[Terms, ...]
    classes: NDArray[np.int32]

    def part(self, places: Sequence[int]) -> Labelled:
        """Those at `places`, in that order."""
        return Labelled(
            tuple(self.documents[place] for place in places), self.classes[np.asarray(places, dtype=np.int64)]
        )


class Split(msgspec.Struct, frozen=True):
    """Three samples of one collection."""

    training: Labelled
    validation: Labelled
    test: Labelled


class ScoredFormula(msgspec.Struct, frozen=True):
    """A formula with what it scored on each sample."""

    formula: Formula
    k: int
    scores: dict[str, float]
    evolution: Evolution


def require_examples(on_topic: int, off_topic: int) -> None:
    """Refuse collections that are too small to evolve anything.

    Raises:
        TopicError: Fewer than ten documents of a class.
    """
    for count, what in ((on_topic, "on topic"), (off_topic, "off topic")):
        if count < LEAST:
            raise TopicError(
                f"an evolved similarity needs {LEAST} example documents {what}, there are {count};"
                f" give {LEAST - count} more"
            )


def split(collection: Labelled, *, training: float, validation: float, seed: int, test: bool = True) -> Split:
    """Draw stratified samples in random order; the rest, if wanted, is for testing."""
    source = random.Random(seed)  # noqa: S311  Not a secret.
    parts: tuple[list[int], list[int], list[int]] = ([], [], [])
    for kind in range(int(collection.classes.max()) + 1):
        places = [int(place) for place in np.flatnonzero(collection.classes == kind)]
        source.shuffle(places)
        first = max(1, round(training * len(places)))
        second = first + max(1, round(validation * len(places)))
        parts[0].extend(places[:first])
        parts[1].extend(places[first:second])
        parts[2].extend(places[second:] if test else [])
    for part in parts:
        source.shuffle(part)
    return Split(*(collection.part(part) for part in parts))


def class_weights(classes: NDArray[np.int32], *, balance: bool) -> Floats:
    """What a neighbour of each class counts: one, or in inverse proportion to the class's size."""
    sizes = np.bincount(classes, minlength=2).astype(np.float64)
    if not balance:
        return np.ones(len(sizes), dtype=np.float32)
    return (len(classes) / (len(sizes) * np.maximum(sizes, 1.0))).astype(np.float32)


def neighbours_for(classes: NDArray[np.int32], k: int) -> int:
    """`k`, or fewer where the smaller class has not so many examples."""
    return max(1, min(k, int(np.bincount(classes, minlength=2).min())))


class Training:
    """One evolution over the samples of a collection.

    Args:
        samples: Training and validation sample; the test sample may be empty.
        settings: Sizes and rates.
        balance: Weigh neighbours by the size of their class.
        threads: Threads to use; None for one a core.
        nearest: Candidates by each kind of evidence.
    """

    def __init__(
        self,
        samples: Split,
        settings: Settings,
        *,
        balance: bool = False,
        threads: int | None = None,
        nearest: int = NEAREST,
    ) -> None:
        settings.check()
        classes = samples.training.classes
        counts = np.bincount(classes, minlength=2)
        if counts.min() < 2:
            raise TopicError("the training sample has fewer than 2 documents of a class; give more examples")
        self.k = neighbours_for(classes, settings.k)
        self.settings = settings
        self.index = ExampleIndex.of(samples.training.documents)
        self._samples = samples
        self._classes = classes
        self._nearest = nearest
        self._threads = threads or min(4, os.cpu_count() or 1)
        self._weights = class_weights(classes, balance=balance)
        self.training = self.queries(samples.training, themselves=True)
        self.fitness = self.judge_on(self.training)

    def queries(
        self, sample: Labelled, *, themselves: bool = False, exhaustive: bool = False
    ) -> Neighbourhoods:
        """The documents of a sample with their candidates among the training documents."""
        return Neighbourhoods.of(
            self.index,
            self._classes,
            queries=sample.documents,
            labels=sample.classes,
            themselves=themselves,
            nearest=None if exhaustive else self._nearest,
            threads=self._threads,
        )

    def judge_on(self, queries: Neighbourhoods, *, race: bool = True) -> Fitness:
        """Fitness over some queries."""
        return Fitness(queries, self.k, weights=self._weights, threads=self._threads, race=race)

    def predict(self, formula: Formula, queries: Neighbourhoods) -> NDArray[np.int32]:
        """Classes under a formula."""
        return queries.predict(program(formula), self.k, weights=self._weights)

    def begin(self) -> Evolution:
        """A new evolution of these samples."""
        return begin(self.settings, self.fingerprint())

    def fingerprint(self) -> str:
        """Tells one training sample from another."""
        digest = hashlib.sha256()
        for document, kind in zip(self._samples.training.documents, self._classes, strict=True):
            text = " ".join((*document.title, "|", *document.body, str(int(kind))))
            digest.update(text.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:16]

    def run(
        self,
        evolution: Evolution | None = None,
        *,
        progress: Callable[[Generation], object] | None = None,
        checkpoint: Callable[[Evolution], object] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> ScoredFormula | None:
        """Evolve (or go on), then choose on the validation sample. None: stopped before the end."""
        state = evolution or self.begin()
        if state.data != self.fingerprint() or state.settings != self.settings:
            raise TopicError(
                "the saved evolution is of other examples or options; give the same ones, or start afresh"
            )
        state = run(state, self.fitness, progress=progress, checkpoint=checkpoint, stop=stop)
        if not state.done:
            return None
        validation = self.queries(self._samples.validation)
        formula, _ = choose(state, self.judge_on(validation, race=False))
        scores: dict[str, float] = {}
        for name, queries in (("training", self.training), ("validation", validation)):
            scores.update(self._scores(name, formula, queries))
        if self._samples.test.documents:
            scores.update(self._scores("test", formula, self.queries(self._samples.test)))
        return ScoredFormula(formula, self.k, scores, state)

    def _scores(self, name: str, formula: Formula, queries: Neighbourhoods) -> dict[str, float]:
        predicted = self.predict(formula, queries)
        return {
            f"{name}_macro_f1": macro_f1(queries.labels, predicted),
            f"{name}_study_f1": study_f1(queries.labels, predicted),
        }
