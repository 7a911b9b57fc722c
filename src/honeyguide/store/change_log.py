"""The log of what changes in the columns of all URLs (`columns.py`): table `change` of the state.

Each flush appends the present values of the rows it touched, so the log grows with every change of a
priority, and has to be rewritten now and then. All at once that takes a third of a second for a million URLs,
in which no connection is served. So it is done a portion a flush: first all rows are written once more, as
they are, under numbers kept free for them; then what is older goes, from its end to its beginning. At any
time the log read in order gives the present values: what is rewritten was either not changed since, or is
repeated by a later entry. A crawl that is resumed begins again when its log is too long.
"""

from __future__ import annotations

import sqlite3
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from honeyguide.store.columns import RECORD, Columns

AT_ONCE: Final = 1 << 16
"""Records of an entry, at most, and of a portion, unless more than that was flushed."""
PORTION: Final = 1 << 12
"""Records of a portion, at least ..."""
FASTER: Final = 2
"""... or so many times what was flushed: it must come to an end."""
DROPPED: Final = 4
"""Old records that go in the place of each that would be rewritten ..."""
ENTRIES: Final = 256
"""... and entries, at most."""
COMPACT_AT: Final = 32 << 20
"""Bytes beyond twice its shortest form that are put up with before it is rewritten."""

_SIZE = "SELECT coalesce(sum(length(records)), 0), coalesce(max(number), 0) FROM change"
_OLD = "SELECT number, length(records) FROM change WHERE number < ? ORDER BY number DESC LIMIT ?"


class _Rewriting(NamedTuple):
    """How far it has come."""

    first: int
    """Number of the first entry that is not old."""
    entry: int
    """Number of the next portion."""
    row: int
    """The first row of the next portion."""
    rows: int
    """Rows that were known when it began; later ones have no older entries."""


class ChangeLog:
    """Appends to the log, and keeps it short."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._rewriting: _Rewriting | None = None
        self._bytes, self._number = connection.execute(_SIZE).fetchone()

    def append(self, columns: Columns, rows: NDArray[np.int32]) -> None:
        """Log the present values of `rows` (each once)."""
        if not len(rows):
            return
        longest = COMPACT_AT + 2 * columns.size * RECORD.itemsize
        if self._rewriting is None and self._bytes + len(rows) * RECORD.itemsize > longest:
            self._rewriting = _Rewriting(self._number + 1, self._number + 1, 1, columns.size)
            self._number += columns.size // PORTION + 1
        for start in range(0, len(rows), AT_ONCE):
            # Numbers only rise, also when the log is rewritten: readers ask for what is beyond their last.
            self._number += 1
            self._insert(self._number, columns, rows[start : start + AT_ONCE])
        if self._rewriting is not None:
            portion = min(max(PORTION, FASTER * len(rows)), max(AT_ONCE, len(rows)))
            self._rewriting = self._step(columns, self._rewriting, portion)

    def _step(self, columns: Columns, at: _Rewriting, portion: int) -> _Rewriting | None:
        """Rewrite some rows, or drop some of what is older; None when that was the last."""
        if at.row <= at.rows:
            end = min(at.rows + 1, at.row + portion)
            rows = np.arange(at.row, end, dtype=np.int32)
            entry = at.entry
            for start in range(0, len(rows), AT_ONCE):
                self._insert(entry, columns, rows[start : start + AT_ONCE])
                entry += 1
            return at._replace(entry=entry, row=end)
        left = DROPPED * portion * RECORD.itemsize
        old = self._connection.execute(_OLD, (at.first, ENTRIES)).fetchall()
        for number, length in old:
            self._connection.execute("DELETE FROM change WHERE number = ?", (number,))
            self._bytes -= length
            left -= length
            if left <= 0:
                return at
        return at if len(old) == ENTRIES else None

    def _insert(self, number: int, columns: Columns, rows: NDArray[np.int32]) -> None:
        blob = columns.records(rows).tobytes()
        self._connection.execute("INSERT INTO change VALUES (?, ?)", (number, blob))
        self._bytes += len(blob)
