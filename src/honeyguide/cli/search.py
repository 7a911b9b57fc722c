"""`honeyguide search`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from honeyguide.cli.output import note, print_entries, print_table
from honeyguide.collection.collection import Collection
from honeyguide.store.index import Hit


def search(
    folder: Path,
    words: str,
    /,
    *,
    limit: int = 10,
    offset: int = 0,
    host: str = "",
    language: str = "",
    unique: bool = False,
    as_of: str | None = None,
    json: bool = False,
) -> None:
    """Search the text of the relevant pages.

    Args:
        folder: The collection.
        words: Words that must occur, in any form (owls finds owl); "just so" in quotes, -word to omit,
            begin* for the start of one.
        limit: Number of results.
        offset: Results to skip.
        host: Only pages of this host.
        language: Only pages in this language, such as en.
        unique: Leave out pages that repeat, or nearly repeat, a better result.
        as_of: As the pages were on this day (2026-11-01), at this time, or this long ago (30d).
        json: Print JSON.
    """
    with Collection.open(folder) as collection:
        found = collection.search(
            words, limit + 1, offset, host=host, language=language, unique=unique, as_of=as_of
        )
    hits = found[:limit]
    if sys.stdout.isatty() and not json:
        print_entries([(hit.title, _address(hit), hit.snippet) for hit in hits])
        if len(found) > limit:
            note(f"for the next: --offset {offset + limit}")
    else:
        _print_rows(hits, json=json)
    if not hits:
        note("nothing found; try fewer or other words, or the beginning of one, such as migrat*")


def _address(hit: Hit) -> str:
    return f"{hit.url} (gone since {hit.gone})" if hit.gone else hit.url


def _print_rows(hits: Sequence[Hit], *, json: bool) -> None:
    rows = [msgspec.to_builtins(hit) for hit in hits]
    columns = {"title": "title", "url": "url", "snippet": "text"}
    if any(hit.gone for hit in hits):
        columns["gone"] = "gone since"
    print_table(rows, columns, json=json)
