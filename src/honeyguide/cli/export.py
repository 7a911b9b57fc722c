"""`honeyguide export`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from honeyguide.cli.output import print_facts
from honeyguide.store.collection import Collection


def export(
    folder: Path,
    /,
    *,
    format: Literal["jsonl", "csv", "parquet"] = "jsonl",  # noqa: A002 - the option's name
    to: Path | None = None,
    all_pages: bool = False,
    text: bool = False,
    json: bool = False,
) -> None:
    """Write the pages as a table.

    Args:
        folder: The collection.
        format: Kind of file.
        to: File to write; by default `pages.FORMAT` in the collection.
        all_pages: Also pages that are not on topic.
        text: Add a column with the text of each relevant page.
        json: Print what was written as JSON.
    """
    target = to or folder / f"pages.{format}"
    with Collection.open(folder) as collection:
        count = collection.export(target, format=format, relevant=not all_pages, text=text)
    print_facts({"file": str(target), "pages": count}, json=json)
