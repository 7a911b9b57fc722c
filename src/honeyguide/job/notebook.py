"""Progress of `crawl()` in a notebook: one box, drawn again in place."""

from __future__ import annotations

import html
import sys
import time
from importlib import import_module
from typing import Any

from honeyguide.job.progress import Progress

SECONDS = 0.5
"""Between two drawings."""


def in_notebook() -> bool:
    """Whether this code runs in a cell of Jupyter, or of something that talks like it."""
    python = sys.modules.get("IPython")
    shell = python.get_ipython() if python is not None else None
    return getattr(shell, "kernel", None) is not None


class Box:
    """The box under a cell.

    Args:
        total: Pages to fetch, or None when there is no such limit.
    """

    def __init__(self, total: int | None) -> None:
        show: Any = import_module("IPython.display").display
        self._total = total
        self._drawn = time.monotonic()
        self._handle: Any = show({"text/plain": "crawling"}, raw=True, display_id=True)

    def draw(self, progress: Progress, ended: str = "") -> None:
        """Show new figures, unless the last ones are less than half a second old.

        Args:
            progress: The figures.
            ended: Why the crawl ended; this is drawn in any case.
        """
        if not ended and time.monotonic() - self._drawn < SECONDS:
            return
        self._drawn = time.monotonic()
        self._handle.update(
            {"text/html": as_html(progress, self._total, ended), "text/plain": as_text(progress, ended)},
            raw=True,
        )


def as_text(progress: Progress, ended: str = "") -> str:
    """One line.

    Example:
        >>> as_text(Progress(pages=12, relevant=6, harvest=0.5, waiting=40, rate=1.5))
        '12 pages, 6 on topic (50 %), 40 waiting, 1.5 pages/s'
    """
    line = (
        f"{progress.pages:,} pages, {progress.relevant:,} on topic ({progress.harvest:.0%}),"
        f" {progress.waiting:,} waiting, {progress.rate:.1f} pages/s"
    ).replace("%)", " %)")
    return f"{line}; {ended}" if ended else line


def as_html(progress: Progress, total: int | None, ended: str = "") -> str:
    """A bar and the figures; nothing from the web is taken as markup."""
    bar = ""
    if total:
        bar = f'<progress value="{progress.pages}" max="{total}" style="width:20em"></progress> '
    last = f"<br><small>{html.escape(progress.last[:200])}</small>" if progress.last and not ended else ""
    return f"<div>{bar}{html.escape(as_text(progress, ended))}{last}</div>"
