"""`honeyguide lab gate`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from honeyguide.cli.everywhere import OUT
from honeyguide.cli.lab_run import CellProgress
from honeyguide.cli.output import fail, note, print_table

COLUMNS = {"recipe": "recipe", "measure": "measure", "floor": "floor", "mean": "mean", "state": "state"}


def gate(
    *,
    update: bool = False,
    allow_regression: bool = False,
    reason: str = "",
    jobs: int | None = None,
    out: Annotated[Path | None, OUT] = None,
    floors: Path | None = None,
    json: bool = False,
    quiet: bool = False,
) -> int:
    """Run the quick set and fail when a recipe is worse than its committed floor.

    Args:
        update: Raise the floors to what was measured.
        allow_regression: With --update: also lower floors, which needs a reason.
        reason: Why floors are lowered; kept in the file.
        jobs: Processes; by default as many as there are cores.
        out: Folder for finished crawls; by default lab-output/gate.
        floors: Another file than the committed one.
        json: Print all checks as JSON.
        quiet: Print only what failed.
    """
    from honeyguide.errors import HoneyguideError
    from honeyguide.lab.runner.gate import FLOORS, check_floors, raised, read_floors, write_floors
    from honeyguide.lab.runner.run import OUTPUT, run_experiment

    if (allow_regression or reason) and not update:
        raise HoneyguideError("--allow-regression and --reason change floors; add --update")
    path = floors or FLOORS
    known = read_floors(path)
    with CellProgress(quiet=quiet or json) as progress:
        written = run_experiment(
            known.experiment,
            out=out or OUTPUT / "gate",
            jobs=jobs or os.cpu_count() or 1,
            progress=progress.update,
        )
    checks = check_floors(written.results, known)
    rows = [
        {
            "recipe": one.recipe,
            "measure": one.measure,
            "floor": one.floor,
            "mean": one.mean,
            "state": one.state,
        }
        for one in checks
    ]
    if update:
        fresh = raised(known, checks, written.results.webs, allow_regression=allow_regression, reason=reason)
        write_floors(fresh, path)
        note(f"floors written to {path}")
        return 0
    failed = [row for row in rows if row["state"] in ("below", "gone")]
    if not quiet or failed:
        print_table(failed if quiet else rows, COLUMNS, json=json)
    if failed:
        named = ", ".join(f"{row['recipe']} {row['measure']} {row['state']}" for row in failed)
        fail(f"shut: {named}; find out why, or: lab gate --update --allow-regression --reason '...'")
        return 1
    return 0
