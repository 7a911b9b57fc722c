"""`honeyguide export`."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from honeyguide.cli.everywhere import OUT
from honeyguide.cli.meter import Meter
from honeyguide.cli.output import print_facts
from honeyguide.collection.collection import Collection
from honeyguide.collection.exports.formats import FORMATS
from honeyguide.errors import CollectionError

STANDARD_OUTPUT = Path("-")


def export(
    folder: Path,
    /,
    *,
    format: Literal[  # noqa: A002 - the option's name
        "jsonl",
        "csv",
        "parquet",
        "markdown",
        "markdown-jsonl",
        "warc",
        "wacz",
        "gexf",
        "opml",
        "datasheet",
        "datasheet-html",
    ] = "jsonl",
    out: Annotated[Path | None, Parameter(name=OUT.name, allow_leading_hyphen=True)] = None,
    all_pages: bool = False,
    text: bool = False,
    as_of: str | None = None,
    json: bool = False,
) -> None:
    """Write the collection as a table, Markdown, an archive, a graph, outlines or a datasheet.

    Args:
        folder: The collection.
        format: Kind of file. `markdown` is a folder with a file a page, `markdown-jsonl` one file.
        out: File (or folder) to write, `-` for standard output; by default pages.FORMAT or the like in the
            collection.
        all_pages: Include pages that are not on topic.
        text: Add the text of each relevant page (tables and WACZ).
        as_of: As the pages were on this day (2026-11-01), at this time, or so long ago (30d).
        json: Print what was written as JSON.
    """
    form = FORMATS[format]
    if out == STANDARD_OUTPUT:
        if form.folder:
            raise CollectionError(f"{format} is a folder of files; use --format markdown-jsonl with --out -")
        _to_standard_output(folder, format, all_pages=all_pages, text=text, as_of=as_of)
        return
    target = out or folder / form.file
    with Collection.open(folder) as collection, Meter(f"writing {target.name}") as meter:
        count = collection.export(
            target, format=format, relevant=not all_pages, text=text, progress=meter, as_of=as_of
        )
    print_facts({"file": str(target), "pages": count}, json=json)


def _to_standard_output(folder: Path, name: str, *, all_pages: bool, text: bool, as_of: str | None) -> None:
    """Make the whole file first: a reader of the pipe gets all of it or nothing."""
    with tempfile.TemporaryDirectory(prefix="honeyguide.") as work:
        made = Path(work) / FORMATS[name].file
        with Collection.open(folder) as collection, Meter("writing to standard output") as meter:
            collection.export(
                made, format=name, relevant=not all_pages, text=text, progress=meter, as_of=as_of
            )
        with made.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
