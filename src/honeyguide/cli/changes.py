"""`honeyguide changes`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from honeyguide.cli.everywhere import OUT
from honeyguide.cli.output import clean, note, print_json, print_table
from honeyguide.collection.change_feed import change_feed
from honeyguide.collection.changes import MEANINGS, Change
from honeyguide.collection.collection import Collection
from honeyguide.store.atomic import replacing

STANDARD_OUTPUT = Path("-")


def changes(
    folder: Path,
    /,
    *,
    since: str = "7d",
    until: str | None = None,
    all_pages: bool = False,
    brief: bool = False,
    feed: bool = False,
    out: Annotated[Path, Parameter(name=OUT.name, allow_leading_hyphen=True)] = STANDARD_OUTPUT,
    json: bool = False,
) -> None:
    """Show what has become of a collection: new, changed, newly on topic, gone.

    Changed pages are shown with the sentences that went (-) and came (+).

    Args:
        folder: The collection.
        since: A day such as 2026-11-01, a time such as 2026-11-01T12:00 (UTC), or how long ago, such as 7d.
        until: Up to this day or time; by default now.
        all_pages: Pages that are off topic, too.
        brief: Only the list, without what changed in the texts.
        feed: Write an Atom feed instead, for feed readers.
        out: File to write the feed to; `-` for standard output.
        json: Print JSON.
    """
    with Collection.open(folder) as collection:
        found = collection.changes(since, until=until, relevant=not all_pages, diffs=not brief)
        name = collection.name
    if feed:
        _write(change_feed(found, title=name, at=time.time()), out)
    elif json:
        print_json([msgspec.to_builtins(change) for change in found])
    else:
        _show(found)


def _show(found: list[Change]) -> None:
    rows: list[dict[str, object]] = [
        {
            "what": MEANINGS[change.kind].lower(),
            "when": change.at,
            "score": round(change.score, 2),
            "title": change.title,
            "url": change.url,
            "reason": change.reason,
        }
        for change in found
    ]
    print_table(rows, ["what", "when", "score", "title", "url", "reason"])
    for change in found:
        if change.difference:
            print(f"\n{clean(change.url)}")
            for each in change.difference:
                print(f"{each.sign} {clean(each.text)}")
    if not found:
        note("nothing has changed since; visit the pages again with honeyguide recrawl")


def _write(text: str, out: Path) -> None:
    if out == STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    with replacing(out) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="replace")
