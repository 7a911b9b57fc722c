"""`honeyguide demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from honeyguide.cli.everywhere import OUT
from honeyguide.cli.output import Progress, note, print_table


def demo(
    *,
    out: Annotated[Path, OUT] = Path("demo-output"),
    topic: str = "",
    json: bool = False,
    quiet: bool = False,
) -> None:
    """Crawl a small generated web on this machine with three recipes, and compare them.

    Args:
        out: Folder for the collections, the table and the picture; emptied first.
        topic: One of the generated web's topics; by default its first.
        json: Print the table as JSON.
        quiet: Show no progress.
    """
    from honeyguide.lab.demo import COLUMNS, run_demo

    with Progress(None, quiet=quiet) as progress:
        result = run_demo(out, topic=topic, on_page=progress.update, say=note)
    print_table(result.rows, COLUMNS, json=json)
    if not json:
        print(f"\nFigure:      {result.plot}" if result.plot else "\nNo figure: it needs honeyguide[plots].")
        print("What to type next:")
        for line in result.next_steps:
            print(f"  {line}")
