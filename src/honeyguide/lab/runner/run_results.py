"""A finished run as results, and its times apart from them."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.config.schema import VERSION
from honeyguide.lab.runner.cells import ORACLE, Cell, CellResult
from honeyguide.lab.runner.results import Results, Row, flat_measures, summarise, tests_against
from honeyguide.lab.runner.runner import Run
from honeyguide.lab.runner.schema import Experiment


def results_of(run: Run) -> Results:
    """Measures of every crawl, means and tests."""
    oracles = oracle_hits(run)
    rows = tuple(
        _row(cell, result, oracles[cell.task.title, cell.task.web, cell.repetition])
        for cell, result in run.cells
    )
    recipes = [ORACLE, *dict.fromkeys(cell.row for cell, _ in run.cells if cell.row != ORACLE)]
    baseline = baseline_of(run.loaded.experiment, recipes)
    return Results(
        experiment=run.loaded.name,
        title=run.loaded.experiment.title,
        version=VERSION,
        webs=run.webs,
        rows=rows,
        summaries=summarise(rows, recipes),
        tests=tests_against(rows, recipes, baseline) if baseline else (),
        notes=_notes(run),
    )


def oracle_hits(run: Run) -> dict[tuple[str, str, int], NDArray[np.int64]]:
    """The oracle's curve of each topic."""
    return {
        (cell.task.title, cell.task.web, cell.repetition): result.record.hits()
        for cell, result in run.cells
        if cell.row == ORACLE
    }


def baseline_of(experiment: Experiment, recipes: list[str]) -> str:
    """The row that others are tested against."""
    requested = (experiment.report.baseline, "best-first", "breadth-first")
    return next((name for name in requested if name in recipes), "")


def timing(run: Run) -> dict[str, Any]:
    """CPU times: of the order per page, and of whole crawls. They differ from run to run."""
    recipes: dict[str, list[CellResult]] = {}
    for cell, result in run.cells:
        recipes.setdefault(cell.row, []).append(result)
    found = {}
    for name, results in recipes.items():
        pages = sum(len(one.record.fetched) for one in results)
        ordering = sum(one.record.ordering_seconds for one in results)
        cpu = sum(one.cpu_seconds for one in results)
        found[name] = {
            "pages": pages,
            "ordering_ms_per_page": round(1000 * ordering / max(1, pages), 4),
            "cpu_ms_per_page": round(1000 * cpu / max(1, pages), 4),
            "cpu_seconds": round(cpu, 3),
        }
    return found


def _row(cell: Cell, result: CellResult, oracle: NDArray[np.int64]) -> Row:
    record = result.record
    values = flat_measures(record, oracle, budget=result.budget, requests=result.requests)
    extras = {name: round(value, 6) for name, value in result.extras.items()}
    if cell.row == ORACLE:  # it fetches nothing, so it has no sizes and no grades
        for name in ("bytes", "sum_of_information", "target_length"):
            values[name] = None
    return Row(
        web=cell.task.web,
        topic=cell.task.name,
        site=cell.task.site,
        group=cell.task.group,
        recipe=cell.row,
        repetition=cell.repetition,
        given=result.given,
        reachable=record.reachable,
        pages_in_reach=result.pages_in_reach,
        nearest_target=result.nearest_target,
        seeds=result.seeds,
        measures={**values, **extras},
        outcomes=result.outcomes,
        ended=result.reason,
    )


def _notes(run: Run) -> tuple[str, ...]:
    """What a reader must know to trust the numbers."""
    notes = []
    short = sorted(
        {
            cell.task.title
            for cell, result in run.cells
            if cell.row == "breadth-first"
            and result.budget == result.pages_in_reach
            and result.record.hits()[-1:].sum() < result.record.reachable
        }
    )
    if short:
        notes.append(
            f"breadth-first did not reach all targets although its budget allows it: {', '.join(short)}"
        )
    if len(run.cells) and msgspec.structs.asdict(run.cells[0][0].task)["web"].startswith("generated:"):
        notes.append("generated webs: good for watching changes, no evidence about the real web")
    return tuple(notes)
