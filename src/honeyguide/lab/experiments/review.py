"""Study `review`: does retraining from a few reviews improve the ranking of pages nobody reviewed?"""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

from honeyguide.collection.review_queue import Candidates, review_queue
from honeyguide.config.recipes import Part
from honeyguide.job.parts import make
from honeyguide.lab.runner.load import load_experiment
from honeyguide.lab.runner.plain_crawl import plain_crawl
from honeyguide.lab.runner.recorded_world import open_world
from honeyguide.lab.runner.schema import Experiment
from honeyguide.lab.runner.situation import Task, situation, tasks_of
from honeyguide.lab.runner.study import DataFinder, Progress, StudyResult, StudyTable
from honeyguide.lab.runner.world import World, has_label
from honeyguide.model import Document, Examples, Page
from honeyguide.relevance.base import PageModel
from honeyguide.relevance.reviewed import Reviewed, ReviewedModel
from honeyguide.store.state import State


class ReviewOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the experiment file may set."""

    experiment: str = "schools"
    topics: tuple[str, ...] = ()
    """Names of topics; all where there is none."""
    models: tuple[str, ...] = ("tf-cosine", "pu-voting")
    crawl_pages: int = 300
    """Pages that the reviewed crawl has fetched."""
    reviews: int = 20
    at_once: int = 5
    """Reviews between two trainings."""
    others: int = 500
    """Held-out pages off topic, drawn by chance; all pages on topic are held out but the reviewed ones."""
    examples: int = 10
    """Given to models that need example pages."""
    background: int = 300
    """Unlabelled texts given to them."""


class Pool(msgspec.Struct, frozen=True):
    """The fetched pages of a crawl, and what the queue wants to know of them."""

    pages: tuple[Page, ...]
    in_links: NDArray[np.int64]


class Ranking(msgspec.Struct, frozen=True):
    """How well held-out pages are ranked."""

    precision: float
    """Average precision."""
    area: float
    """Under the ROC curve."""


def run(options: dict[str, object], *, data: DataFinder, progress: Progress, jobs: int) -> StudyResult:
    """Crawl, review, retrain, and rank pages that were not reviewed, before and after."""
    del data, jobs  # webs are found by name, and one topic after the other fits into memory
    chosen = msgspec.convert(options, ReviewOptions)
    experiment = load_experiment(chosen.experiment).experiment
    world = open_world(experiment.webs[0])
    tables: list[StudyTable] = []
    notes: list[str] = []
    started = time.process_time()
    for name in chosen.models:
        rows: list[tuple[str | int | float | None, ...]] = []
        for task in tasks_of(experiment, experiment.webs[0], world):
            if chosen.topics and task.name not in chosen.topics:
                continue
            before, after, accepted = _topic(world, experiment, task, name, chosen)
            rows.append(
                (
                    task.title,
                    f"{accepted} of {chosen.reviews}",
                    *(round(value, 3) for value in (before.precision, after.precision)),
                    round(after.precision - before.precision, 3),
                    *(round(value, 3) for value in (before.area, after.area)),
                    round(after.area - before.area, 4),
                )
            )
            progress(f"{name}: {task.title} {before.precision:.3f} -> {after.precision:.3f}")
        better = sum(float(str(row[4])) > 0 for row in rows)
        wider = sum(float(str(row[7])) > 0 for row in rows)
        notes.append(f"{name}: average precision is better on {better} of {len(rows)} topics, AUC on {wider}")
        tables.append(_table(name, chosen, rows))
    return StudyResult(
        tables=tuple(tables), notes=tuple(notes), timing={"all": time.process_time() - started}
    )


def _table(
    name: str, options: ReviewOptions, rows: Sequence[tuple[str | int | float | None, ...]]
) -> StudyTable:
    columns = ("topic", "accepted", "AP before", "AP after", "gain", "AUC before", "AUC after", "AUC gain")
    title = f"{name}: ranking of held-out pages before and after {options.reviews} reviews"
    return StudyTable(title, columns, tuple(rows))


def _topic(
    world: World, experiment: Experiment, task: Task, name: str, options: ReviewOptions
) -> tuple[Ranking, Ranking, int]:
    """One topic: ranking before and after, and how many of the reviews were acceptances."""
    there = situation(experiment, task, world, repetition=0, given=())
    on_topic = {url for url, labels in world.labels.items() if has_label(labels, task.labels)}
    random = np.random.default_rng(experiment.random_seed)
    given = _given(world, task, on_topic, random, options=options, name=name)
    keywords = Examples(keywords=task.keywords, languages=task.languages)
    seen = plain_crawl(
        world, there, keywords, recipe="best-first", pages=options.crawl_pages, marks=(), look=_fetched
    )
    urls, in_links = seen[max(seen)]
    shown = {document.url for document in given.positives}
    pool = _pool(world, urls, in_links, without=shown)
    model = ReviewedModel(
        make("relevance", Part(name), {"seed": 0, "examples": given}), languages=task.languages
    )
    model = model.fit(given)
    reviewed = _reviews(model, pool, on_topic, options)
    left = sorted(on_topic - {one.url for one in reviewed} - shown)
    others = sorted(set(world.labels) - on_topic - {one.url for one in reviewed})
    drawn = [others[place] for place in random.permutation(len(others))[: options.others]]
    held_out = [_page(document) for document in world.documents([*left, *drawn])]
    truth = np.array([page.url in on_topic for page in held_out])
    after = _ranking(model, held_out, truth)
    model.take(model.lesson(()))
    return _ranking(model, held_out, truth), after, sum(one.accepted for one in reviewed)


def _given(
    world: World,
    task: Task,
    on_topic: set[str],
    random: np.random.Generator,
    *,
    options: ReviewOptions,
    name: str,
) -> Examples:
    """Keywords; for models that learn from pages, example pages and background instead."""
    if name != "pu-voting":
        return Examples(keywords=task.keywords, languages=task.languages)
    pool, everything = sorted(on_topic), sorted(world.labels)
    examples = [pool[place] for place in random.permutation(len(pool))[: options.examples]]
    texts = [everything[place] for place in random.permutation(len(everything))[: options.background]]
    return Examples(
        positives=tuple(world.documents(examples)),
        unlabelled=tuple(world.documents(texts)),
        languages=task.languages,
    )


def _fetched(state: State) -> tuple[list[str], dict[str, int]]:
    """Addresses of all pages, and how many pages link to each."""
    _, targets = state.links()
    counts = np.bincount(targets, minlength=1)
    pages = [
        (record.url, int(counts[record.row]) if record.row < len(counts) else 0) for record in state.pages()
    ]
    return [url for url, _ in pages], dict(pages)


def _pool(world: World, urls: Sequence[str], in_links: dict[str, int], *, without: set[str]) -> Pool:
    known = [url for url in urls if url in world.labels and url not in without]
    pages = tuple(_page(document) for document in world.documents(known))
    return Pool(pages, np.array([in_links.get(page.url, 0) for page in pages], np.int64))


def _page(document: Document) -> Page:
    return Page(document.url, 0, document.title, document.text, document.text, document.language)


def _reviews(model: ReviewedModel, pool: Pool, on_topic: set[str], options: ReviewOptions) -> list[Reviewed]:
    """What a person who knows the labels says of the pages in the queue; retrains on the way."""
    reviewed: list[Reviewed] = []
    done: list[int] = []
    while len(reviewed) < options.reviews:
        verdicts = [model.judge(page) for page in pool.pages]
        queue = review_queue(
            Candidates(
                rows=np.arange(len(pool.pages)),
                scores=np.array([verdict.score for verdict in verdicts]),
                on_topic=np.array([verdict.on_topic for verdict in verdicts]),
                hosts=np.ones(len(pool.pages), np.int32),
                in_links=pool.in_links,
                copies=np.zeros(len(pool.pages), np.bool_),
            ),
            reviewed=done,
            limit=min(options.at_once, options.reviews - len(reviewed)),
            seed=len(reviewed),
        )
        if not queue:
            break
        for one in queue:
            page = pool.pages[one.row]
            reviewed.append(Reviewed.of(page, accepted=page.url in on_topic))
            done.append(one.row)
        model.take(model.lesson(reviewed))
    return reviewed


def _ranking(model: PageModel, pages: Sequence[Page], truth: NDArray[np.bool_]) -> Ranking:
    scores = np.array([model.judge(page).score for page in pages])
    return Ranking(float(average_precision_score(truth, scores)), float(roc_auc_score(truth, scores)))
