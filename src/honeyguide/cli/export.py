"""`honeyguide export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from honeyguide.cli.meter import Meter
from honeyguide.cli.output import print_facts
from honeyguide.collection.collection import Collection
from honeyguide.collection.exports.formats import FORMATS


def export(
    folder: Path,
    /,
    *,
    format: Literal[  # noqa: A002 - the option's name
        "jsonl", "csv", "parquet", "warc", "wacz", "gexf", "opml", "datasheet", "datasheet-html"
    ] = "jsonl",
    to: Annotated[Path | None, Parameter(name=("--to", "--output"))] = None,
    all_pages: bool = False,
    text: bool = False,
    json: bool = False,
) -> None:
    """Write the collection as a table, an archive, a graph, outlines or a datasheet.

    Args:
        folder: The collection.
        format: Kind of file.
        to: File to write; by default pages.FORMAT or the like in the collection.
        all_pages: Also pages that are not on topic.
        text: Add the text of each relevant page (tables and WACZ).
        json: Print what was written as JSON.
    """
    target = to or folder / FORMATS[format].file
    with Collection.open(folder) as collection, Meter(f"writing {target.name}") as meter:
        count = collection.export(target, format=format, relevant=not all_pages, text=text, progress=meter)
    print_facts({"file": str(target), "pages": count}, json=json)
