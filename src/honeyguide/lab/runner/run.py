"""`lab run` as a function: run an experiment and write everything about it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from honeyguide.config.schema import VERSION
from honeyguide.errors import HoneyguideError
from honeyguide.lab.runner.figures import groups_of, panels
from honeyguide.lab.runner.load import Loaded, load_experiment
from honeyguide.lab.runner.report_html import html_report
from honeyguide.lab.runner.results import Results, to_json
from honeyguide.lab.runner.run_results import results_of, timing
from honeyguide.lab.runner.runner import Progress, Report, run_cells, silent
from honeyguide.lab.runner.study import DataFinder, find_study
from honeyguide.lab.runner.tables import ReportTable, markdown, report_tables, study_tables
from honeyguide.plots.panels import draw
from honeyguide.store.atomic import replacing

OUTPUT = Path("lab-output")


class Written(msgspec.Struct, frozen=True):
    """What a run wrote, and its tables for the terminal."""

    results: Results
    tables: tuple[ReportTable, ...]
    timing: dict[str, Any]
    folder: Path


def run_experiment(
    name: str,
    *,
    out: Path | None = None,
    only: tuple[str, ...] = (),
    jobs: int = 1,
    progress: Report = silent,
) -> Written:
    """Run an experiment by name or file, and write results, tables, figures and report.

    Args:
        name: As for `load_experiment`.
        out: Folder to write to; by default `lab-output/NAME`.
        only: Labels or names of recipes.
        jobs: Processes.
        progress: Told after each cell.
    """
    loaded = load_experiment(name)
    folder = out or OUTPUT / loaded.name
    if only and loaded.experiment.kind == "study":
        raise HoneyguideError(f"{loaded.name} is a study and has no recipes to choose from; leave --only out")
    folder.mkdir(parents=True, exist_ok=True)
    if loaded.experiment.kind == "study":
        return _study(loaded, folder, jobs, progress)
    run = run_cells(loaded, folder / "cells", only=only, jobs=jobs, progress=progress)
    results = results_of(run)
    tables = report_tables(results, loaded.experiment)
    title = loaded.experiment.title
    figures = []
    for group, part in {"": run, **groups_of(run)}.items():
        drawn = panels(part, results)
        name = f"curves-{re.sub(r'[^A-Za-z0-9]+', '-', group)}" if group else "curves"
        heading = f"{title} ({group})" if group else title
        figures.append(draw(drawn, folder / f"{name}.png", title=heading))
        draw(drawn, folder / f"{name}.svg", title=heading)
    return _write(loaded, folder, results, tables=tables, times=timing(run), figures=figures)


def _study(loaded: Loaded, folder: Path, jobs: int, progress: Report) -> Written:
    experiment = loaded.experiment
    steps = 0

    def say(text: str) -> None:
        nonlocal steps
        steps += 1
        progress(Progress(steps, 0, 0, text))

    study = find_study(str(experiment.study), Path(loaded.path).parent)
    found = study(dict(experiment.options), data=DataFinder(), progress=say, jobs=jobs)
    tables = tuple(msgspec.to_builtins(table) for table in found.tables)
    results = Results(loaded.name, experiment.title, VERSION, {}, tables=tables, notes=tuple(found.notes))
    figures = [
        draw(figure.panels, folder / f"{figure.name}.png", title=figure.title) for figure in found.figures
    ]
    shown = study_tables(results)
    for reference in experiment.reference:
        rows = tuple(tuple(str(value) for value in row) for row in reference.rows)
        shown.append(ReportTable(reference.title, tuple(reference.columns), rows, reference.note))
    return _write(loaded, folder, results, tables=shown, times=dict(found.timing), figures=figures)


def _write(
    loaded: Loaded,
    folder: Path,
    results: Results,
    *,
    tables: list[ReportTable],
    times: dict[str, Any],
    figures: list[Path],
) -> Written:
    experiment = loaded.experiment
    texts = [experiment.report.paragraph, experiment.description, *results.notes]
    facts = [("Honeyguide", VERSION), ("experiment", loaded.name)]
    facts += [(f"web {name}", digest) for name, digest in results.webs.items()]
    write_whole(folder / "results.json", to_json(results))
    write_whole(folder / "results.md", markdown(experiment.title, texts, tables).encode())
    write_whole(folder / "timing.json", msgspec.json.format(msgspec.json.encode(times), indent=1) + b"\n")
    page = html_report(experiment.title, texts, tables, figures=figures, facts=facts)
    write_whole(folder / "report.html", page.encode())
    return Written(results, tuple(tables), times, folder)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_bytes(data)
