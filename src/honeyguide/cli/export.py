"""`honeyguide export`."""

from __future__ import annotations

import shutil
import sys
import tempfile
from codecs import BOM_UTF8
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from honeyguide.cli.everywhere import OUT
from honeyguide.cli.meter import Meter
from honeyguide.cli.output import note, print_facts
from honeyguide.collection.collection import Collection
from honeyguide.collection.exports.formats import FORMATS
from honeyguide.collection.exports.left_out import LeftOut
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
    language: str = "",
    unique: bool = False,
    as_of: str | None = None,
    json: bool = False,
) -> None:
    """Write the collection as a table, Markdown, an archive, a graph, outlines or a datasheet.

    Args:
        folder: The collection.
        format: Kind of file. `markdown` is a folder with a file per page, `markdown-jsonl` one file.
        out: File (or folder) to write, `-` for standard output; by default pages.FORMAT or the like in the
            collection.
        all_pages: Include pages that are not on topic.
        text: Add the text of each relevant page (tables and WACZ).
        language: Only pages in this language, such as en.
        unique: Leave out pages that repeat, or nearly repeat, another page of the export.
        as_of: As the pages were on this day (2026-11-01), at this time, or this long ago (30d).
        json: Print what was written as JSON.
    """
    form = FORMATS[format]
    if out == STANDARD_OUTPUT and form.folder:
        raise CollectionError(f"{format} is a folder of files; use --format markdown-jsonl with --out -")

    left_out = LeftOut()

    def write(target: Path, name: str) -> tuple[int, int]:
        with Collection.open(folder) as collection, Meter(f"writing {name}") as meter:
            count = collection.export(
                target,
                format=format,
                relevant=not all_pages,
                text=text,
                language=language,
                unique=unique,
                progress=meter,
                as_of=as_of,
                trouble=left_out,
            )
            return count, collection.kept_back(relevant=not all_pages)

    if out == STANDARD_OUTPUT:
        # The whole file first: a reader of the pipe gets all of it or nothing.
        with tempfile.TemporaryDirectory(prefix="honeyguide.") as work:
            made = Path(work) / form.file
            write(made, "to standard output")
            with made.open("rb") as file:
                if file.read(len(BOM_UTF8)) != BOM_UTF8:  # a mark for spreadsheets, and noise in a pipe
                    file.seek(0)
                shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        left_out.check(out)
        return
    target = out or folder / form.file
    count, kept_back = write(target, target.name)
    facts: dict[str, object] = {"file": str(target), "pages": count}
    if left_out:
        facts["left_out" if json else "left out, since their records are damaged"] = len(left_out)
    if kept_back:
        facts["noindex" if json else "left out, since they asked not to be indexed"] = kept_back
    print_facts(facts, json=json)
    if language and not count:
        note(f"no page is known to be in {language!r}; write two letters, such as en")
    left_out.check(target)
