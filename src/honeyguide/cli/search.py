"""`honeyguide search`."""

from __future__ import annotations

from pathlib import Path

import msgspec

from honeyguide.cli.output import note, print_table
from honeyguide.collection.collection import Collection


def search(
    folder: Path,
    words: str,
    /,
    *,
    limit: int = 10,
    offset: int = 0,
    host: str = "",
    language: str = "",
    json: bool = False,
) -> None:
    """Search the text of the relevant pages.

    Args:
        folder: The collection.
        words: Words that must occur; "a phrase" in quotes, -word to leave out.
        limit: Number of results.
        offset: Results to skip.
        host: Only pages of this host.
        language: Only pages in this language, such as en.
        json: Print JSON.
    """
    with Collection.open(folder) as collection:
        hits = collection.search(words, limit, offset, host=host, language=language)
    rows = [msgspec.to_builtins(hit) for hit in hits]
    print_table(rows, {"title": "title", "url": "url", "snippet": "text"}, json=json)
    if not hits:
        note("nothing found; try fewer or other words")
