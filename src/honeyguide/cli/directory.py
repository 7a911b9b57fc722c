"""`honeyguide directory`."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from honeyguide.cli.everywhere import OUT
from honeyguide.cli.meter import Meter
from honeyguide.cli.output import print_facts, print_json, print_table
from honeyguide.collection.collection import Collection
from honeyguide.collection.exports.datasheet import topic_name
from honeyguide.errors import CollectionError, MissingExtra


def directory(
    folder: Path,
    /,
    *,
    out: Annotated[Path | None, OUT] = None,
    subjects: int = 0,
    seed: int = 0,
    title: str = "",
    json: bool = False,
) -> None:
    """Sort the relevant pages by subject and by host, and write them as a site of static HTML.

    Args:
        folder: The collection.
        out: Folder for the site; without it the subjects are only shown.
        subjects: Number of subjects; by default one that suits the collection.
        seed: The same seed gives the same subjects.
        title: Title of the site; by default the topic's name.
        json: Print JSON.
    """
    if out is not None:
        try:
            from honeyguide.ui.static_directory import write_static_directory
        except ImportError:
            raise MissingExtra("The static directory", "ui") from None
    with Collection.open(folder) as collection:
        assert collection.layout is not None
        with Meter("reading pages") as meter:
            made = collection.directory(subjects=max(0, subjects), seed=seed, progress=meter)
        with suppress(CollectionError):  # the portal shows the same, unless the collection cannot be written
            made.save(collection.layout.directory_file)
        if out is None:
            rows = [
                {"pages": len(one.rows), "subject": one.label, "terms": one.terms} for one in made.subjects
            ]
            print_table(rows, ("pages", "subject"), json=json)
            return
        named = title or topic_name(collection.layout.topic_file) or folder.resolve().name
        with Meter(f"writing {out}") as meter:
            files = write_static_directory(collection, made, out, title=named, at=time.time(), progress=meter)
    facts: dict[str, object] = {
        "open": str(out / "index.html"),
        "pages": made.listed,
        "subjects": len(made.subjects),
        "hosts": len(made.hosts),
        "files": files,
    }
    if json:
        print_json(facts)
    else:
        print_facts(facts)
