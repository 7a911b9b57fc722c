"""`honeyguide lab compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from honeyguide.cli.output import print_table


def compare(
    first: Path,
    second: Path | None = None,
    /,
    *,
    measure: str = "area_of_oracle",
    recipes: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    json: bool = False,
) -> None:
    """Compare two results of lab run: differences with intervals and paired tests.

    Args:
        first: A folder that lab run wrote, or its results.json.
        second: Other results; by default the first ones, to compare two recipes of one run.
        measure: What to compare, such as area_of_oracle, oracle_multiple_half, harvest_rate.
        recipes: Two names: that recipe of the first against the other of the second.
        json: Print as JSON.
    """
    from honeyguide.errors import HoneyguideError
    from honeyguide.lab.runner.compare import COLUMNS, as_rows, read_results
    from honeyguide.lab.runner.compare import compare as compare_results

    if second is None and len(recipes) != 2:
        raise HoneyguideError(
            "one file and fewer than two recipes; name a second file, or --recipes FIRST SECOND"
        )
    one = read_results(first)
    other = read_results(second) if second is not None else one
    rows = as_rows(compare_results(one, other, measure=measure, recipes=recipes))
    print_table(rows, COLUMNS, json=json, title=f"{measure}: first minus second")
