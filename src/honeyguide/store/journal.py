"""The journal: every event of a crawl in order, with bytes that depend on the events alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from honeyguide.model import Event

_PAGED = 1000
_encode = msgspec.json.Encoder(order="sorted").encode
_decode = msgspec.json.Decoder(dict[str, object]).decode


def sound(text: str) -> str:
    """`text` without lone surrogates, which hostile pages can smuggle in and UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode()


def _sound_values(value: object) -> object:
    if isinstance(value, str):
        return sound(value)
    if isinstance(value, dict):
        return {sound(str(key)): _sound_values(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_sound_values(item) for item in value]
    return value


class Journal:
    """Appends events and reads them back. Appended events reach the table with `flush`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._pending: list[tuple[int, float, str, str, str]] = []
        (last,) = connection.execute("SELECT coalesce(max(number), 0) FROM journal").fetchone()
        self.last: int = last
        """Number of the newest event."""

    def append(self, kind: str, url: str, data: dict[str, object], *, at: float) -> Event:
        """Give the event its number and keep it for the next flush.

        `data` is written with sorted keys and without spaces, so that equal crawls have equal journals.
        """
        try:
            text = _encode(data).decode()
            url.encode()
        except UnicodeEncodeError:
            data = {sound(key): _sound_values(value) for key, value in data.items()}
            text, url = _encode(data).decode(), sound(url)
        self.last += 1
        self._pending.append((self.last, at, kind, url, text))
        return Event(number=self.last, at=at, kind=kind, url=url, data=data)

    def flush(self) -> None:
        """Write the pending events into the open transaction."""
        if self._pending:
            self._connection.executemany("INSERT INTO journal VALUES (?, ?, ?, ?, ?)", self._pending)
            self._pending.clear()

    def rollback(self) -> None:
        """Forget what was not committed."""
        self._pending.clear()
        (self.last,) = self._connection.execute("SELECT coalesce(max(number), 0) FROM journal").fetchone()

    def _rows(self, after: int) -> Iterator[tuple[int, float, str, str, str]]:
        """Rows in pages, so that a slow reader holds no transaction open."""
        self.flush()
        while True:
            rows = self._connection.execute(
                "SELECT number, at, kind, url, data FROM journal WHERE number > ? ORDER BY number LIMIT ?",
                (after, _PAGED),
            ).fetchall()
            yield from rows
            if len(rows) < _PAGED:
                return
            after = rows[-1][0]

    def events(self, *, after: int = 0, kind: str = "") -> Iterator[Event]:
        """Events with a number above `after`, of one kind if it is given, oldest first."""
        for number, at, event_kind, url, data in self._rows(after):
            if not kind or event_kind == kind:
                yield Event(number=number, at=at, kind=event_kind, url=url, data=_decode(data))

    def events_of(self, url: str) -> list[Event]:
        """Events about one URL, oldest first."""
        self.flush()
        rows = self._connection.execute(
            "SELECT number, at, kind, url, data FROM journal WHERE url = ? ORDER BY number", (url,)
        )
        return [Event(number, at, kind, about, _decode(data)) for number, at, kind, about, data in rows]

    def dump(self, file: BinaryIO) -> int:
        """Write all events as JSON lines; returns how many."""
        count = 0
        for number, at, kind, url, data in self._rows(0):
            head = _encode({"at": at, "kind": kind, "number": number, "url": url})
            file.write(b'{"data":' + data.encode() + b"," + head[1:] + b"\n")
            count += 1
        return count
