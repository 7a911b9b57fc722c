"""`honeyguide review undo`."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec

from honeyguide.cli.output import note, print_json
from honeyguide.engine.control import ask
from honeyguide.store.layout import Layout
from honeyguide.store.reviews import undo_review


def undo(folder: Path, number: int | None = None, /, *, json: bool = False) -> None:
    """Undo a decision.

    Args:
        folder: The collection.
        number: Which one (`review list --decided` tells); by default the last.
        json: Print the decision as JSON.
    """
    Layout.open(folder)
    taken = undo_review(folder, at=time.time(), number=number)
    ask(folder, reviews=1)
    note(f"taken back: {taken.said} {taken.url or taken.host}")
    if json:
        print_json(msgspec.to_builtins(taken))
