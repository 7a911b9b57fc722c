"""The tables of `state.sqlite`, and opening such a file without trusting it.

A collection may come from someone else, so the file is checked before anything is read: it must carry
our application id and version, and hold our tables and nothing else (no triggers or views that would run
when we write).
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from honeyguide.errors import CollectionError
from honeyguide.failpoint import failpoint
from honeyguide.store.disk_trouble import disk_trouble
from honeyguide.store.plain import require_plain_database
from honeyguide.store.reading import open_to_read

APPLICATION_ID = 0x686F6E65
"""`hone` in ASCII; `file` and SQLite show it."""
VERSION = 2
"""2 has the tables of pages that were visited again; files of version 1 are read, and brought up to it by a
writer."""

TABLES: dict[str, str] = {
    "url": """CREATE TABLE url (
        row INTEGER PRIMARY KEY, id INTEGER NOT NULL, url TEXT NOT NULL, host INTEGER NOT NULL,
        status INTEGER NOT NULL, priority REAL NOT NULL, depth INTEGER NOT NULL, redirects INTEGER NOT NULL,
        tries INTEGER NOT NULL, parent INTEGER NOT NULL, source TEXT NOT NULL, anchor TEXT NOT NULL,
        context TEXT NOT NULL, factors TEXT NOT NULL, memo TEXT NOT NULL, reason TEXT NOT NULL)""",
    "change": """CREATE TABLE change (number INTEGER PRIMARY KEY, records BLOB NOT NULL)""",
    "host": """CREATE TABLE host (
        row INTEGER PRIMARY KEY, name TEXT NOT NULL, domain TEXT NOT NULL, ip TEXT NOT NULL,
        ready_at REAL NOT NULL, delay REAL NOT NULL, crawl_delay REAL NOT NULL, failures INTEGER NOT NULL,
        requests INTEGER NOT NULL, fetched INTEGER NOT NULL, relevant INTEGER NOT NULL,
        recent REAL NOT NULL, given_up INTEGER NOT NULL, penalty REAL NOT NULL)""",
    "page": """CREATE TABLE page (
        row INTEGER PRIMARY KEY, number INTEGER NOT NULL, at REAL NOT NULL, status INTEGER NOT NULL,
        content_type TEXT NOT NULL, title TEXT NOT NULL, language TEXT NOT NULL, score REAL NOT NULL,
        on_topic INTEGER NOT NULL, terms TEXT NOT NULL, facts TEXT NOT NULL, digest TEXT NOT NULL,
        simhash INTEGER NOT NULL, duplicate_of INTEGER NOT NULL, near_duplicate_of INTEGER NOT NULL,
        bytes INTEGER NOT NULL, text_bytes INTEGER NOT NULL, depth INTEGER NOT NULL, file TEXT NOT NULL,
        offset INTEGER NOT NULL, length INTEGER NOT NULL, links BLOB NOT NULL)""",
    "page_number": "CREATE UNIQUE INDEX page_number ON page (number)",
    "page_digest": "CREATE INDEX page_digest ON page (digest)",
    "visit": """CREATE TABLE visit (
        number INTEGER PRIMARY KEY, row INTEGER NOT NULL, at REAL NOT NULL, what INTEGER NOT NULL,
        status INTEGER NOT NULL, digest TEXT NOT NULL, score REAL NOT NULL, on_topic INTEGER NOT NULL,
        file TEXT NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL, known INTEGER NOT NULL,
        reason TEXT NOT NULL)""",
    "visit_row": "CREATE INDEX visit_row ON visit (row)",
    "visit_digest": "CREATE INDEX visit_digest ON visit (digest)",
    "version": """CREATE TABLE version (
        number INTEGER PRIMARY KEY, until REAL NOT NULL, row INTEGER NOT NULL, page INTEGER NOT NULL,
        at REAL NOT NULL, status INTEGER NOT NULL,
        content_type TEXT NOT NULL, title TEXT NOT NULL, language TEXT NOT NULL, score REAL NOT NULL,
        on_topic INTEGER NOT NULL, terms TEXT NOT NULL, facts TEXT NOT NULL, digest TEXT NOT NULL,
        simhash INTEGER NOT NULL, duplicate_of INTEGER NOT NULL, near_duplicate_of INTEGER NOT NULL,
        bytes INTEGER NOT NULL, text_bytes INTEGER NOT NULL, depth INTEGER NOT NULL, file TEXT NOT NULL,
        offset INTEGER NOT NULL, length INTEGER NOT NULL, links BLOB NOT NULL)""",
    "version_row": "CREATE INDEX version_row ON version (row)",
    "version_digest": "CREATE INDEX version_digest ON version (digest)",
    "hint": "CREATE TABLE hint (row INTEGER PRIMARY KEY, changed REAL NOT NULL)",
    "journal": """CREATE TABLE journal (
        number INTEGER PRIMARY KEY, at REAL NOT NULL, kind TEXT NOT NULL, url TEXT NOT NULL,
        data TEXT NOT NULL)""",
    "session": """CREATE TABLE session (
        number INTEGER PRIMARY KEY, start REAL NOT NULL, stop REAL, reason TEXT NOT NULL,
        version TEXT NOT NULL)""",
    "setting": "CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
}
"""What an open file must hold, by name: exactly these statements."""
WAL_PAGES = 2_000
"""Pages of the write-ahead log, 8 MB, before they are copied into the file. With SQLite's usual thousand,
what changes all the time is copied more often; with many more, copying would hold the crawl up."""
SINCE_2 = ("visit", "visit_row", "visit_digest", "version", "version_row", "version_digest", "hint")
"""What files of version 1 lack."""


_LOST = (
    "{path} is {what}, but there are pages in {folder}: restore the state from a copy,"
    " or start again in another folder"
)


def _has_pages(path: Path) -> bool:
    return any((path.parent / "archive").glob("*.warc.gz"))


def connect(path: Path | None, *, read_only: bool = False, synchronous: str = "NORMAL") -> sqlite3.Connection:
    """Open or create a state file; None is a state in memory.

    Raises:
        CollectionError: the file is missing (read-only), foreign, of another version, or altered.
    """
    if synchronous not in {"NORMAL", "FULL"}:
        raise CollectionError(f"synchronous = {synchronous!r} is not known; use NORMAL or FULL")
    if path is None:
        # Read by another thread than it was written by when a notebook's loop is running.
        connection = sqlite3.connect(":memory:", isolation_level="IMMEDIATE", check_same_thread=False)
        _create(connection)
        return connection
    if read_only and not path.is_file():
        if _has_pages(path):
            raise CollectionError(_LOST.format(path=path, what="missing", folder=path.parent / "archive"))
        raise CollectionError(f"there is no collection at {path.parent}; start one with `honeyguide crawl`")
    try:
        connection = _connect_file(path, read_only=read_only)
    except (sqlite3.Error, OSError) as problem:
        raise CollectionError(f"{path} cannot be opened ({problem}); check its permissions") from problem
    try:
        _prepare(connection, path, read_only=read_only, synchronous=synchronous)
    except sqlite3.Error as problem:
        connection.close()
        if read_only and path.with_name(f"{path.name}-journal").exists():
            raise CollectionError(f"the crawl of {path.parent} died while it began; resume it") from problem
        raise CollectionError(
            disk_trouble(path, problem)
            or f"{path} is not a readable state file ({problem}); move it away or use another folder"
        ) from problem
    except CollectionError:
        connection.close()
        raise
    return connection


def _connect_file(path: Path, *, read_only: bool) -> sqlite3.Connection:
    if read_only:
        return open_to_read(path)
    require_plain_database(path, writing=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    return sqlite3.connect(path, isolation_level="IMMEDIATE")


def _prepare(connection: sqlite3.Connection, path: Path, *, read_only: bool, synchronous: str) -> None:
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    (objects,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if objects == 0 and application in (0, APPLICATION_ID):
        # New, or a crawl died after the file was begun and before its tables were committed.
        if read_only and _has_pages(path):
            raise CollectionError(_LOST.format(path=path, what="empty", folder=path.parent / "archive"))
        if read_only:
            raise CollectionError(f"the crawl of {path.parent} died before it began; resume it")
        connection.execute("PRAGMA journal_mode = WAL")
        failpoint("begin.state")
        _create(connection)
    version = _check(connection, path)
    if read_only and version == 1:
        _lend_tables(connection)
    if not read_only:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute("PRAGMA cache_size = -32000")
        connection.execute("PRAGMA journal_size_limit = 67108864")
        connection.execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
        if version == 1:
            _upgrade(connection)


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for statement in TABLES.values():
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.commit()


def _upgrade(connection: sqlite3.Connection) -> None:
    """Bring a file of version 1 up to this one: new tables, all at once or not at all."""
    connection.execute("BEGIN IMMEDIATE")
    for name in SINCE_2:
        connection.execute(TABLES[name])
    failpoint("upgrade.state")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.commit()


def _lend_tables(connection: sqlite3.Connection) -> None:
    """Empty tables beside a file of version 1 that is only read, so that readers need not ask which it is."""
    for name in ("visit", "version", "hint"):
        connection.execute(TABLES[name].replace("CREATE TABLE", "CREATE TEMP TABLE", 1))


def _check(connection: sqlite3.Connection, path: Path) -> int:
    """The version of a file that is ours and whole."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID:
        raise CollectionError(f"{path} was not written by Honeyguide; use another folder for the collection")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if not 1 <= version <= VERSION:
        raise CollectionError(
            f"{path} has state version {version}, this release reads {VERSION}; use the one that wrote it"
        )
    expected = {name: text for name, text in TABLES.items() if version > 1 or name not in SINCE_2}
    found = dict(
        connection.execute("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'")
    )
    for name in sorted(found.keys() ^ expected.keys()):
        raise CollectionError(
            f"{path} has an unexpected or missing table ({name}); it was altered, restore it from a copy"
        )
    for name, statement in expected.items():
        if found[name] != statement:
            raise CollectionError(f"{path} has an altered table ({name}); restore it from a copy")
    return int(version)
