"""The state of a crawl in one SQLite file: URLs, hosts, pages, journal, sessions, settings.

One writer. Changes gather in one open transaction until `commit`; a crash takes the file back to the last
commit. Readers (`why`, the portal, exports) open the same file read-only while the crawl runs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.errors import CollectionError
from honeyguide.failpoint import failpoint
from honeyguide.model import Event, Host, Outcome, Verdict
from honeyguide.store.change_log import ChangeLog
from honeyguide.store.checked import (
    event_record,
    host_records,
    page_record,
    reading,
    session_record,
    url_record,
    web_address,
)
from honeyguide.store.columns import RECORD, Columns
from honeyguide.store.history import History
from honeyguide.store.lock import Lock
from honeyguide.store.records import NewUrl, PageAddress, PageRecord, Replacement, Session, UrlRecord
from honeyguide.store.schema import connect

_LAST_EVENT = "SELECT coalesce(max(number), 0) FROM journal"
_INSERT_URL = "INSERT INTO url VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
_REPLACE_LINK = (
    "UPDATE url SET host = ?, status = ?, priority = ?, depth = ?, redirects = ?, parent = ?, source = ?,"
    " anchor = ?, context = ?, factors = ?, memo = ?, reason = ? WHERE row = ?"
)
_PAGE_FIELDS = PageRecord.__struct_fields__[:-2]
"""The columns of table `page` but for the links; url and id come from table `url`."""
_REPLACE_PAGE = (
    f"UPDATE page SET {', '.join(f'{name} = ?' for name in _PAGE_FIELDS)}, links = ? WHERE row = ?"  # noqa: S608
)
_INSERT_PAGE = f"INSERT INTO page VALUES (?{', ?' * len(_PAGE_FIELDS)})"  # noqa: S608 - only question marks
_SELECT_PAGE = (
    f"SELECT {', '.join(f'page.{name}' for name in _PAGE_FIELDS)}, url.url, url.id"  # noqa: S608 - our own names
    " FROM page JOIN url ON url.row = page.row"
)
_ROBOTS = "robots:"
"""Settings that hold a robots.txt have keys that begin like this."""
_PAGES_AT_ONCE = 500
_HOSTS_AT_ONCE = 500
_EVENTS_AT_ONCE = 1000
_Verdicts = list[tuple[int, str, int, float, int]]
_encode = msgspec.json.Encoder().encode
_encode_sorted = msgspec.json.Encoder(order="sorted").encode


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
        self._events: list[tuple[int, float, str, str, str]] = []
        """Journal entries that the open transaction does not have yet."""
        self.last_event: int = connection.execute(_LAST_EVENT).fetchone()[0]
        """Number of the newest event."""
        self._columns: Columns | None = None
        self._applied = 0
        """Number of the last log entry that `_columns` has."""
        self._log = ChangeLog(connection)
        self.history = History(connection, is_writer=not read_only)
        """Later visits, and versions that were replaced."""

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
        self._flush_events()
        self._connection.commit()

    def rollback(self) -> None:
        """Forget everything since the last commit. A frontier on this state must be built again."""
        self._connection.rollback()
        self._events.clear()
        (self.last_event,) = self._connection.execute(_LAST_EVENT).fetchone()
        self._columns = None
        self._applied = 0
        self._log = ChangeLog(self._connection)

    def close(self) -> None:
        """Close the file; what was not committed is lost. A second call does nothing."""
        self._connection.close()
        if self._lock is not None:
            self._lock.close()

    # URLs

    def add_urls(self, urls: Sequence[NewUrl]) -> None:
        """Insert new URLs; rows must follow on from the last."""
        self._write(_INSERT_URL, urls)

    def replace_links(self, replacements: Sequence[Replacement]) -> None:
        """Give known URLs another link as their reason to be fetched."""
        self._write(_REPLACE_LINK, replacements)

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
        """Log the present values of `rows` (each once)."""
        self._columns = columns
        self._log.append(columns, rows)

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
            if not columns.size:
                # All at once, with a tenth to spare: growing step by step would copy ten million rows often.
                (logged,) = self._connection.execute("SELECT total(length(records)) FROM change").fetchone()
                (rows,) = self._connection.execute("SELECT coalesce(max(row), 0) FROM url").fetchone()
                columns.reserve(min(int(logged) // RECORD.itemsize, rows) * 11 // 10 + 1)
            for number, blob in self._connection.execute(
                "SELECT number, records FROM change WHERE number > ? ORDER BY number", (self._applied,)
            ):
                with reading("changes"):
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
        with reading("URLs"):
            return None if found is None else url_record(found)

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
        statuses = self._connection.execute("SELECT status, count(*) FROM url GROUP BY status")
        with reading("URLs"):
            counted = {Outcome(status): count for status, count in statuses}
        logged = self.counts()
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
        """All hosts with their penalties, in order of rows. There may be half a million."""
        hosts: list[tuple[Host, float]] = []
        domains: dict[str, str] = {}
        rows = self._connection.execute("SELECT * FROM host ORDER BY row")
        # A few at a time: long tuples by the hundred thousand keep the garbage collector busy.
        while found := rows.fetchmany(_HOSTS_AT_ONCE):
            with reading("hosts"):
                hosts += host_records(found, domains)
        return hosts

    def save_hosts(self, hosts: Iterable[tuple[Host, float]]) -> None:
        """Write host records with their penalties."""
        self._connection.executemany(
            "INSERT OR REPLACE INTO host VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            [(*msgspec.structs.astuple(host), penalty) for host, penalty in hosts],
        )

    # Pages and links

    def save_page(self, page: PageRecord, links: Sequence[int] | NDArray[np.int32] = ()) -> None:
        """Keep a fetched page with the rows of its links' targets."""
        self._connection.execute(_INSERT_PAGE, self._page_values(page, links))

    def replace_page(self, page: PageRecord, links: Sequence[int], *, until: float) -> None:
        """Put another version in a page's place; the one before is kept as a version of its own.

        Args:
            page: The new version, with row and number of the old one.
            links: Rows of its links' targets.
            until: When the old one stopped to be the newest.
        """
        self.history.set_aside(page.row, until)
        failpoint("revisit.version")
        self._connection.execute(_REPLACE_PAGE, (*self._page_values(page, links), page.row))

    @staticmethod
    def _page_values(page: PageRecord, links: Sequence[int] | NDArray[np.int32]) -> list[object]:
        values: list[object] = list(msgspec.structs.astuple(page)[:-2])
        values[4:7] = [sound(page.content_type), sound(page.title), sound(page.language)]
        values[9] = _terms_text(page.terms)
        values[10] = numbers_to_text(page.facts)
        # SQLite integers are signed; a SimHash is 64 plain bits.
        values[12] = page.simhash - (1 << 64) if page.simhash >= 1 << 63 else page.simhash
        values.append(np.asarray(links, "<i4").tobytes())
        return values

    def change_verdict(self, row: int, verdict: Verdict) -> None:
        """Give a page another verdict than it had when it was fetched."""
        self._connection.execute(
            "UPDATE page SET score = ?, on_topic = ?, terms = ?, facts = ? WHERE row = ?",
            (
                verdict.score,
                verdict.on_topic,
                _terms_text(verdict.terms),
                numbers_to_text(verdict.facts),
                row,
            ),
        )

    def page_by_row(self, row: int) -> PageRecord | None:
        """One page, or None when the URL was not fetched."""
        found = self._connection.execute(f"{_SELECT_PAGE} WHERE page.row = ?", (row,)).fetchone()
        with reading("pages"):
            return None if found is None else page_record(found)

    def verdicts_of(self, rows: Sequence[int]) -> dict[int, tuple[str, int, float, bool]]:
        """URL, number, score and verdict of pages by row; rows that are no pages are left out."""
        found: dict[int, tuple[str, int, float, bool]] = {}
        for start in range(0, len(rows), _PAGES_AT_ONCE):
            some = rows[start : start + _PAGES_AT_ONCE]
            marks = ",".join("?" * len(some))
            query = (
                "SELECT page.row, url.url, page.number, page.score, page.on_topic"  # noqa: S608 - question marks
                f" FROM page JOIN url ON url.row = page.row WHERE page.row IN ({marks})"
            )
            with reading("pages"):
                told = self._connection.execute(query, some).fetchall()
                for row, url, number, score, on_topic in msgspec.convert(told, _Verdicts):
                    found[row] = (url, number, score, bool(on_topic))
        return found

    def page_by_digest(self, digest: str) -> int:
        """Row of the first page with this payload digest; 0 for none."""
        (row,) = self._connection.execute(
            "SELECT coalesce(min(row), 0) FROM page WHERE digest = ? AND duplicate_of = 0", (digest,)
        ).fetchone()
        return int(row)

    def holder_of(self, digest: str) -> PageRecord | None:
        """The page, or version of one, whose archived answer holds the bytes of this digest."""
        return self.page_by_row(self.page_by_digest(digest)) or self.history.payload_of(digest)

    def archived_last(self, most: int) -> list[PageRecord]:
        """The pages that were archived last, newest first."""
        found = self._connection.execute(
            f"{_SELECT_PAGE} WHERE page.file != '' ORDER BY page.number DESC LIMIT ?", (most,)
        ).fetchall()
        with reading("pages"):
            return [page_record(row) for row in found]

    def pages(self, *, after: int = 0, on_topic: bool | None = None) -> Iterator[PageRecord]:
        """Pages numbered above `after`, in order of fetching, read in small batches."""
        only = "" if on_topic is None else f" AND page.on_topic = {int(on_topic)}"
        while True:
            rows = self._connection.execute(
                f"{_SELECT_PAGE} WHERE page.number > ?{only} ORDER BY page.number LIMIT ?",
                (after, _PAGES_AT_ONCE),
            ).fetchall()
            for row in rows:
                with reading("pages"):
                    record = page_record(row)
                yield record
            if len(rows) < _PAGES_AT_ONCE:
                return
            after = rows[-1][1]

    def pages_as_of(self, moment: float, *, on_topic: bool | None = None) -> Iterator[PageRecord]:
        """Pages as they were at a moment, in order of first fetching: fetched by then, and not gone.

        Args:
            moment: On the crawl's clock.
            on_topic: Only pages with this verdict then.
        """
        before = {page.row: page for _, page, _ in self.history.versions(as_of=moment)}
        gone = self.history.gone(as_of=moment)
        for page in self.pages():
            then = page if page.at <= moment else before.get(page.row)
            if then is not None and page.row not in gone and on_topic in (None, then.on_topic):
                yield then

    def addresses(self, *, after: int = 0) -> Iterator[PageAddress]:
        """What the trap rules go by, of pages in order of fetching.

        Args:
            after: Only pages with a higher number.
        """
        found = self._connection.execute(
            "SELECT p.row, url.url, p.links, p.duplicate_of, p.near_duplicate_of, p.text_bytes, p.on_topic,"
            " url.source, twin.simhash = p.simhash, twin.title = p.title"
            " FROM page AS p JOIN url ON url.row = p.row LEFT JOIN page AS twin"
            " ON twin.row = CASE p.duplicate_of WHEN 0 THEN p.near_duplicate_of ELSE p.duplicate_of END"
            " WHERE p.number > ? ORDER BY p.number",
            (after,),
        )
        for row, url, links, exact, near, length, on_topic, source, words, title in found:
            with reading("pages"):
                address = PageAddress(
                    row=row,
                    url=web_address(url),
                    links=np.frombuffer(links, "<i4"),
                    copied=msgspec.convert(exact or near, int),
                    length=msgspec.convert(length, int),
                    on_topic=bool(on_topic),
                    source=msgspec.convert(source, str),
                    same_words=bool(exact or words),
                    same_title=bool(title),
                )
            yield address

    def never_pages(self) -> Iterator[str]:
        """Addresses that were asked for and have no page: not found, gone, or a file of another kind."""
        found = self._connection.execute(
            "SELECT url FROM url WHERE status = ? OR (status = ? AND reason IN ('HTTP 404', 'HTTP 410'))",
            (Outcome.NOT_A_PAGE, Outcome.CLIENT_ERROR),
        )
        for (url,) in found:
            with reading("URLs"):
                address = web_address(url)
            yield address

    def likeness(self, row: int) -> tuple[int, str]:
        """SimHash and title of a page; 0 and nothing when there is none."""
        found = self._connection.execute("SELECT simhash, title FROM page WHERE row = ?", (row,)).fetchone()
        with reading("pages"):
            return (found[0] & ((1 << 64) - 1), str(found[1])) if found else (0, "")

    def rows_on_topic(self) -> list[int]:
        """Rows of the pages on topic, in order of fetching."""
        found = self._connection.execute("SELECT row FROM page WHERE on_topic = 1 ORDER BY number")
        return [row for (row,) in found]

    def rows_in_language(self, language: str) -> list[int]:
        """Rows of the pages in a language, such as `en`."""
        found = self._connection.execute("SELECT row FROM page WHERE language = ?", (language,))
        return [row for (row,) in found]

    def page_count(self) -> int:
        """Number of pages kept."""
        (count,) = self._connection.execute("SELECT count(*) FROM page").fetchone()
        return int(count)

    def simhashes(self) -> list[tuple[int, int]]:
        """(row, SimHash) of the pages that are not duplicates, in order of fetching."""
        found = self._connection.execute(
            "SELECT row, simhash FROM page WHERE duplicate_of = 0 AND near_duplicate_of = 0 ORDER BY number"
        )
        with reading("pages"):
            return [(row, simhash & ((1 << 64) - 1)) for row, simhash in found]

    def links(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Rows of sources and targets of every link, in order of fetching."""
        sources: list[int] = []
        lengths: list[int] = []
        blobs: list[bytes] = []
        with reading("links"):
            for row, blob in self._connection.execute("SELECT row, links FROM page ORDER BY number"):
                sources.append(row)
                lengths.append(len(blob) // 4)
                blobs.append(blob)
            targets = np.frombuffer(b"".join(blobs), "<i4").astype(np.int32)
            return np.repeat(np.asarray(sources, np.int32), lengths), targets

    def links_of(self, row: int) -> NDArray[np.int32]:
        """Rows of the targets of one page."""
        found = self._connection.execute("SELECT links FROM page WHERE row = ?", (row,)).fetchone()
        with reading("links"):
            return np.zeros(0, np.int32) if found is None else np.frombuffer(found[0], "<i4").astype(np.int32)

    def in_links(self, row: int) -> list[int]:
        """Rows of the pages that link to `row`; scans all pages' links."""
        wanted = np.asarray([row], "<i4").tobytes()
        found = self._connection.execute(
            "SELECT row, links FROM page WHERE instr(links, ?) > 0 ORDER BY number", (wanted,)
        )
        # instr also matches across the borders of two numbers, hence the second look.
        with reading("links"):
            return [source for source, blob in found if row in np.frombuffer(blob, "<i4")]

    def scores(self) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Rows and scores of all pages."""
        found = self._connection.execute("SELECT row, score FROM page ORDER BY number").fetchall()
        with reading("pages"):
            rows = np.fromiter((row for row, _ in found), np.int32, len(found))
            return rows, np.fromiter((score for _, score in found), np.float32, len(found))

    def verdicts(self) -> tuple[NDArray[np.int32], NDArray[np.bool_], NDArray[np.float32]]:
        """Rows, verdicts and scores of all pages, in order of fetching."""
        found = self._connection.execute("SELECT row, on_topic, score FROM page ORDER BY number").fetchall()
        size = len(found)
        with reading("pages"):
            return (
                np.fromiter((row for row, _, _ in found), np.int32, size),
                np.fromiter((on_topic != 0 for _, on_topic, _ in found), np.bool_, size),
                np.fromiter((score for _, _, score in found), np.float32, size),
            )

    def duplicates(self) -> list[tuple[int, int, int]]:
        """(row, equal page's row, near page's row) of the pages that repeat another."""
        return self._connection.execute(
            "SELECT row, duplicate_of, near_duplicate_of FROM page"
            " WHERE duplicate_of != 0 OR near_duplicate_of != 0 ORDER BY number"
        ).fetchall()

    def path_from_seed(self, row: int) -> list[int]:
        """Rows from a seed to `row`."""
        path: list[int] = []
        seen: set[int] = set()
        while row and row not in seen:
            seen.add(row)
            path.append(row)
            found = self._connection.execute("SELECT parent FROM url WHERE row = ?", (row,)).fetchone()
            row = 0 if found is None else found[0]
        path.reverse()
        return path

    # Journal

    def append_event(self, kind: str, url: str, data: dict[str, object], *, at: float) -> Event:
        """Add one event to the journal; it reaches the table with the next commit, or when events are read.

        `data` is written with sorted keys and without spaces, so that equal crawls have equal journals.
        """
        try:
            text = _encode_sorted(data).decode()
            url.encode()
        except UnicodeEncodeError:
            data = {sound(key): _sound_values(value) for key, value in data.items()}
            text, url = _encode_sorted(data).decode(), sound(url)
        self.last_event += 1
        self._events.append((self.last_event, at, kind, url, text))
        return Event(number=self.last_event, at=at, kind=kind, url=url, data=data)

    def events(self, *, after: int = 0, kind: str = "") -> Iterator[Event]:
        """Events numbered above `after`, of one kind if it is given, oldest first."""
        for row in self._event_rows(after):
            if not kind or row[2] == kind:
                with reading("journal entries"):
                    event = event_record(row)
                yield event

    def events_of(self, url: str) -> list[Event]:
        """Events about one URL, oldest first; scans the journal."""
        self._flush_events()
        rows = self._connection.execute(
            "SELECT number, at, kind, url, data FROM journal WHERE url = ? ORDER BY number", (url,)
        )
        with reading("journal entries"):
            return [event_record(row) for row in rows]

    def dump_journal(self, path: Path) -> int:
        """Write the journal as JSON lines; equal journals give equal bytes. Returns the number of lines."""
        count = 0
        with path.open("wb") as file:
            for number, at, kind, url, data in self._event_rows(0):
                with reading("journal entries"):
                    head = _encode_sorted({"at": at, "kind": kind, "number": number, "url": url})
                    line = b'{"data":' + data.encode() + b"," + head[1:] + b"\n"
                file.write(line)
                count += 1
        return count

    def _flush_events(self) -> None:
        if self._events:
            self._connection.executemany("INSERT INTO journal VALUES (?, ?, ?, ?, ?)", self._events)
            self._events.clear()

    def _event_rows(self, after: int) -> Iterator[tuple[int, float, str, str, str]]:
        """Rows in batches, so that a slow reader holds no transaction open."""
        self._flush_events()
        while True:
            rows = self._connection.execute(
                "SELECT number, at, kind, url, data FROM journal WHERE number > ? ORDER BY number LIMIT ?",
                (after, _EVENTS_AT_ONCE),
            ).fetchall()
            yield from rows
            if len(rows) < _EVENTS_AT_ONCE:
                return
            after = rows[-1][0]

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
        found = self._connection.execute("SELECT * FROM session ORDER BY number")
        with reading("sessions"):
            return [session_record(row) for row in found]

    def setting(self, key: str, default: object = None) -> object:
        """A value kept by `put_setting`."""
        found = self._connection.execute("SELECT value FROM setting WHERE key = ?", (key,)).fetchone()
        with reading("settings"):
            return default if found is None else msgspec.json.decode(found[0])

    def settings(self, prefix: str) -> Iterator[tuple[str, object]]:
        """Settings whose keys begin with `prefix`, which must not be empty, in order of their keys."""
        found = self._connection.execute(
            "SELECT key, value FROM setting WHERE key >= ? AND key < ? ORDER BY key",
            (prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)),
        )
        for key, value in found:
            with reading("settings"):
                decoded = msgspec.json.decode(value)
            yield str(key), decoded

    def robots(self, origin: str) -> tuple[int, bytes, float] | None:
        """Status, body and time of an origin's robots.txt as the crawl last saw it."""
        return _robots_answer(self.setting(f"{_ROBOTS}{origin}"))

    def all_robots(self) -> Iterator[tuple[str, int, bytes, float]]:
        """Origin, status, body and time of every robots.txt that was read, by origin."""
        for key, value in self.settings(_ROBOTS):
            answer = _robots_answer(value)
            if answer is not None:
                yield key.removeprefix(_ROBOTS), *answer

    def put_robots(self, origin: str, status: int, body: bytes, at: float) -> None:
        """Keep a robots.txt."""
        self.put_setting(f"{_ROBOTS}{origin}", [status, body.decode("latin-1"), at])

    def remove_settings(self, first: str, last: str) -> None:
        """Forget the values whose keys lie between two keys, both among them."""
        self._connection.execute("DELETE FROM setting WHERE key >= ? AND key <= ?", (first, last))

    def put_setting(self, key: str, value: object) -> None:
        """Keep a JSON value: counters, checkpoint and archive positions, the clock."""
        text = msgspec.json.encode(value, order="sorted").decode()
        self._connection.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (key, text))


def _robots_answer(held: object) -> tuple[int, bytes, float] | None:
    if not isinstance(held, list) or len(held) != 3:
        return None
    status, body, at = held
    with reading("robots files"):
        return int(status), str(body).encode("latin-1"), float(at)


def _terms_text(terms: Sequence[tuple[str, float]]) -> str:
    return sound(_encode(terms).decode()) if terms else ""


def numbers_to_text(values: dict[str, float]) -> str:
    """JSON of a small dict of numbers; empty for an empty one, which is the most frequent case."""
    return _encode(values).decode() if values else ""


def sound(text: str) -> str:
    """`text` without lone surrogates, which hostile pages can smuggle in and UTF-8 cannot hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _sound_values(value: object) -> object:
    if isinstance(value, str):
        return sound(value)
    if isinstance(value, dict):
        return {sound(str(key)): _sound_values(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_sound_values(item) for item in value]
    return value
