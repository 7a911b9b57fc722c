"""Searches that a reader keeps: lines of `searches.json` in the collection's folder."""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec

from honeyguide.errors import CollectionError, HoneyguideError
from honeyguide.store.atomic import replacing
from honeyguide.store.plain import read_plain

FILE = "searches.json"
MOST = 100
_MOST_BYTES = 1 << 20
_lock = threading.Lock()


class Saved(msgspec.Struct, frozen=True):
    """A search with its name."""

    name: str
    query: str
    """Of the search page's address."""


def saved_searches(folder: Path) -> list[Saved]:
    """All of them by name; none when there is no such file, or it is not ours."""
    try:
        return msgspec.json.decode(read_plain(folder / FILE, _MOST_BYTES), type=list[Saved])[:MOST]
    except (OSError, CollectionError, msgspec.MsgspecError):
        return []


def save_search(folder: Path, name: str, query: str) -> None:
    """Keep a search, in place of one of the same name.

    Raises:
        HoneyguideError: It has no name, or there are too many.
    """
    if not name:
        raise HoneyguideError("the search has no name; write one")
    with _lock:
        held = [one for one in saved_searches(folder) if one.name != name]
        if len(held) >= MOST:
            raise HoneyguideError(f"{MOST} searches are kept already; delete one first")
        _write(folder, sorted([*held, Saved(name, query)], key=lambda one: one.name.lower()))


def delete_search(folder: Path, name: str) -> None:
    """Forget a search."""
    with _lock:
        _write(folder, [one for one in saved_searches(folder) if one.name != name])


def _write(folder: Path, searches: list[Saved]) -> None:
    with replacing(folder / FILE) as temporary:
        temporary.write_bytes(msgspec.json.encode(searches))
