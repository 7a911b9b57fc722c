"""What the frontier must know of every URL at once, as arrays by row.

A URL's text, anchor and factors are read only when it is fetched or explained; its fingerprint, host,
status and priority are needed all the time, and all of them again when a crawl resumes. So these four live
in arrays (21 bytes a URL), and the state keeps a log of their changes: one blob a flush, whatever the
number of rows touched. Reading ten million of them back takes about a second, after a crash as well.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from honeyguide.compiled import compiled
from honeyguide.errors import CollectionError
from honeyguide.model import Outcome

RECORD = np.dtype([("row", "<i4"), ("host", "<i4"), ("id", "<i8"), ("priority", "<f8"), ("status", "u1")])
"""One row's values after a change, as the `change` table holds them."""

MAX_STATUS = 64
"""One more than the largest status an `Outcome` may have."""


def grown(array: NDArray[np.generic], size: int) -> NDArray[np.generic]:
    """A copy of `array` with `size` zero-filled places at least; views of the old one stay as they were."""
    larger = np.zeros(max(size, 1024), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


@compiled
def put_records(
    blob: bytes,
    ids: NDArray[np.int64],
    hosts: NDArray[np.int32],
    status: NDArray[np.uint8],
    priority: NDArray[np.float64],
) -> None:
    """Put records of the log into the columns. Their rows have been looked at.

    Args:
        blob: Whole records.
        ids: Fingerprints.
        hosts: Host rows.
        status: Statuses.
        priority: Priorities.
    """
    records = np.frombuffer(blob, RECORD)
    rows = records["row"]
    ids[rows] = records["id"]
    hosts[rows] = records["host"]
    status[rows] = records["status"]
    priority[rows] = records["priority"]


class Columns:
    """Fingerprint, host row, status and priority of rows 1 to `size`; place 0 is unused.

    Example:
        >>> columns = Columns()
        >>> columns.extend(2)
        1
        >>> columns.ids[1:3] = [7, 9]
        >>> columns.row_of(9)
        2
    """

    def __init__(self) -> None:
        self.size = 0
        self.ids: NDArray[np.int64] = np.zeros(1024, np.int64)
        self.hosts: NDArray[np.int32] = np.zeros(1024, np.int32)
        self.status: NDArray[np.uint8] = np.zeros(1024, np.uint8)
        self.priority: NDArray[np.float64] = np.zeros(1024, np.float64)

    @property
    def capacity(self) -> int:
        """Length of the arrays; grows by half."""
        return len(self.ids)

    def extend(self, count: int) -> int:
        """Make room for `count` more rows and return the first of them."""
        first = self.size + 1
        self.size += count
        if self.size >= len(self.ids):
            self.reserve(max(self.size + 1, len(self.ids) * 3 // 2))
        return first

    def reserve(self, capacity: int) -> None:
        """Make the arrays so long; those that are keep their length."""
        if capacity > len(self.ids):
            self.ids = grown(self.ids, capacity)  # type: ignore[assignment]
            self.hosts = grown(self.hosts, capacity)  # type: ignore[assignment]
            self.status = grown(self.status, capacity)  # type: ignore[assignment]
            self.priority = grown(self.priority, capacity)  # type: ignore[assignment]

    def row_of(self, url_id: int) -> int:
        """Row of a fingerprint by a scan (1 ms a million URLs), 0 when unknown: for readers."""
        places = np.flatnonzero(self.ids[1 : self.size + 1] == url_id)
        return int(places[0]) + 1 if len(places) else 0

    def records(self, rows: NDArray[np.int32]) -> NDArray[np.void]:
        """Present values of `rows`, ready for the log."""
        records = np.empty(len(rows), RECORD)
        records["row"] = rows
        records["host"] = self.hosts[rows]
        records["id"] = self.ids[rows]
        records["priority"] = self.priority[rows]
        records["status"] = self.status[rows]
        return records

    def apply(self, blob: bytes) -> None:
        """Take over one entry of the log.

        Raises:
            CollectionError: the entry cannot be one of ours.
        """
        if len(blob) % RECORD.itemsize:
            raise CollectionError("the frontier's log is damaged; restore state.sqlite from a copy")
        records = np.frombuffer(blob, RECORD)
        if not len(records):
            return
        rows = records["row"]
        largest = int(rows.max())
        if rows.min() < 1 or largest > self.size + len(records) or records["status"].max() >= MAX_STATUS:
            raise CollectionError(
                "the frontier's log names impossible rows; restore state.sqlite from a copy"
            )
        if largest > self.size:
            self.extend(largest - self.size)
        put_records(blob, self.ids, self.hosts, self.status, self.priority)

    def counts(self) -> dict[Outcome, int]:
        """Number of URLs by status; statuses that do not occur are left out."""
        numbers = np.bincount(self.status[1 : self.size + 1], minlength=MAX_STATUS).tolist()
        return {outcome: numbers[outcome] for outcome in Outcome if numbers[outcome]}
