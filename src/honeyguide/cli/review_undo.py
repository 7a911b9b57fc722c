"""`honeyguide review undo`."""

from __future__ import annotations

import time
from pathlib import Path

from honeyguide.cli.output import note
from honeyguide.engine.control import ask
from honeyguide.store.layout import Layout
from honeyguide.store.reviews import undo_review


def undo(folder: Path, number: int | None = None, /) -> None:
    """Take back a decision.

    Args:
        folder: The collection.
        number: Which one (`review list --decided` tells); by default the last.
    """
    Layout.open(folder)
    taken = undo_review(folder, at=time.time(), number=number)
    ask(folder, reviews=1)
    note(f"taken back: {taken.said} {taken.url or taken.host}")
