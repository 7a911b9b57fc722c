"""Positive-unlabelled learning on news and posts: figures 6-9 and table 1 of the CBP-SLC study, redone.

For each topic a share of its training documents is labelled (P); the rest of the training part is U, topic's
documents included. Counted are reliable negatives and how many of the hidden positives are among them
(ERR); measured is F on the test part. RCV1 and the directory of the study are not at hand.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import f1_score

from honeyguide.lab.runner.study import Cell, DataFinder, Progress, StudyFigure, StudyResult, StudyTable
from honeyguide.plots.panels import Curve, Panel
from honeyguide.relevance.one_class import OneClassSVM
from honeyguide.relevance.one_dnf import NoReliableNegatives, OneDNF
from honeyguide.relevance.pebl import PEBL
from honeyguide.relevance.weighted_voting import WeightedVotingClassifier
from honeyguide.text.vectors import Vocabulary
from pu_texts import GROUPS, Labelled, newsgroups, reuters

MIN_DF = 5
CONSTRAINTS = tuple(round(0.1 * step, 1) for step in range(10))
"""λ; 0 is plain 1-DNF."""
_WVC = partial(WeightedVotingClassifier, calibration=None)
MODELS: Mapping[str, Callable[[], Any]] = {
    "WVC, TFIPNDF": _WVC,
    "WVC, TFIDF": partial(_WVC, weighting="tfidf"),
    "WVC hard vote, TFIPNDF": partial(_WVC, voting="hard"),
    "PEBL, TFIPNDF": partial(PEBL, weighting="tfipndf", calibration=None),
    "PEBL, TFIDF": partial(PEBL, calibration=None),
    "one-class SVM": OneClassSVM,
    "WVC, TFIPNDF, balanced, line by r2/Pr": partial(
        WeightedVotingClassifier, balanced=True, calibration="pu"
    ),
    "WVC, TFIDF, balanced, line by r2/Pr": partial(
        WeightedVotingClassifier, weighting="tfidf", balanced=True, calibration="pu"
    ),
}
CEILING = "supervised SVM, TFIDF (ceiling)"


class PuClassifyOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an experiment file may set."""

    fractions: tuple[float, ...] = (0.15, 0.3, 0.6)
    reuters_topics: int = 10
    groups: tuple[str, ...] = GROUPS
    collections: tuple[str, ...] = ("reuters", "newsgroups")
    seed: int = 0


def _lists() -> dict[Any, list[float]]:
    return defaultdict(list)


class Found(msgspec.Struct):
    """What one collection gave; lists are over topics."""

    name: str
    documents: tuple[int, int, int]
    """Training, test, terms."""
    topics: tuple[str, ...]
    reliable: dict[tuple[float, float], list[float]] = msgspec.field(default_factory=_lists)
    """By fraction and λ."""
    error: dict[tuple[float, float], list[float]] = msgspec.field(default_factory=_lists)
    scores: dict[tuple[float, str], list[float]] = msgspec.field(default_factory=_lists)
    """F by fraction and model."""
    seconds: dict[str, list[float]] = msgspec.field(default_factory=_lists)
    empty: Counter[str] = msgspec.field(default_factory=Counter)
    """How often a model found no reliable negative."""


def run(options: dict[str, object], *, data: DataFinder, progress: Progress, jobs: int) -> StudyResult:
    """Run the study on both collections, in two processes where `jobs` allows it."""
    chosen = msgspec.convert(options, PuClassifyOptions)
    files = {"reuters": "text/reuters21578.tar.gz", "newsgroups": "text/20newsgroups.tar.gz"}
    tasks = [(name, data.file(files[name]), chosen) for name in chosen.collections]
    if jobs > 1 and len(tasks) > 1:
        with ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=get_context("spawn")) as pool:
            found = list(pool.map(study, *zip(*tasks, strict=True)))
    else:
        found = [study(*task, progress=progress) for task in tasks]
    return StudyResult(
        tables=tuple(tables(found, chosen.fractions)),
        figures=tuple(figures(found, chosen.fractions)),
        notes=tuple(
            f"{one.name}: {one.documents[0]} training and {one.documents[1]} test documents, "
            f"{one.documents[2]} terms in {MIN_DF} documents or more; {len(one.topics)} topics"
            for one in found
        ),
        timing={
            f"{one.name}: mean training time of {model} (s)": round(float(np.mean(values)), 4)
            for one in found
            for model, values in one.seconds.items()
        },
    )


def _silent(_: str) -> None:
    """Say nothing: processes cannot report."""


def study(name: str, path: Path, options: PuClassifyOptions, *, progress: Progress = _silent) -> Found:
    """All topics and fractions of one collection."""
    if name == "reuters":
        texts = reuters(path, topics=options.reuters_topics)
    else:
        texts = newsgroups(path, groups=options.groups)
    return classify(texts, options.fractions, seed=options.seed, progress=progress)


