"""Study `verdicts`: F1 of verdicts by what the model is told, and whether scores are probabilities."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.collection.review_queue import Candidates, review_queue, threshold_of
from honeyguide.collection.uncertain import NEAR
from honeyguide.config.recipes import Part
from honeyguide.job.parts import make
from honeyguide.lab.runner.load import load_experiment
from honeyguide.lab.runner.plain_crawl import plain_crawl
from honeyguide.lab.runner.recorded_world import open_world
from honeyguide.lab.runner.schema import Experiment
from honeyguide.lab.runner.situation import Task, situation, tasks_of
from honeyguide.lab.runner.study import Cell, DataFinder, Progress, StudyFigure, StudyResult, StudyTable
from honeyguide.lab.runner.world import World, has_label
from honeyguide.model import Document, Examples, Page, Verdict
from honeyguide.plots.panels import Curve, Panel
from honeyguide.relevance.base import OnlinePageModel
from honeyguide.relevance.reviewed import Reviewed, ReviewedModel, reviewable
from honeyguide.store.state import State
from honeyguide.text.tokens import Analyser
from honeyguide.web import url_id

LEVELS = ("keywords", "+ 2 examples", "+ 10 examples", "+ 10 negatives", "before reviews", "+ 20 reviews")
HEAPS = ("at random", "crawled")
BINS = 10


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the experiment file may set."""

    experiments: tuple[str, ...] = ("schools", "webkb", "office", "manuals")
    models: tuple[str, ...] = ("calibrated", "tf-cosine")
    parts: dict[str, dict[str, object]] = {}
    """Options of models, by name."""
    topics: tuple[str, ...] = ()
    """Names of topics; all where there is none."""
    crawl_pages: int = 600
    others: int = 700
    """Pages off topic of the heap drawn by chance."""
    examples: int = 10
    reviews: int = 20
    at_once: int = 5
    """Reviews between two trainings."""
    least: int = 8
    """Heaps with fewer pages on topic are left out."""


class Heap(msgspec.Struct, frozen=True):
    """Pages to judge, with the truth."""

    pages: tuple[Page, ...]
    truth: NDArray[np.bool_]
    terms: tuple[list[str], ...]
    """Of the pages' texts: taking them apart again for each model would be most of the work."""
    analyser: Analyser

    def __iter__(self) -> Iterator[Page]:
        """The pages, with their terms at hand."""
        for page, terms in zip(self.pages, self.terms, strict=True):
            self.analyser.remember(page.content, terms)
            yield page


class Outcomes(msgspec.Struct):
    """What came out for one model: F1 by web, heap and level; scores and truths for reliability."""

    f1: dict[tuple[str, str, str], list[float]] = {}
    scores: list[NDArray[np.float64]] = []
    truths: list[NDArray[np.bool_]] = []
    near: dict[tuple[str, str], list[tuple[int, ...]]] = {}
    """By web and heap: pages close to the line, and how many of them still are after each round."""


def run(options: dict[str, object], *, data: DataFinder, progress: Progress, jobs: int) -> StudyResult:
    """Judge two heaps of every topic at every level of knowledge."""
    del data, jobs  # webs are found by name, and one topic after the other fits into memory
    chosen = msgspec.convert(options, Options)
    started = time.process_time()
    found = {name: Outcomes() for name in chosen.models}
    for name in chosen.experiments:
        experiment = load_experiment(name).experiment
        world = open_world(experiment.webs[0])
        for task in tasks_of(experiment, experiment.webs[0], world):
            if chosen.topics and task.name not in chosen.topics:
                continue
            _topic(world, experiment, task, found, web=name, options=chosen)
            progress(f"{name}: {task.title}")
    tables = [_table(name, outcomes, chosen) for name, outcomes in found.items()]
    curves = {name: _reliability(outcomes) for name, outcomes in found.items() if outcomes.scores}
    tables.append(_settled_table(found, chosen))
    tables.append(_reliability_table(curves))
    notes = tuple(f"{name}: {_falls(outcomes, chosen)}" for name, outcomes in found.items())
    timing = {"all": time.process_time() - started}
    return StudyResult(tuple(tables), (_figure(curves),), notes, timing)


