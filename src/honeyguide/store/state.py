"""The state of a crawl in one SQLite file: URLs, hosts, pages, journal, sessions, settings.

One writer. Changes gather in one open transaction until `commit`; a crash takes the file back to the last
commit. Readers (`why`, the portal, exports) open the same file read-only while the crawl runs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.errors import CollectionError
from honeyguide.model import Event, Host, Outcome, Verdict
from honeyguide.store import pages
from honeyguide.store.columns import RECORD, Columns
from honeyguide.store.journal import Journal, sound
from honeyguide.store.lock import Lock
from honeyguide.store.records import (
    NewUrl,
    PageRecord,
    Replacement,
    Session,
    UrlRecord,
    numbers_from_text,
)
from honeyguide.store.schema import connect

_CHUNK = 1 << 16
_COMPACT_AT = 32 << 20
"""Bytes of log beyond twice its shortest form that are put up with before it is written anew."""

_LOG_SIZE = "SELECT coalesce(sum(length(records)), 0), coalesce(max(number), 0) FROM change"
_INSERT = "INSERT INTO url VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
_REPLACE = (
    "UPDATE url SET host = ?, status = ?, priority = ?, depth = ?, redirects = ?, parent = ?, source = ?,"
    " anchor = ?, context = ?, factors = ?, memo = ?, reason = ? WHERE row = ?"
)


class State:
    """The crawl's database. Use `State.open`.

    Example:
        >>> with State.open(None) as state:
        ...     state.put_setting("clock", 12.5)
        ...     state.append_event("warning", "", {"what": "disk"}, at=1.0).number
        ...     state.commit()
        ...     state.setting("clock")
        1
        12.5
    """

    def __init__(
        self, connection: sqlite3.Connection, *, lock: Lock | None = None, read_only: bool = False
    ) -> None:
        self._connection = connection
        self._lock = lock
        self._read_only = read_only
        self.journal = Journal(connection)
        self._columns: Columns | None = None
        self._applied = 0
        """Number of the last log entry that `_columns` has."""
        self._log_bytes, self._log_number = connection.execute(_LOG_SIZE).fetchone()

    @classmethod
    def open(cls, path: Path | None, *, read_only: bool = False, synchronous: str = "NORMAL") -> Self:
        """Open a state file, creating it if need be; None keeps everything in memory.

        Args:
            path: the file, usually `state.sqlite` in a collection's folder.
            read_only: for readers beside a running crawl: takes no lock, sees commits as they come.
            synchronous: `NORMAL` survives a crash of the process, `FULL` also loses no commit when the
                power fails.

        Raises:
            CollectionError: in use by another process, missing, foreign or altered.
        """
        lock = None if path is None or read_only else Lock(path)
        try:
            connection = connect(path, read_only=read_only, synchronous=synchronous)
            return cls(connection, lock=lock, read_only=read_only)
        except BaseException:
            if lock is not None:
                lock.close()
            raise

    def __enter__(self) -> Self:
        """The state itself; leaving the block closes it without a commit."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self.close()

    @property
    def connection(self) -> sqlite3.Connection:
        """The open file, for readers with questions of their own; writing is this class's."""
        return self._connection

    def commit(self) -> None:
        """End the open transaction: everything up to here survives a crash."""
        self.journal.flush()
        self._connection.commit()

    def rollback(self) -> None:
        """Forget everything since the last commit. A frontier on this state must be built again."""
        self._connection.rollback()
        self.journal.rollback()
        self._columns = None
        self._applied = 0
        self._log_bytes, self._log_number = self._connection.execute(_LOG_SIZE).fetchone()

    def close(self) -> None:
        """Close the file; what was not committed is lost. A second call does nothing."""
        self._connection.close()
        if self._lock is not None:
            self._lock.close()

    # URLs

    def add_urls(self, urls: Sequence[NewUrl]) -> None:
        """Insert new URLs; rows must follow on from the last."""
        self._write(_INSERT, urls)

    def replace_links(self, replacements: Sequence[Replacement]) -> None:
        """Give known URLs another link as their reason to be fetched."""
        self._write(_REPLACE, replacements)

    def end_urls(self, ended: Iterable[tuple[int, str, int]]) -> None:
        """Set (status, reason, row) of URLs that ended."""
        self._write("UPDATE url SET status = ?, reason = ? WHERE row = ?", list(ended))

    def set_tries(self, tries: Iterable[tuple[int, int]]) -> None:
        """Set (tries, row)."""
        self._connection.executemany("UPDATE url SET tries = ? WHERE row = ?", tries)

    def _write(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        try:
            self._connection.executemany(statement, rows)
        except UnicodeEncodeError:
            cleaned = [tuple(sound(v) if isinstance(v, str) else v for v in row) for row in rows]
            # The rows before the bad one have been inserted already.
            self._connection.executemany(statement.replace("INSERT ", "INSERT OR REPLACE "), cleaned)

    def append_changes(self, columns: Columns, rows: NDArray[np.int32]) -> None:
        """Log the present values of `rows` (each once); rewrites the log when it has grown long."""
        self._columns = columns
        if not len(rows):
            return
        size = len(rows) * RECORD.itemsize
        if self._log_bytes + size > _COMPACT_AT + 2 * columns.size * RECORD.itemsize:
            self._connection.execute("DELETE FROM change")
            self._log_bytes = 0
            rows = np.arange(1, columns.size + 1, dtype=np.int32)
        for start in range(0, len(rows), _CHUNK):
            blob = columns.records(rows[start : start + _CHUNK]).tobytes()
            # Numbers only rise, also when the log is written anew: readers ask for what is beyond their last.
            self._log_number += 1
            self._connection.execute("INSERT INTO change VALUES (?, ?)", (self._log_number, blob))
            self._log_bytes += len(blob)

    def columns(self) -> Columns:
        """Fingerprints, hosts, statuses and priorities of all URLs.

        The writer's frontier shares its arrays; a reader gets those of the last commit, and reads only
        what is new when it asks again.

        Raises:
            CollectionError: the log does not agree with the URLs.
        """
        if self._columns is not None and not self._read_only:
            return self._columns
        columns = self._columns or Columns()
        if self._read_only:
            self._connection.execute("BEGIN")  # both questions about the same commit
        try:
            for number, blob in self._connection.execute(
                "SELECT number, records FROM change WHERE number > ? ORDER BY number", (self._applied,)
            ):
                columns.apply(blob)
                self._applied = number
            (largest,) = self._connection.execute("SELECT coalesce(max(row), 0) FROM url").fetchone()
        finally:
            if self._read_only:
                self._connection.rollback()
        if largest != columns.size:
            raise CollectionError(
                f"the state knows {largest} URLs but logged {columns.size}; restore state.sqlite from a copy"
            )
        self._columns = columns
        return columns

    def row_of(self, url_id: int) -> int:
        """Row of a URL by its fingerprint, 0 when unknown. For readers; the frontier has a faster map."""
        return self.columns().row_of(url_id)

    def url_by_row(self, row: int) -> UrlRecord | None:
        """Everything kept about one URL."""
        found = self._connection.execute("SELECT * FROM url WHERE row = ?", (row,)).fetchone()
        if found is None:
            return None
        values = list(found)
        values[4] = Outcome(values[4])
        values[13:15] = numbers_from_text(values[13]), numbers_from_text(values[14])
        return UrlRecord(*values)

    def url_text(self, row: int) -> str:
        """A URL by its row; empty when unknown."""
        found = self._connection.execute("SELECT url FROM url WHERE row = ?", (row,)).fetchone()
        return "" if found is None else str(found[0])

    def counts(self) -> dict[Outcome, int]:
        """Number of URLs by status."""
        return self.columns().counts()

    def check(self) -> list[str]:
        """Look for contradictions; empty when all is well. Scans the file, so it takes a while."""
        problems = [line for (line,) in self._connection.execute("PRAGMA quick_check") if line != "ok"]
        counted, logged = pages.status_counts(self._connection), self.counts()
        if counted != logged:
            problems.append(f"statuses of URLs differ: table {counted}, log {logged}")
        (orphans,) = self._connection.execute(
            "SELECT count(*) FROM page WHERE row NOT IN (SELECT row FROM url WHERE status != 0)"
        ).fetchone()
        if orphans:
            problems.append(f"{orphans} pages belong to URLs that are unknown or still waiting")
        return problems

    # Hosts

    def hosts(self) -> list[tuple[Host, float]]:
        """All hosts with their penalties, in order of rows."""
        found = self._connection.execute("SELECT * FROM host ORDER BY row")
        make: Callable[..., Host] = Host
        return [(make(*row[:12], bool(row[12])), row[13]) for row in found]

    def save_hosts(self, hosts: Iterable[tuple[Host, float]]) -> None:
        """Write host records with their penalties."""
        self._connection.executemany(
            "INSERT OR REPLACE INTO host VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            [(*msgspec.structs.astuple(host), penalty) for host, penalty in hosts],
        )

    # Pages and links

    def save_page(self, page: PageRecord, links: Sequence[int] = ()) -> None:
        """Keep a fetched page with the rows of its links' targets."""
        pages.save_page(self._connection, page, links)

    def change_verdict(self, row: int, verdict: Verdict) -> None:
        """Give a page another verdict than it had when it was fetched."""
        pages.change_verdict(self._connection, row, verdict)

    def page_by_row(self, row: int) -> PageRecord | None:
        """One page, or None when the URL was not fetched."""
        return pages.page_by_row(self._connection, row)

    def page_by_digest(self, digest: str) -> int:
        """Row of the first page with this payload digest; 0 for none."""
        return pages.page_by_digest(self._connection, digest)

    def pages(self, *, after: int = 0, on_topic: bool | None = None) -> Iterator[PageRecord]:
        """Pages numbered above `after`, in order of fetching, read in small batches."""
        return pages.pages(self._connection, after=after, on_topic=on_topic)

    def addresses(self, *, after: int = 0) -> Iterator[tuple[int, str, NDArray[np.int32], int, int]]:
        """Row, URL, rows of links, page copied (0: none) and length of text of pages, in order of fetching.

        Args:
            after: Only pages with a higher number.
        """
        return pages.addresses(self._connection, after=after)

    def rows_on_topic(self) -> list[int]:
        """Rows of the pages on topic, in order of fetching."""
        found = self._connection.execute("SELECT row FROM page WHERE on_topic = 1 ORDER BY number")
        return [row for (row,) in found]

    def page_count(self) -> int:
        """Number of pages kept."""
        (count,) = self._connection.execute("SELECT count(*) FROM page").fetchone()
        return int(count)

    def simhashes(self) -> list[tuple[int, int]]:
        """(row, SimHash) of the pages that are no duplicates, in order of fetching."""
        found = self._connection.execute(
            "SELECT row, simhash FROM page WHERE duplicate_of = 0 AND near_duplicate_of = 0 ORDER BY number"
        )
        return [(row, simhash & ((1 << 64) - 1)) for row, simhash in found]

    def links(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Rows of sources and targets of every link, in order of fetching."""
        return pages.all_links(self._connection)

    def links_of(self, row: int) -> NDArray[np.int32]:
        """Rows of the targets of one page."""
        return pages.links_of(self._connection, row)

    def in_links(self, row: int) -> list[int]:
        """Rows of the pages that link to `row`; scans all pages' links."""
        return pages.in_links(self._connection, row)

    def scores(self) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Rows and scores of all pages."""
        return pages.scores(self._connection)

    def verdicts(self) -> tuple[NDArray[np.int32], NDArray[np.bool_], NDArray[np.float32]]:
        """Rows, verdicts and scores of all pages, in order of fetching."""
        return pages.verdicts(self._connection)

    def duplicates(self) -> list[tuple[int, int, int]]:
        """(row, equal page's row, near page's row) of the pages that repeat another."""
        return pages.duplicates(self._connection)

    def path_from_seed(self, row: int) -> list[int]:
        """Rows from a seed to `row`."""
        return pages.path_from_seed(self._connection, row)

    # Journal

    def append_event(self, kind: str, url: str, data: dict[str, object], *, at: float) -> Event:
        """Add one event to the journal."""
        return self.journal.append(kind, url, data, at=at)

    def events(self, *, after: int = 0, kind: str = "") -> Iterator[Event]:
        """Events numbered above `after`, oldest first."""
        return self.journal.events(after=after, kind=kind)

    def events_of(self, url: str) -> list[Event]:
        """Events about one URL, oldest first; scans the journal."""
        return self.journal.events_of(url)

    def dump_journal(self, path: Path) -> int:
        """Write the journal as JSON lines; equal journals give equal bytes. Returns the number of lines."""
        with path.open("wb") as file:
            return self.journal.dump(file)

    # Sessions and settings

    def start_session(self, at: float, *, version: str) -> int:
        """Note that a run begins; returns its number."""
        cursor = self._connection.execute(
            "INSERT INTO session (start, stop, reason, version) VALUES (?, NULL, '', ?)", (at, version)
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def stop_session(self, number: int, at: float, *, reason: str) -> None:
        """Note that a run ended in order."""
        self._connection.execute(
            "UPDATE session SET stop = ?, reason = ? WHERE number = ?", (at, sound(reason), number)
        )

    def sessions(self) -> list[Session]:
        """All runs; one without a stop is running or has crashed."""
        return [Session(*row) for row in self._connection.execute("SELECT * FROM session ORDER BY number")]

    def setting(self, key: str, default: object = None) -> object:
        """A value kept by `put_setting`."""
        found = self._connection.execute("SELECT value FROM setting WHERE key = ?", (key,)).fetchone()
        return default if found is None else msgspec.json.decode(found[0])

    def settings(self, prefix: str) -> Iterator[tuple[str, object]]:
        """Settings whose keys begin with `prefix`, which must not be empty, in order of their keys."""
        found = self._connection.execute(
            "SELECT key, value FROM setting WHERE key >= ? AND key < ? ORDER BY key",
            (prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)),
        )
        for key, value in found:
            yield key, msgspec.json.decode(value)

    def put_setting(self, key: str, value: object) -> None:
        """Keep a JSON value: counters, checkpoint and archive positions, the clock."""
        text = msgspec.json.encode(value, order="sorted").decode()
        self._connection.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (key, text))
