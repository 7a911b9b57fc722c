"""Study `estimate`: how far the estimate of what is left is from the truth, on whole crawls."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from honeyguide.collection.estimate import Estimate, estimate_of
from honeyguide.lab.runner.load import load_experiment
from honeyguide.lab.runner.plain_crawl import plain_crawl
from honeyguide.lab.runner.recorded_world import open_world
from honeyguide.lab.runner.situation import Task, situation, tasks_of
from honeyguide.lab.runner.study import DataFinder, Progress, StudyResult, StudyTable
from honeyguide.model import Examples
from honeyguide.store.state import State


class EstimateOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the experiment file may set."""

    experiments: tuple[str, ...] = ("schools", "webkb", "quick")
    """Where webs, topics, keywords and seeds are taken from."""
    recipes: tuple[str, ...] = ("best-first",)
    shares: tuple[int, ...] = (10, 25, 50, 75)
    """Per cent of a whole crawl at which to estimate."""
    topics: tuple[str, ...] = ()
    """Names of topics; all where there is none."""
    most_topics: int = 14
    """Of each experiment."""
    least_relevant: int = 10
    """Topics with fewer pages on topic are left out."""


class Look(msgspec.Struct, frozen=True):
    """An estimate, and what turned out."""

    topic: str
    share: int
    """Per cent of the pages in reach at which it was made."""
    recall: float
    """Share of the topic that was really found by then."""
    error: float | None
    """Of the total, relative; None where it was too early to say."""
    inside: bool = False
    """Whether the truth is in the interval."""
    low: float = 0.0
    """Share that was said to be found at the least."""
    stop: bool = False


def run(options: dict[str, object], *, data: DataFinder, progress: Progress, jobs: int) -> StudyResult:
    """Crawl every topic to its end, estimating on the way."""
    del data, jobs  # webs are found by name, and one crawl at a time fits into memory
    chosen = msgspec.convert(options, EstimateOptions)
    rows: list[tuple[str | int | float | None, ...]] = []
    detail: list[tuple[str | int | float | None, ...]] = []
    for name in chosen.experiments:
        for recipe in chosen.recipes:
            looks = _looks(name, recipe, chosen, progress)
            rows += _summary(name, recipe, looks, chosen.shares)
            detail += [
                (
                    name,
                    one.topic,
                    f"{one.share} %",
                    round(one.recall, 3),
                    None if one.error is None else round(one.error, 3),
                    "too early" if one.error is None else str(one.inside),
                )
                for one in looks
            ]
    summary = StudyTable(
        title="Error of the estimated total of pages on topic",
        columns=(
            *("webs", "recipe", "pages fetched", "topics", "too early", "really found", "median error"),
            *("bias", "found at the least", "in the interval", "stop suggested"),
        ),
        rows=tuple(rows),
        note="Errors relative to the pages that the page model calls on topic in a whole crawl.",
    )
    columns = ("webs", "topic", "pages fetched", "really found", "error", "in the interval")
    return StudyResult(tables=(summary, StudyTable("Topic by topic", columns, tuple(detail))))


def _looks(name: str, recipe: str, options: EstimateOptions, progress: Progress) -> list[Look]:
    experiment = load_experiment(name).experiment
    looks: list[Look] = []
    done = 0
    for web in experiment.webs:
        world = open_world(web)
        for task in tasks_of(experiment, web, world):
            if done >= options.most_topics:
                break
            if options.topics and task.title not in options.topics:
                continue
            done += 1
            there = situation(experiment, task, world, repetition=0, given=())
            pages = len(there.links)
            marks = {pages * share // 100: share for share in options.shares}
            seen = plain_crawl(
                world, there, Examples(keywords=task.keywords, languages=task.languages),
                recipe=recipe, pages=pages, marks=tuple(marks), look=_seen,
            )  # fmt: skip
            looks += _compared(task, seen, marks, options.least_relevant)
            progress(f"{name}, {recipe}: {task.title}")
    return looks


def _seen(state: State) -> tuple[int, Estimate | None]:
    (found,) = state.connection.execute("SELECT coalesce(sum(on_topic), 0) FROM page").fetchone()
    return int(found), estimate_of(state)


def _compared(
    task: Task, seen: dict[int, tuple[int, Estimate | None]], marks: dict[int, int], least: int
) -> list[Look]:
    truth, _ = seen[max(seen)]
    if truth < least:
        return []
    looks = []
    for mark, share in marks.items():
        at = min((pages for pages in seen if pages >= mark), default=None)
        if at is None or at == max(seen):
            continue
        found, made = seen[at]
        recall = found / truth
        if made is None:
            looks.append(Look(task.title, share, recall, None))
        else:
            inside = made.total_low <= truth <= made.total_high
            error = made.total / truth - 1.0
            looks.append(Look(task.title, share, recall, error, inside, made.share_low, made.stop))
    return looks


def _summary(
    name: str, recipe: str, looks: Sequence[Look], shares: Sequence[int]
) -> list[tuple[str | int | float | None, ...]]:
    rows: list[tuple[str | int | float | None, ...]] = []
    for share in shares:
        own = [look for look in looks if look.share == share]
        said = [look for look in own if look.error is not None]
        errors = np.array([look.error for look in said], np.float64)
        found = round(float(np.median([look.recall for look in own])), 2) if own else None
        figures: tuple[str | float | None, ...] = (None, None, None, "-", "-")
        if said:
            figures = (
                round(float(np.median(np.abs(errors))), 3),
                round(float(np.median(errors)), 3),
                round(float(np.median([look.low for look in said])), 2),
                f"{sum(look.inside for look in said)} of {len(said)}",
                f"{sum(look.stop for look in said)} of {len(said)}",
            )
        if own:
            rows.append((name, recipe, f"{share} %", len(own), len(own) - len(said), found, *figures))
    return rows
