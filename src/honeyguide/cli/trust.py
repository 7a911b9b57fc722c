"""`honeyguide trust`, and the question that `crawl` and `resume` ask once."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from honeyguide.cli.output import clean, note, print_json
from honeyguide.config.load import load
from honeyguide.config.reach import reach
from honeyguide.errors import TopicError
from honeyguide.store.layout import Layout, is_collection
from honeyguide.trust import remember_trust


def trust(path: Path, /, *, json: bool = False) -> None:
    """Trust a topic file or a collection that somebody else made.

    Topic files that read files outside their folder, ask private networks or run Python classes are not
    used before you have said yes. A collection that was made elsewhere can be read, searched and exported,
    but neither resumed nor reviewed.

    Args:
        path: The topic file, or the folder of the collection.
        json: Print what is trusted as JSON.
    """
    if not path.exists():
        raise TopicError(f"{path}: no such file or folder; name a topic file or a collection")
    if path.is_dir() and not is_collection(path):
        Layout.open(path)  # says what is wrong
    found = reach(load(Layout.open(path).topic_file if path.is_dir() else path))
    for one in found:
        note(f"trusted: {clean(one)}")
    if path.is_dir():
        Layout.adopt(path, reach=found)
    else:
        remember_trust(path, found)
    note(f"{clean(str(path))} is yours now")
    if json:
        print_json({"path": str(path), "trusted": list(found)})


def require_trust(path: Path, found: Sequence[str], *, trust: bool) -> None:
    """Ask the user about a topic file that reaches beyond its folder.

    Args:
        path: The file.
        found: What it reaches.
        trust: Whether the user has said yes already, on the command line.

    Raises:
        TopicError: The user said no, or nobody is there to ask.
    """
    if trust or not found:
        return
    if not (sys.stdin and sys.stdin.isatty()):
        told = "; ".join(found[:5]) + (f"; and {len(found) - 5} more" if len(found) > 5 else "")
        raise TopicError(f"{path} {told}; if you wrote it or have read it, add --trust")
    for one in found:
        note(f"{clean(str(path))} {clean(one)}")
    print("Did you write or read it, and is that what you want? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise TopicError(f"{path} was not used; remove what you do not want from it")
