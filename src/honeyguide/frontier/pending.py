"""URL records on their way to the state: written in batches, readable in the meantime."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.frontier.records import Found, Waiting
from honeyguide.store.checked import numbers_from_text, reading, web_address
from honeyguide.store.columns import Columns
from honeyguide.store.records import NewUrl, Replacement
from honeyguide.store.state import State, numbers_to_text, sound

ANCHOR_LIMIT = 500
CONTEXT_LIMIT = 200
"""Characters kept; pages must not be able to fill the disk with one link."""
_STORED = (
    "SELECT u.url, u.id, u.depth, u.redirects, u.tries, u.parent, u.source, u.anchor, u.context, u.memo,"
    " coalesce(p.url, '') FROM url AS u LEFT JOIN url AS p ON p.row = u.parent WHERE u.row = ?"
)
_Stored: TypeAlias = tuple[str, int, int, int, int, int, str, str, str, str, str]


class Pending:
    """What has changed since the last flush.

    New URLs have the rows after `written`. Rows named anywhere else are older, or new with a later change.
    """

    def __init__(self, state: State, columns: Columns) -> None:
        self._state = state
        self._columns = columns
        self.written = columns.size
        self._new: list[Found] = []
        self._replaced: dict[int, Found] = {}
        self._ended: dict[int, str] = {}
        self._tries: dict[int, int] = {}
        self._changed: list[NDArray[np.int32]] = []
        self._changed_rows: list[int] = []

    def __len__(self) -> int:
        """Number of URL records held."""
        return len(self._new) + len(self._replaced)

    def add(self, found: Sequence[Found]) -> None:
        """The next new URLs."""
        self._new.extend(found)

    def replace(self, row: int, found: Found) -> None:
        """Another link is now the reason to fetch `row`."""
        if row > self.written:
            self._new[row - self.written - 1] = found
        else:
            self._replaced[row] = found

    def end(self, row: int, reason: str) -> None:
        """The URL ended, with the status that the columns have."""
        self._ended[row] = reason
        self._changed_rows.append(row)

    def set_tries(self, row: int, tries: int) -> None:
        """Failed attempts so far."""
        self._tries[row] = tries

    def changed(self, rows: NDArray[np.int32]) -> None:
        """Columns of these rows changed."""
        self._changed.append(rows)

    def noted(self, row: int) -> None:
        """Columns of this row changed."""
        self._changed_rows.append(row)

    def read(self, row: int, host: str) -> Waiting:
        """The URL at `row` as the engine gets it."""
        if row > self.written:
            found = self._new[row - self.written - 1]
            return self._waiting(row, host, found, self._tries.get(row, 0))
        stored = self._stored(row)
        url, fingerprint, depth, redirects, tries, parent, source, anchor, context, memo, parent_url = stored
        tries = self._tries.get(row, tries)
        replaced = self._replaced.get(row)
        if replaced is not None:
            return self._waiting(row, host, replaced, tries)
        return Waiting(
            row=row,
            url=url,
            id=fingerprint,
            host=host,
            priority=float(self._columns.priority[row]),
            depth=depth,
            redirects=redirects,
            tries=tries,
            parent=parent,
            parent_url=self.url(parent) if parent > self.written else parent_url,
            source=source,
            anchor=anchor,
            context=context,
            memo=_memo(memo) if memo else {},
        )

    def _stored(self, row: int) -> _Stored:
        """What table `url` has of a URL, in the order of `_STORED`."""
        found = self._state.connection.execute(_STORED, (row,)).fetchone()
        with reading("URLs"):
            stored: _Stored = msgspec.convert(found, _Stored)
            web_address(stored[0])
        return stored

    def _waiting(self, row: int, host: str, found: Found, tries: int) -> Waiting:
        """As it would come back from the state, so that a restart makes no difference."""
        return Waiting(
            row=row,
            url=sound(found.url),
            id=found.id,
            host=host,
            priority=float(self._columns.priority[row]),
            depth=found.depth,
            redirects=found.redirects,
            tries=tries,
            parent=found.parent,
            parent_url=self.url(found.parent),
            source=found.source,
            anchor=sound(found.anchor[:ANCHOR_LIMIT]),
            context=sound(found.context[:CONTEXT_LIMIT]),
            memo={name: float(value) for name, value in found.memo.items() if isfinite(value)},
        )

    def url(self, row: int) -> str:
        """Text of a URL, written or not; empty for row 0."""
        if row > self.written:
            return sound(self._new[row - self.written - 1].url)
        return self._state.url_text(row) if row else ""

    def reason(self, row: int) -> str:
        """Why a URL ended as it did, written or not."""
        if row in self._ended:
            return self._ended[row]
        if row > self.written:
            return self._new[row - self.written - 1].reason
        found = self._state.connection.execute("SELECT reason FROM url WHERE row = ?", (row,)).fetchone()
        return str(found[0]) if found is not None else ""

    def flush(self) -> None:
        """Write everything into the state's open transaction."""
        state, columns = self._state, self._columns
        first = self.written + 1
        if self._new:
            state.add_urls(self._new_rows(first))
        if self._replaced:
            state.replace_links(self._replacements())
        if self._tries:
            state.set_tries([(tries, row) for row, tries in self._tries.items() if row < first])
        if self._ended:
            status = columns.status
            state.end_urls([(int(status[row]), why, row) for row, why in self._ended.items() if row < first])
        added = np.arange(first, columns.size + 1, dtype=np.int32)
        changed = np.concatenate([*self._changed, np.asarray(self._changed_rows, np.int32), added])
        changed.sort()  # and each once: `np.unique` goes by hashes, and takes four times as long
        state.append_changes(columns, changed[np.diff(changed, prepend=0) > 0])
        self.written = columns.size
        for held in (self._new, self._replaced, self._ended, self._tries, self._changed, self._changed_rows):
            held.clear()

    def _new_rows(self, first: int) -> list[NewUrl]:
        last = first + len(self._new)
        columns, tries, ended = self._columns, self._tries, self._ended
        hosts, status = columns.hosts[first:last].tolist(), columns.status[first:last].tolist()
        priority = columns.priority[first:last].tolist()
        return [
            (
                row,
                found.id,
                found.url,
                host,
                state,
                value,
                found.depth,
                found.redirects,
                tries.get(row, 0) if tries else 0,
                found.parent,
                found.source,
                found.anchor[:ANCHOR_LIMIT],
                found.context[:CONTEXT_LIMIT],
                numbers_to_text(found.factors) if found.factors else "",
                numbers_to_text(found.memo) if found.memo else "",
                ended.get(row, found.reason) if state else "",
            )
            for row, found, host, state, value in zip(
                range(first, last), self._new, hosts, status, priority, strict=True
            )
        ]

    def _replacements(self) -> list[Replacement]:
        columns = self._columns
        rows = np.fromiter(self._replaced, np.int64, len(self._replaced))
        hosts, status = columns.hosts[rows].tolist(), columns.status[rows].tolist()
        return [
            (
                host,
                state,
                priority,
                found.depth,
                found.redirects,
                found.parent,
                found.source,
                found.anchor[:ANCHOR_LIMIT],
                found.context[:CONTEXT_LIMIT],
                numbers_to_text(found.factors) if found.factors else "",
                numbers_to_text(found.memo) if found.memo else "",
                "",
                row,
            )
            for (row, found), host, state, priority in zip(
                self._replaced.items(), hosts, status, columns.priority[rows].tolist(), strict=True
            )
        ]


def _memo(text: str) -> dict[str, float]:
    with reading("URLs"):
        return numbers_from_text(text)
