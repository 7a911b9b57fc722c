"""Fingerprint to row: has this URL been seen, and which one is it?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from honeyguide.compiled import compiled

_MIX = 0x9E3779B97F4A7C15
_LOAD = 0.7


@compiled
def _find(slots: NDArray[np.int32], ids: NDArray[np.int64], url_id: np.int64) -> int:
    """Slot that holds the row of `url_id`, or the empty one where it belongs.

    The fingerprint is mixed once more, because those of hostile origin may share their low bits.
    """
    mask = len(slots) - 1
    place = ((int(url_id) * _MIX) >> 32) & mask
    while slots[place] != 0 and ids[slots[place]] != url_id:
        place = (place + 1) & mask
    return place


@compiled
def _insert(slots: NDArray[np.int32], ids: NDArray[np.int64], size: int) -> int:
    """Enter rows 1 to `size`, whose fingerprints are in `ids`; returns how many were there before."""
    doubles = 0
    for row in range(1, size + 1):
        place = _find(slots, ids, ids[row])
        if slots[place] != 0:
            doubles += 1
        else:
            slots[place] = row
    return doubles


@compiled
def _rows(
    slots: NDArray[np.int32],
    ids: NDArray[np.int64],
    wanted: NDArray[np.int64],
    size: int,
    rows: NDArray[np.int32],
) -> int:
    """Fill in `rows` for `wanted`, giving new ones the rows after `size`; returns the new size."""
    for i in range(len(wanted)):
        place = _find(slots, ids, wanted[i])
        if slots[place] == 0:
            size += 1
            slots[place] = size
            ids[size] = wanted[i]
        rows[i] = slots[place]
    return size


@compiled
def _rows_of(
    slots: NDArray[np.int32], ids: NDArray[np.int64], wanted: NDArray[np.int64], rows: NDArray[np.int32]
) -> None:
    """Fill in `rows` for `wanted`, 0 for those that are not known."""
    rows[:] = [slots[_find(slots, ids, each)] for each in wanted.tolist()]


class Seen:
    """Open addressing over row numbers: 4 bytes a slot, fingerprints are looked up in the columns.

    With at most 70% of the slots in use this is 6 to 11 bytes a URL, and 8 for the fingerprint itself.

    Example:
        >>> seen, ids = Seen(), np.zeros(10, np.int64)
        >>> rows, size = seen.rows(np.array([5, 7, 5]), ids, size=0)
        >>> rows.tolist(), size, seen.row(7, ids)
        ([1, 2, 1], 2, 2)
    """

    def __init__(self) -> None:
        self._slots: NDArray[np.int32] = np.zeros(4096, np.int32)

    @property
    def memory(self) -> int:
        """Bytes of the slots."""
        return self._slots.nbytes

    def rebuild(self, ids: NDArray[np.int64], size: int, *, room: int = 0) -> int:
        """Enter rows 1 to `size` again, with room for more.

        Returns the number of doubles, which a sound state does not have.
        """
        slots = len(self._slots)
        while size + room > _LOAD * slots:
            slots *= 2
        self._slots = np.zeros(slots, np.int32)
        return _insert(self._slots, ids, size)

    def row(self, url_id: int, ids: NDArray[np.int64]) -> int:
        """Row of one fingerprint, or 0."""
        return int(self._slots[_find(self._slots, ids, np.int64(url_id))])

    def find(self, wanted: NDArray[np.int64], ids: NDArray[np.int64]) -> NDArray[np.int32]:
        """Rows of many fingerprints, 0 for those that are not known."""
        rows = np.empty(len(wanted), np.int32)
        _rows_of(self._slots, ids, np.ascontiguousarray(wanted, np.int64), rows)
        return rows

    def rows(
        self, wanted: NDArray[np.int64], ids: NDArray[np.int64], *, size: int
    ) -> tuple[NDArray[np.int32], int]:
        """Rows of `wanted` and the number of URLs known afterwards.

        New fingerprints get the next rows and are written to `ids`, which must have room for all.
        """
        if size + len(wanted) > _LOAD * len(self._slots):
            self.rebuild(ids, size, room=len(wanted))
        rows = np.empty(len(wanted), np.int32)
        return rows, _rows(self._slots, ids, wanted, size, rows)
