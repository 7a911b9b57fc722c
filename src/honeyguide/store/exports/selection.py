"""Which pages an export holds, in the order they were fetched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from honeyguide.model import Outcome
from honeyguide.store.records import PageRecord
from honeyguide.store.state import State

Progress: TypeAlias = Callable[[int, int], None]
"""Told how many pages are done, and of how many."""

_EVERY = 64


def silent(_done: int, _total: int) -> None:
    """A progress that is told to nobody."""


class Selection:
    """The pages to export: those on topic or all, without those that asked not to be indexed.

    A crawl may go on while an export runs; what was not there when it began is left out.
    """

    def __init__(self, state: State, *, relevant: bool = True) -> None:
        self.state = state
        self._relevant = relevant
        status = state.columns().status
        rows, on_topic, _ = state.verdicts()
        wanted = on_topic if relevant else np.ones(len(rows), np.bool_)
        # A page committed since the columns were read is left out, as if it came after the export.
        known = rows < len(status)
        self.rows: NDArray[np.int32] = rows[known & wanted]
        """Rows of the pages in order of fetching; four bytes a page."""
        self.rows = self.rows[status[self.rows] != Outcome.NOINDEX]
        self._held = np.zeros(len(status), np.bool_)
        self._held[rows[known & (status[np.where(known, rows, 0)] != Outcome.NOINDEX)]] = True

    @property
    def total(self) -> int:
        """Number of pages."""
        return len(self.rows)

    def may_leave(self, row: int) -> bool:
        """Whether the collection holds this page and it did not ask to be left out of indexes."""
        return 0 < row < len(self._held) and bool(self._held[row])

    def pages(self, progress: Progress = silent) -> Iterator[PageRecord]:
        """The pages themselves, a few hundred at a time in memory."""
        done = 0
        for page in self.state.pages(on_topic=True if self._relevant else None):
            if done == self.total:
                break
            if not self.may_leave(page.row):
                continue
            yield page
            done += 1
            if done % _EVERY == 0:
                progress(done, self.total)
        progress(self.total, self.total)
