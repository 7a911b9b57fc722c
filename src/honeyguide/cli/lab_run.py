"""`honeyguide lab run`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from honeyguide.cli.everywhere import OUT
from honeyguide.cli.output import clean, note, print_table


def run(
    experiment: str,
    /,
    *,
    only: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    jobs: int | None = None,
    out: Annotated[Path | None, OUT] = None,
    json: bool = False,
    quiet: bool = False,
) -> None:
    """Run an experiment and write its tables, figures and report.

    Args:
        experiment: Name of an experiment, or its TOML file.
        only: Recipes to run, by label or name; by default all.
        jobs: Processes; by default as many as there are cores.
        out: Folder to write to; by default lab-output/NAME.
        json: Print the results as JSON; they are also in results.json of that folder.
        quiet: Show no progress and no table.
    """
    from honeyguide.lab.runner.results import to_json
    from honeyguide.lab.runner.run import run_experiment

    with CellProgress(quiet=quiet) as progress:
        written = run_experiment(
            experiment, out=out, only=only, jobs=jobs or os.cpu_count() or 1, progress=progress.update
        )
    if json:
        print(to_json(written.results).decode(), end="")
    if quiet or json:
        return
    table = written.tables[0] if written.tables else None
    if table is not None:
        print_table([dict(zip(table.columns, row, strict=False)) for row in table.rows], table.columns)
    for text in written.results.notes:
        note(f"note: {text}")
    note(f"Report: {written.folder / 'report.html'}   results: {written.folder / 'results.json'}")


class CellProgress:
    """A bar on standard error; silent when that is not a terminal."""

    def __init__(self, *, quiet: bool = False) -> None:
        console = Console(stderr=True)
        self._line = Table.grid()
        self._live = None
        if not quiet and console.is_terminal:
            self._live = Live(self._line, console=console, refresh_per_second=4, transient=True)

    def __enter__(self) -> CellProgress:
        """Begin to draw."""
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *problem: object) -> None:
        """Clear the bar."""
        if self._live is not None:
            self._live.stop()

    def update(self, progress: object) -> None:
        """Take a `runner.Progress`."""
        if self._live is None:
            return
        done, total = getattr(progress, "done", 0), getattr(progress, "total", 0)
        kept, last = getattr(progress, "kept", 0), getattr(progress, "last", "")
        line = Table.grid(padding=(0, 1))
        said = f"{done} of {total} crawls" if total else f"step {done}"
        kept_text = f"({kept} kept from before)" if kept else ""
        bar = ProgressBar(total, done, width=40) if total else Text("")
        line.add_row(
            Text(said, style="bold"), bar, Text(kept_text, style="dim"), Text(clean(last), style="dim")
        )
        self._live.update(line)