def classify(
    texts: Labelled, fractions: Sequence[float], *, seed: int, progress: Progress = _silent
) -> Found:
    """Hide labels, count reliable negatives, train, test."""
    vocabulary = Vocabulary.of((terms for terms, _ in texts.train), least_documents=MIN_DF)
    counts, unseen = (vocabulary.counts(terms for terms, _ in part) for part in (texts.train, texts.test))
    sizes = counts.shape[0], unseen.shape[0], len(vocabulary)
    found = Found(texts.name, sizes, texts.topics)
    generator = np.random.default_rng(seed)
    for topic in texts.topics:
        truth = np.array([topic in labels for _, labels in texts.train])
        answer = np.array([topic in labels for _, labels in texts.test])
        order = generator.permutation(np.flatnonzero(truth))
        for fraction in fractions:
            labelled = np.zeros(len(truth), dtype=np.intp)
            labelled[order[: max(2, int(fraction * len(order)))]] = 1
            _count_reliable(found, fraction, counts, labelled, truth)
            for model, make in MODELS.items():
                _try(found, (fraction, model), make(), training=(counts, labelled), test=(unseen, answer))
            supervised = WeightedVotingClassifier(weighting="tfidf", start="all", calibration=None)
            everything = counts, truth.astype(np.intp)
            _try(found, (fraction, CEILING), supervised, training=everything, test=(unseen, answer))
            progress(f"{texts.name}: {topic}, {fraction:.0%} labelled")
    return found


def _count_reliable(
    found: Found, fraction: float, counts: Any, labelled: NDArray[np.intp], truth: NDArray[np.bool_]
) -> None:
    hidden = truth[labelled == 0]
    least = OneDNF().fit(counts, labelled).least_constraints(counts[labelled == 0])
    for constraint in CONSTRAINTS:
        reliable = least <= constraint
        found.reliable[fraction, constraint].append(float(reliable.sum()))
        found.error[fraction, constraint].append(float((reliable & hidden).sum() / max(1, hidden.sum())))


def _try(
    found: Found,
    key: tuple[float, str],
    model: Any,
    *,
    training: tuple[Any, NDArray[np.intp]],
    test: tuple[Any, NDArray[np.bool_]],
) -> None:
    started = time.process_time()
    try:
        model.fit(*training)
    except NoReliableNegatives:
        found.empty[key[1]] += 1
        found.scores[key].append(0.0)
        return
    found.seconds[key[1]].append(time.process_time() - started)
    said = np.asarray(model.predict(test[0])) == 1
    found.scores[key].append(float(f1_score(test[1], said, zero_division=0.0)))


def tables(found: Sequence[Found], fractions: Sequence[float]) -> list[StudyTable]:
    """Means over topics, and one table by topic."""
    result = []
    columns = ("collection", "labelled", "1-DNF", *(f"λ = {value}" for value in CONSTRAINTS[1:]))
    for title, key, digits in (
        ("Reliable negatives, mean over topics (figure 6)", "reliable", 1),
        ("ERR: share of the hidden positives among them (figure 7)", "error", 4),
    ):
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (
                one.name,
                f"{fraction:.0%}",
                *(round(float(np.mean(getattr(one, key)[fraction, v])), digits) for v in CONSTRAINTS),
            )
            for one in found
            for fraction in fractions
        )
        result.append(StudyTable(title, columns, rows))
    names = (*MODELS, CEILING)
    cells = [(one, fraction) for one in found for fraction in fractions]
    means: tuple[tuple[Cell, ...], ...] = tuple(
        (name, *(round(float(np.mean(one.scores[fraction, name])), 4) for one, fraction in cells))
        for name in names
    )
    heads = tuple(f"{one.name}, {fraction:.0%}" for one, fraction in cells)
    never = [f"{one.name}: {name} {n} times" for one in found for name, n in one.empty.items()]
    note = "No reliable negative (F = 0): " + "; ".join(never) + "." if never else ""
    result.append(StudyTable("F, mean over topics (figures 8 and 9)", ("classifier", *heads), means, note))
    shown = ("WVC, TFIPNDF", "WVC, TFIDF", "PEBL, TFIPNDF", "one-class SVM", CEILING)
    by_topic: tuple[tuple[Cell, ...], ...] = tuple(
        (
            one.name,
            topic,
            *(round(float(np.mean([one.scores[f, name][i] for f in fractions])), 4) for name in shown),
        )
        for one in found
        for i, topic in enumerate(one.topics)
    )
    result.append(
        StudyTable("F by topic, mean over the shares labelled", ("collection", "topic", *shown), by_topic)
    )
    return result


def figures(found: Sequence[Found], fractions: Sequence[float]) -> list[StudyFigure]:
    """Figures 6, 7 and 9 as curves."""
    x = np.array(CONSTRAINTS)

    def panel(one: Found, key: str, up: str) -> Panel:
        curves = tuple(
            Curve(
                f"{fraction:.0%} labelled",
                x,
                np.array([float(np.mean(getattr(one, key)[fraction, v])) for v in CONSTRAINTS]),
            )
            for fraction in fractions
        )
        return Panel(one.name, "λ (0: 1-DNF)", up, curves, share=key == "error")

    def scores(one: Found) -> Panel:
        curves = tuple(
            Curve(
                name,
                np.array(fractions),
                np.array([float(np.mean(one.scores[fraction, name])) for fraction in fractions]),
                reference=name == CEILING,
            )
            for name in (*MODELS, CEILING)
        )
        return Panel(one.name, "share of positives labelled", "F", curves)

    return [
        StudyFigure("reliable-negatives", tuple(panel(one, "reliable", "documents") for one in found)),
        StudyFigure("err", tuple(panel(one, "error", "ERR") for one in found)),
        StudyFigure("f", tuple(scores(one) for one in found)),
    ]
