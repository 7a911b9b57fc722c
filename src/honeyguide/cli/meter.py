"""A progress bar for verbs that go through many pages."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

_PATIENCE = 2.0


class Meter:
    """Draws a bar on standard error once a task has taken two seconds; silent when that is not a terminal.

    Args:
        what: Said before the bar.
        console: Where to draw; by default standard error.

    Example:
        >>> with Meter("writing") as meter:
        ...     meter(1, 10)
    """

    def __init__(self, what: str, *, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
        )
        self._task = self._progress.add_task(what, total=None)
        self._begun = time.monotonic()
        self._drawn = False

    def __enter__(self) -> Self:
        """The meter itself; nothing is drawn yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Clear the bar."""
        if self._drawn:
            self._progress.stop()

    def __call__(self, done: int, total: int) -> None:
        """Take note of how far the work is."""
        if not self._drawn:
            if not self._console.is_terminal or time.monotonic() - self._begun < _PATIENCE:
                return
            self._progress.start()
            self._drawn = True
        self._progress.update(self._task, completed=done, total=total)
