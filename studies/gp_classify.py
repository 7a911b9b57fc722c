"""Study `gp-classify`: computing against other documents, as in the GP hybrid study's Tables 8 to 11."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from itertools import repeat
from pathlib import Path
from typing import TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy import stats

from computing_documents import SETS, load_set
from honeyguide.lab.runner.study import DataFinder, Progress, StudyResult, StudyTable
from honeyguide.relevance.evolved.evolution import Settings
from honeyguide.relevance.evolved.formula import EVIDENCE, show
from honeyguide.relevance.evolved.samples import Labelled, Training, split
from honeyguide.relevance.evolved.scores import class_f1, macro_f1, study_f1
from svm_baselines import combined_kernel_svm, content_rbf_svm, tuned_linear_svm

GP = "GP + kNN"
Wanted: TypeAlias = tuple[str, int, int]
"""Set, per cent, repetition."""
SHARES = {10: (0.10, 0.07), 20: (0.20, 0.15), 30: (0.30, 0.25)}
"""Per cent of the collection for training, with the study's validation share."""


class GpClassifyOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the experiment file may set."""

    sets: tuple[str, ...] = tuple(SETS)
    samples: tuple[int, ...] = (10, 20, 30)
    repetitions: dict[str, int] = {}
    """By set; five where it is not named."""
    population: int = 400
    generations: int = 30
    k: int = 10
    seed: int = 0


class Measured(msgspec.Struct, frozen=True):
    """One classifier on one test sample."""

    macro: float
    study: float
    on_topic: float
    off_topic: float


class Trial(msgspec.Struct, frozen=True):
    """One repetition."""

    results: dict[str, Measured]
    formula: str
    evolution_seconds: float


def run(options: dict[str, object], *, data: DataFinder, progress: Progress, jobs: int) -> StudyResult:
    """Classify with each method, several times, and compare."""
    chosen = msgspec.convert(options, GpClassifyOptions)
    wanted = [
        (name, per_cent, repetition)
        for name in chosen.sets
        for per_cent in chosen.samples
        for repetition in range(chosen.repetitions.get(name, 5))
    ]
    trials: dict[tuple[str, int], list[Trial]] = {}
    for (name, per_cent, repetition), trial in zip(wanted, _all(wanted, chosen, data, jobs), strict=True):
        trials.setdefault((name, per_cent), []).append(trial)
        progress(f"{name} {per_cent} %: repetition {repetition + 1}, GP {100 * trial.results[GP].macro:.2f}")
    tables: list[StudyTable] = []
    notes = [f"{name}: {_collection(name, data.roots)[1]}" for name in chosen.sets]
    timing: dict[str, float] = {}
    for (name, per_cent), some in trials.items():
        tables += [_table(name, per_cent, some), _tests(name, per_cent, some)]
        best = max(some, key=lambda trial: trial.results[GP].macro)
        notes.append(f"{name} {per_cent} %: the best evolved similarity is {best.formula}")
        timing[f"evolution, {name} {per_cent} %"] = float(np.mean([one.evolution_seconds for one in some]))
    return StudyResult(tables=tuple(tables), notes=tuple(notes), timing=timing)


def _all(
    wanted: Sequence[Wanted], options: GpClassifyOptions, data: DataFinder, jobs: int
) -> Iterator[Trial]:
    """All trials in order, in so many processes."""
    if jobs <= 1:
        for one in wanted:
            yield _trial(one, options, data.roots)
        return
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(_trial, wanted, repeat(options), repeat(data.roots))


@lru_cache(maxsize=2)
def _collection(name: str, roots: tuple[Path, ...]) -> tuple[Labelled, str]:
    return load_set(name, DataFinder(roots))


def _trial(wanted: Wanted, options: GpClassifyOptions, roots: tuple[Path, ...]) -> Trial:
    name, per_cent, repetition = wanted
    seed = options.seed + repetition
    training, validation = SHARES[per_cent]
    samples = split(_collection(name, roots)[0], training=training, validation=validation, seed=seed)
    settings = Settings(
        population=options.population, generations=options.generations, k=options.k, seed=seed
    )
    started = time.process_time()
    work = Training(samples, settings, threads=1)
    outcome = work.run()
    assert outcome is not None
    seconds = time.process_time() - started
    test = work.queries(samples.test)
    true = samples.test.classes
    results = {GP: _measured(true, work.predict(outcome.formula, test))}
    results["content SVM (RBF)"] = _measured(true, content_rbf_svm(samples))
    results["content SVM (LIBSVM's defaults)"] = _measured(true, content_rbf_svm(samples, plain=True))
    results["combined-kernel SVM"] = _measured(true, combined_kernel_svm(samples, work.index))
    results["linear SVM, tuned"] = _measured(true, tuned_linear_svm(samples))
    for evidence in EVIDENCE:
        results[f"kNN {evidence}"] = _measured(true, work.predict(evidence, test))
    return Trial(results, show(outcome.formula), seconds)


def _measured(true: NDArray[np.int32], predicted: NDArray[np.int32]) -> Measured:
    off_topic, on_topic = class_f1(true, predicted, 2)
    return Measured(macro_f1(true, predicted), study_f1(true, predicted), on_topic, off_topic)


def _table(name: str, per_cent: int, trials: Sequence[Trial]) -> StudyTable:
    rows = []
    for method in trials[0].results:
        each = [trial.results[method] for trial in trials]
        macro = [100 * one.macro for one in each]
        rows.append(
            (
                method,
                _mean([one.on_topic for one in each]),
                _mean([one.off_topic for one in each]),
                round(float(np.mean(macro)), 2),
                round(float(np.std(macro, ddof=1)), 2) if len(macro) > 1 else None,
                _mean([one.study for one in each]),
            )
        )
    return StudyTable(
        title=f"{name}, {per_cent} % sample: F1 in per cent, mean of {len(trials)}",
        columns=("classifier", "computing", "non-computing", "macro-F1", "deviation", "study's own F1"),
        rows=tuple(rows),
    )


def _tests(name: str, per_cent: int, trials: Sequence[Trial]) -> StudyTable:
    """GP against each other classifier, repetition by repetition."""
    gp = np.array([100 * trial.results[GP].macro for trial in trials])
    rows = []
    for method in trials[0].results:
        if method == GP:
            continue
        other = np.array([100 * trial.results[method].macro for trial in trials])
        difference = gp - other
        tested = len(trials) > 1 and bool(np.any(difference != difference[0]))
        p = float(stats.ttest_rel(gp, other).pvalue) if tested else None
        rows.append(
            (
                method,
                round(float(difference.mean()), 2),
                round(100 * float((gp / other).mean() - 1), 2),
                round(p, 4) if p is not None else None,
                int((difference > 0).sum()),
            )
        )
    return StudyTable(
        title=f"{name}, {per_cent} % sample: GP against the others (paired t-test over {len(trials)})",
        columns=("against", "points", "gain in per cent", "p", "times better"),
        rows=tuple(rows),
    )


def _mean(shares: Sequence[float]) -> float:
    return round(100 * float(np.mean(shares)), 2)
