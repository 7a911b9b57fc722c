"""The four curves of an experiment, averaged over topics with 0.95 bands."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.lab.measures import (
    CrawlRecord,
    bootstrap_band,
    harvest_curve,
    recall_curve,
    sliding_harvest,
    sliding_relevance,
)
from honeyguide.lab.runner.cells import ORACLE
from honeyguide.lab.runner.results import Results
from honeyguide.lab.runner.runner import Run
from honeyguide.plots.panels import Curve, Panel

MOST_ROWS = 8
"""Rows drawn when the experiment names none: more cannot be told apart."""
_POINTS = 500


def drawn_rows(run: Run, results: Results) -> list[str]:
    """The rows the experiment wants drawn, or the best ones."""
    there = dict.fromkeys(cell.row for cell, _ in run.cells if cell.row != ORACLE)
    requested = [name for name in run.loaded.experiment.report.plot if name in there]
    if requested or len(there) <= MOST_ROWS:
        return requested or list(there)
    means = {
        one.recipe: one.measures["area_of_oracle"].mean
        for one in results.summaries
        if one.group == "all" and "area_of_oracle" in one.measures
    }
    return sorted(there, key=lambda name: -means.get(name, 0.0))[:MOST_ROWS]


def groups_of(run: Run) -> dict[str, Run]:
    """The run of each group of topics, where the experiment wants them drawn and has several."""
    groups = dict.fromkeys(cell.task.group for cell, _ in run.cells)
    if not run.loaded.experiment.report.by_group or len(groups) < 2:
        return {}
    return {
        group: msgspec.structs.replace(
            run, cells=tuple((cell, result) for cell, result in run.cells if cell.task.group == group)
        )
        for group in groups
    }


def panels(run: Run, results: Results) -> tuple[Panel, ...]:
    """Harvest, recall against downloads, precision against recall, sliding relevance."""
    rows = drawn_rows(run, results)
    window = run.loaded.experiment.report.window
    records = {name: [result.record for cell, result in run.cells if cell.row == name] for name in rows}
    oracles = [result.record for cell, result in run.cells if cell.row == ORACLE]
    budget = max(result.budget for _, result in run.cells)
    places = np.unique(np.linspace(0, budget - 1, min(budget, _POINTS)).astype(np.int64))
    x = places.astype(np.float64) + 1.0
    recalls = np.linspace(0.01, 1.0, 100)

    def curves(
        measure: Callable[[CrawlRecord], NDArray[np.float64]], *, best: bool = False
    ) -> tuple[Curve, ...]:
        made = [
            _banded(name, x, [_at(measure(one), places) for one in found]) for name, found in records.items()
        ]
        if best:
            mean = np.stack([_at(measure(one), places) for one in oracles]).mean(axis=0)
            made.append(Curve("oracle (upper bound)", x, mean, reference=True))
        return tuple(made)

    precision = tuple(
        _banded(name, recalls, [_precision(one, recalls) for one in found]) for name, found in records.items()
    )
    fetched, last = "pages fetched", f"of the last {window} pages"
    if run.loaded.experiment.report.harvest == "so far":
        harvest = Panel("Harvest rate", fetched, "share on topic so far", curves(harvest_curve))
    else:
        found = curves(lambda one: sliding_harvest(one, window))
        harvest = Panel("Harvest rate", fetched, f"share on topic {last}", found)
    return (
        harvest,
        Panel("Target recall", fetched, "share of reachable targets", curves(recall_curve, best=True)),
        Panel("Precision and recall", "recall", "precision (0 where not reached)", precision),
        Panel(
            "Sliding relevance",
            fetched,
            f"mean grade {last}",
            curves(lambda one: sliding_relevance(one, window)),
        ),
    )


def _at(values: NDArray[np.float64], places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Values at some downloads; a crawl that ended earlier keeps its last one."""
    if not len(values):
        return np.zeros(len(places))
    found: NDArray[np.float64] = np.asarray(values, dtype=np.float64)[np.minimum(places, len(values) - 1)]
    return found


def _precision(record: CrawlRecord, recalls: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of targets among the downloads it took to reach each recall; 0 where it was not reached."""
    reached = recall_curve(record)
    places = np.searchsorted(reached, recalls - 1e-9)
    harvest = np.append(harvest_curve(record), 0.0)
    return harvest[np.minimum(places, len(harvest) - 1)]


def _banded(name: str, x: NDArray[np.float64], curves: Sequence[NDArray[np.float64]]) -> Curve:
    if len(curves) < 2:
        return Curve(name, x, curves[0])
    mean, low, high = bootstrap_band(np.stack(curves), np.random.default_rng(1))
    return Curve(name, x, mean, low, high)