def _topic(
    world: World,
    experiment: Experiment,
    task: Task,
    found: dict[str, Outcomes],
    *,
    web: str,
    options: Options,
) -> None:
    there = situation(experiment, task, world, repetition=0, given=())
    here = [url for url in sorted(world.labels) if not task.site or world.sites.get(url) == task.site]
    on_topic = [url for url in here if has_label(world.labels[url], task.labels)]
    known = set(on_topic)
    others = [url for url in here if url not in known]
    random = np.random.default_rng(experiment.random_seed)
    drawn = [on_topic[place] for place in random.permutation(len(on_topic))]
    shown = drawn[: min(options.examples, len(drawn) // 2)]
    mixed = [others[place] for place in random.permutation(len(others))]
    refused = mixed[-options.examples :]
    given = (tuple(world.documents(shown)), tuple(world.documents(refused)))
    apart = {*shown, *refused}
    at_random = [url for url in (*on_topic, *mixed[: options.others]) if url not in apart]
    at_random = [at_random[place] for place in random.permutation(len(at_random))]
    keywords = Examples(keywords=task.keywords, languages=task.languages)
    seen = plain_crawl(
        world, there, keywords, recipe="best-first", pages=options.crawl_pages, marks=(), look=_fetched
    )
    crawled = [url for url in seen[max(seen)] if url in world.labels and url not in apart]
    for heap_name, urls in zip(HEAPS, (at_random, crawled), strict=True):
        heap = _heap(world, urls, known, Analyser(task.languages))
        if int(heap.truth.sum()) < options.least:
            continue
        for name, outcomes in found.items():
            values, near = _levels(name, heap, task, given, outcomes=outcomes, options=options)
            for level, value in values.items():
                outcomes.f1.setdefault((web, heap_name, level), []).append(value)
            outcomes.near.setdefault((web, heap_name), []).append(near)


def _fetched(state: State) -> list[str]:
    return [record.url for record in state.pages()]


def _heap(world: World, urls: Sequence[str], known: set[str], analyser: Analyser) -> Heap:
    pages = tuple(
        Page(each.url, url_id(each.url), each.title, each.text, each.text, each.language)
        for each in world.documents(urls)
    )
    terms = tuple(analyser.terms(page.content) for page in pages)
    return Heap(pages, np.array([page.url in known for page in pages], np.bool_), terms, analyser)


def _levels(
    name: str,
    heap: Heap,
    task: Task,
    given: tuple[tuple[Document, ...], tuple[Document, ...]],
    *,
    outcomes: Outcomes,
    options: Options,
) -> tuple[dict[str, float], tuple[int, ...]]:
    """F1 at each level of knowledge, and what reviews settle of what is close to the line."""
    positives, negatives = given
    told = {
        LEVELS[0]: Examples(keywords=task.keywords, languages=task.languages),
        LEVELS[1]: Examples(keywords=task.keywords, positives=positives[:2], languages=task.languages),
        LEVELS[2]: Examples(keywords=task.keywords, positives=positives, languages=task.languages),
        LEVELS[3]: Examples(
            keywords=task.keywords, positives=positives, negatives=negatives, languages=task.languages
        ),
    }
    values: dict[str, float] = {}
    for level, examples in told.items():
        model = _seen_by(Part(name, options.parts.get(name, {})), examples, heap)
        scores, verdicts = _judged(model, heap)
        values[level] = _f1(heap.truth, verdicts)
        outcomes.scores.append(scores)
        outcomes.truths.append(heap.truth)
    reviewed, near = _reviews(model, heap, options)
    left = np.array([place not in reviewed for place in range(len(heap.pages))])
    values[LEVELS[4]] = _f1(heap.truth[left], verdicts[left])
    values[LEVELS[5]] = _f1(heap.truth[left], _judged(model, heap)[1][left])
    return values, near


def _seen_by(part: Part, examples: Examples, heap: Heap) -> ReviewedModel:
    """A model that has met the heap page by page."""
    made = make("relevance", part, {"seed": 0, "examples": examples})
    model = reviewable(made, languages=examples.languages).fit(examples)
    assert isinstance(model, ReviewedModel)
    if isinstance(model, OnlinePageModel):
        for page in heap:
            model.observe(page, Verdict(0.0, False))
    return model


def _judged(model: ReviewedModel, heap: Heap) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    verdicts = [model.judge(page) for page in heap]
    return np.array([one.score for one in verdicts]), np.array([one.on_topic for one in verdicts])


def _reviews(model: ReviewedModel, heap: Heap, options: Options) -> tuple[set[int], tuple[int, ...]]:
    """Ask about pages as the review queue does, and let the model learn.

    Returns:
        Which pages were asked about; how many pages lay close to the line, and how many of them still did
        after each round.
    """
    reviewed: list[Reviewed] = []
    done: list[int] = []
    unsure = np.ones(len(heap.pages), np.bool_)
    near: list[int] = []
    while len(reviewed) < options.reviews:
        scores, verdicts = _judged(model, heap)
        unsure &= np.abs(scores - threshold_of(scores, verdicts)) < NEAR
        unsure[done] = False
        near.append(int(unsure.sum()))
        queue = review_queue(
            Candidates(
                rows=np.arange(len(heap.pages)),
                scores=scores,
                on_topic=verdicts,
                hosts=np.ones(len(heap.pages), np.int32),
                in_links=np.zeros(len(heap.pages), np.int64),
                copies=np.zeros(len(heap.pages), np.bool_),
            ),
            reviewed=done,
            limit=min(options.at_once, options.reviews - len(reviewed)),
            seed=len(reviewed),
        )
        if not queue:
            break
        for one in queue:
            reviewed.append(Reviewed.of(heap.pages[one.row], accepted=bool(heap.truth[one.row])))
            done.append(one.row)
        model.take(model.lesson(reviewed))
    return set(done), tuple(near)


def _f1(truth: NDArray[np.bool_], said: NDArray[np.bool_]) -> float:
    both = int((truth & said).sum())
    return 2.0 * both / max(1, int(truth.sum()) + int(said.sum()))


def _table(name: str, outcomes: Outcomes, options: Options) -> StudyTable:
    rows: list[tuple[Cell, ...]] = []
    for web in options.experiments:
        for heap in HEAPS:
            if values := outcomes.f1.get((web, heap, LEVELS[0])):
                means = (float(np.mean(outcomes.f1[web, heap, level])) for level in LEVELS)
                rows.append((web, heap, len(values), *(round(mean, 3) for mean in means)))
    return StudyTable(
        f"{name}: F1 of verdicts, mean over topics", ("web", "pages", "topics", *LEVELS), tuple(rows)
    )


def _falls(outcomes: Outcomes, options: Options) -> str:
    """Where more knowledge made verdicts worse."""
    falls = []
    for web in options.experiments:
        for heap in HEAPS:
            for before, after in ((0, 1), (1, 2), (2, 3), (4, 5)):
                first, second = (outcomes.f1.get((web, heap, LEVELS[level]), []) for level in (before, after))
                if first and float(np.mean(second)) < float(np.mean(first)) - 0.0005:
                    fall = float(np.mean(first)) - float(np.mean(second))
                    falls.append(f"{web} {heap}, {LEVELS[after]}: {fall:.3f}")
    return f"F1 falls with more knowledge: {'; '.join(falls) or 'nowhere'}"


def _settled_table(found: dict[str, Outcomes], options: Options) -> StudyTable:
    """Pages close to the line, and how many of them still are after each round of reviews."""
    rounds = (options.reviews - 1) // options.at_once
    rows: list[tuple[Cell, ...]] = []
    for name, outcomes in found.items():
        for (web, heap), near in outcomes.near.items():
            whole = [one for one in near if len(one) > rounds]
            if whole:
                means = np.mean(np.array(whole), axis=0)
                rows.append((name, web, heap, len(whole), *(round(float(mean), 1) for mean in means)))
    after = (f"after {number * options.at_once}" for number in range(1, rounds + 1))
    columns = ("model", "web", "pages", "topics", "close to the line", *after)
    note = f"Scores less than {NEAR} from the line, reviewed pages not counted; means over topics."
    return StudyTable("What reviews settle", columns, tuple(rows), note=note)


def _reliability(outcomes: Outcomes) -> list[tuple[float, float, int]]:
    """Mean score, share on topic and number of pages of each tenth of the scale."""
    scores, truths = np.concatenate(outcomes.scores), np.concatenate(outcomes.truths)
    places = np.minimum((scores * BINS).astype(int), BINS - 1)
    return [
        (float(scores[own].mean()), float(truths[own].mean()), int(own.sum()))
        for place in range(BINS)
        if (own := places == place).any()
    ]


def _reliability_table(curves: dict[str, list[tuple[float, float, int]]]) -> StudyTable:
    rows = [
        (name, round(score, 2), round(share, 2), count)
        for name, curve in curves.items()
        for score, share, count in curve
    ]
    return StudyTable(
        "Reliability: scores and how many of the pages are on topic",
        ("model", "mean score", "share on topic", "pages"),
        tuple(rows),
        note="All webs, heaps and levels before reviews together.",
    )


def _figure(curves: dict[str, list[tuple[float, float, int]]]) -> StudyFigure:
    drawn = [
        Curve(name, np.array([one[0] for one in curve]), np.array([one[1] for one in curve]))
        for name, curve in curves.items()
    ]
    ends = np.array([0.0, 1.0])
    drawn.append(Curve("as said", ends, ends, reference=True))
    panel = Panel("Reliability", "score", "share of pages on topic", tuple(drawn))
    return StudyFigure("reliability", (panel,))
