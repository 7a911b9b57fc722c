"""Full text of the relevant pages: SQLite FTS5 beside the state.

The index is written after the state has committed and may lag behind it: on resume the engine asks
`missing(rows)` and adds what is not there. Losing it loses nothing that the archive does not hold.

Only the inverted lists are kept by FTS5 (`content=''`); the text itself is in a table of its own,
compressed, for snippets and for taking a page out again: half of what FTS5's own copy takes. Segments
are merged late (16 at a time), which saves a quarter of the time and costs queries next to nothing.

Texts are put in by a thread of the index's own, in turn, while the caller goes on; everything else waits for
it first, so that nobody sees the difference. It takes many at once: each time that SQLite or the compressor
lets go of Python's lock, the thread and the crawl have to agree again who goes on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from math import inf, nextafter
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec
import zstandard

from honeyguide.errors import CollectionError
from honeyguide.store.aside import Aside
from honeyguide.store.disk_trouble import disk_trouble
from honeyguide.store.index_text import BEFORE_3, TODAY, Query, clean, expand, parse_query, snippet, storable
from honeyguide.store.plain import require_plain_database
from honeyguide.store.reading import open_to_read
from honeyguide.store.word_forms import WordForms

SCHEMA_VERSION = 3
"""2 has the texts of versions that were replaced; an index of version 1 is brought up to it by a writer.
3 writes words down in another way (`index_text.TODAY`); an index keeps the way that it began with."""
MAX_TEXT_CHARACTERS = 200_000
_MAX_TEXT_BYTES = 4 * MAX_TEXT_CHARACTERS
_TITLE_WEIGHT = 5.0
_SCHEMA = """
CREATE TABLE page (
  row INTEGER PRIMARY KEY, url TEXT NOT NULL, host TEXT NOT NULL, title TEXT NOT NULL,
  language TEXT NOT NULL, score REAL NOT NULL, at REAL NOT NULL, text BLOB NOT NULL
) STRICT;
CREATE VIRTUAL TABLE words USING fts5(
  title, text, content='', tokenize="unicode61 remove_diacritics 2{categories}"
);
INSERT INTO words(words, rank) VALUES ('automerge', 16);
INSERT INTO words(words, rank) VALUES ('crisismerge', 64);
"""
_PAST = """
CREATE TABLE past (
  number INTEGER PRIMARY KEY, row INTEGER NOT NULL, url TEXT NOT NULL, host TEXT NOT NULL, title TEXT NOT
  NULL, language TEXT NOT NULL, score REAL NOT NULL, at REAL NOT NULL, until REAL NOT NULL, text BLOB NOT
  NULL, UNIQUE (row, at)
) STRICT;
CREATE VIRTUAL TABLE past_words USING fts5(
  title, text, content='', tokenize="unicode61 remove_diacritics 2{categories}"
);
"""
# Vowel signs are parts of words: without them, SQLite cuts Hindi and Thai words to pieces.
_WITH_MARKS = " categories 'L* N* Co Mn Mc'"
# The inner queries rank without touching texts; only the hits that are shown are read. Pages that say the
# words in rare forms only (`Query.rest`, second) come after all others.
_RANK = """
SELECT {words}.rowid AS number, bm25({words}, {weight}, 1.0) AS rank, ? AS place FROM {words} {join}
WHERE {words} MATCH ?{where}
"""
_SHOWN = """
SELECT found.place, p.row, p.url, p.title, p.text, p.score, -found.rank, p.language, p.at FROM (
  {ranked} ORDER BY place, rank, number LIMIT ? OFFSET ?
) AS found JOIN {table} p ON p.{number} = found.number ORDER BY found.place, found.rank, p.row
"""
_RANKED = "SELECT number FROM ({ranked}) ORDER BY place, rank, number LIMIT ?"
_COUNT = "SELECT count(*) FROM words {join} WHERE words MATCH ?{where}"
AT_ONCE = 64
"""Pages that are put in together, at most."""
MOST_WAITING = 4
"""Pieces of work that may wait for the thread: so many times as many texts, and they may be long."""


class _Text(NamedTuple):
    """A page to be put in."""

    row: int
    url: str
    title: str
    text: str
    language: str
    score: float
    at: float


class _Among(NamedTuple):
    """What is searched."""

    words: str
    """The full-text table."""
    table: str
    """The one with what is shown."""
    number: str
    """What the rows of both are called there."""

    @property
    def join(self) -> str:
        return f"JOIN {self.table} p ON p.{self.number} = {self.words}.rowid"


_NEWEST = _Among("words", "page", "row")
_REPLACED = _Among("past_words", "past", "number")


class Hit(msgspec.Struct, frozen=True):
    """A page that matches."""

    row: int
    url: str
    title: str
    snippet: str
    score: float
    """The page's relevance to the topic."""
    rank: float
    """How well it matches the query (BM25); higher is better."""
    language: str = ""
    at: float = 0.0
    gone: str = ""
    """Since when the page is gone (UTC, ISO 8601); empty for one that is there. Readers of a collection fill
    it."""


class FullText:
    """The index of one collection. One writer; readers may open it at the same time, read-only."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._opened = connection
        self._aside = Aside("index", most=MOST_WAITING)
        self._texts: list[_Text] = []
        """What the thread is given next."""
        self._path = path
        self._has_past = True
        self._spelling = TODAY
        self._forms: WordForms | None = None
        self._shown: tuple[str, tuple[tuple[str, ...], ...]] = ("", ())
        self.changes = 0
        """Texts put in or taken out since the last commit."""
        self._compressor = zstandard.ZstdCompressor(level=1, write_content_size=True)

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False) -> FullText:
        """Open an index, or create it unless `read_only`.

        Raises:
            CollectionError: It is missing, damaged, of another kind or of a newer version.
        """
        if read_only and not path.is_file():
            raise CollectionError(f"{path}: no index yet; crawl first")
        try:
            connection = _connect(path, read_only=read_only)
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
            if not read_only and version == 0 and empty:
                tables = (_SCHEMA + _PAST).format(categories=_WITH_MARKS)
                connection.executescript(f"BEGIN;{tables}PRAGMA user_version={SCHEMA_VERSION};COMMIT;")
                version = SCHEMA_VERSION
            elif not read_only and version == 1:
                tables = _PAST.format(categories="")
                connection.executescript(f"BEGIN;{tables}PRAGMA user_version=2;COMMIT;")
                version = 2
        except sqlite3.Error as error:
            told = disk_trouble(path, error) or f"{path}: {error}; delete it, and the next run rebuilds it"
            raise CollectionError(told) from error
        if not 1 <= version <= SCHEMA_VERSION:
            connection.close()
            raise CollectionError(
                f"{path} has index version {version}, this honeyguide reads up to {SCHEMA_VERSION};"
                " use a newer one, or delete the file: resuming the crawl makes it again"
                if version > SCHEMA_VERSION
                else f"{path} is empty or not an index; delete it: resuming the crawl makes it again"
            )
        index = cls(connection, path)
        index._has_past = version > 1
        index._spelling = TODAY if version > 2 else BEFORE_3
        return index

    @classmethod
    def open_or_rebuild(cls, path: Path) -> FullText:
        """Open an index for writing; a damaged one is set aside, and an empty one begun.

        Nothing is lost: the texts are in the archive, and a resume puts them in again (`missing`).
        """
        try:
            return cls._looked_at(path)
        except (sqlite3.Error, CollectionError) as error:
            if not _is_damage(error if isinstance(error, sqlite3.Error) else error.__cause__):
                raise
        require_plain_database(path, writing=True)
        for end in ("-wal", "-shm", "-journal"):
            path.with_name(path.name + end).unlink(missing_ok=True)
        path.replace(path.with_name(path.name + ".damaged"))
        return cls.open(path)

    @classmethod
    def _looked_at(cls, path: Path) -> FullText:
        """Open an index and read a little of each table."""
        index = cls.open(path)
        try:
            index._connection.execute("SELECT count(*), max(row), min(length(url)) FROM page").fetchone()
            index._connection.execute("SELECT count(*) FROM words WHERE words MATCH 'a'").fetchone()
        except sqlite3.Error:
            index.close()
            raise
        return index

    @property
    def _connection(self) -> sqlite3.Connection:
        """The open file, when all texts are in it that were given before."""
        self._settle()
        return self._opened

    def _settle(self) -> None:
        """Wait until all texts are in that were given before."""
        self._give()
        self._aside.settle()

    def add(
        self,
        row: int,
        url: str,
        *,
        title: str,
        text: str,
        language: str = "",
        score: float = 0.0,
        at: float = 0.0,
    ) -> None:
        """Put a page in, or put it in again with new values. Lasts from the next `commit`."""
        self.changes += 1
        self._texts.append(_Text(row, url, title, text, language, score, at))
        if len(self._texts) >= AT_ONCE:
            self._give()

    def _give(self) -> None:
        """Let the thread put in what has gathered."""
        if self._texts:
            texts, self._texts = self._texts, []
            self._aside.do(partial(self._add_all, texts))

    def _add_all(self, texts: list[_Text]) -> None:
        """Put pages in; in the thread."""
        # FTS5 begins another segment, to be merged later, at each row that is below the one before.
        texts.sort(key=lambda one: one.row)
        stored = [storable(one.text[:MAX_TEXT_CHARACTERS]) for one in texts]
        packed = self._packed([text.encode() for text in stored])
        pages, words = [], []
        for one, text, frame in zip(texts, stored, packed, strict=True):
            row, title = one.row, clean(one.title)[:1_000]
            values = (row, clean(one.url), _host(one.url), title, one.language, one.score, one.at)
            pages.append((*values, frame))
            words.append((row, self._expanded(title), self._expanded(text)))
        rows = {one.row for one in texts}
        at_once = len(texts)
        if len(rows) < len(texts) or self._holds_any(rows):
            at_once = 1
        for start in range(0, len(texts), at_once):
            if at_once == 1:
                self._remove(pages[start][0])
            self._insert("page", pages[start : start + at_once])
            self._insert("words(rowid, title, text)", words[start : start + at_once])

    def _expanded(self, text: str) -> str:
        return expand(text, self._spelling)

    def _packed(self, texts: list[bytes | bytearray | memoryview]) -> list[bytes]:
        if not any(texts):  # which the other way refuses
            return [self._compressor.compress(text) for text in texts]
        frames = self._compressor.multi_compress_to_buffer(texts)
        return [frames[place].tobytes() for place in range(len(frames))]

    def _insert(self, table: str, rows: Sequence[tuple[object, ...]]) -> None:
        marks = f"({','.join('?' * len(rows[0]))})"
        statement = f"INSERT INTO {table} VALUES {','.join([marks] * len(rows))}"  # noqa: S608 - our own names
        self._opened.execute(statement, [value for row in rows for value in row])

    def _holds_any(self, rows: set[int]) -> bool:
        query = f"SELECT 1 FROM page WHERE row IN ({','.join('?' * len(rows))}) LIMIT 1"  # noqa: S608
        return self._opened.execute(query, list(rows)).fetchone() is not None

    def set_score(self, row: int, score: float) -> bool:
        """Give a page another score. False: it is not there."""
        self.changes += 1
        return self._connection.execute("UPDATE page SET score=? WHERE row=?", (score, row)).rowcount > 0

    def remove(self, row: int) -> None:
        """Take a page out; nothing happens when it is not there."""
        self._settle()
        self.changes += self._remove(row)

    def _remove(self, row: int) -> bool:
        found = self._opened.execute("SELECT title, text FROM page WHERE row=?", (row,)).fetchone()
        if found is None:
            return False
        title, text = found[0], _unpack(found[1])
        self._opened.execute(
            "INSERT INTO words(words, rowid, title, text) VALUES ('delete',?,?,?)",
            (row, self._expanded(title), self._expanded(text)),
        )
        self._opened.execute("DELETE FROM page WHERE row=?", (row,))
        return True

    def set_aside(self, row: int, until: float) -> None:
        """Keep the text of a page that is about to be replaced; nothing happens when it is not there.

        Args:
            row: The page.
            until: When the text stopped to be the newest.
        """
        found = self._connection.execute(
            "SELECT url, title, language, score, at, text FROM page WHERE row=?", (row,)
        ).fetchone()
        if found is not None:
            url, title, language, score, at, text = found
            self.add_past(
                row, url, title=title, text=_unpack(text), language=language, score=score, at=at, until=until
            )

    def add_past(
        self,
        row: int,
        url: str,
        *,
        title: str,
        text: str,
        language: str,
        score: float,
        at: float,
        until: float,
    ) -> None:
        """Put a replaced version in: what the page said from `at` until `until`. Once, whoever asks twice."""
        self.changes += 1
        title = clean(title)[:1_000]
        text = storable(text[:MAX_TEXT_CHARACTERS])
        packed = self._compressor.compress(text.encode())
        made = self._connection.execute(
            "INSERT OR IGNORE INTO past VALUES (NULL,?,?,?,?,?,?,?,?,?)",
            (row, clean(url), _host(url), title, language, score, at, until, packed),
        )
        if made.rowcount > 0:
            self._connection.execute(
                "INSERT INTO past_words(rowid, title, text) VALUES (?,?,?)",
                (made.lastrowid, self._expanded(title), self._expanded(text)),
            )

    def search_as_of(
        self,
        query: str,
        moment: float,
        most: int = 1_000,
        *,
        host: str = "",
        language: str = "",
        forms: bool = True,
        markers: tuple[str, str] = ("[", "]"),
    ) -> list[Hit]:
        """The best matching pages as they were at a moment, best first.

        Args:
            query: As for `search`.
            moment: On the crawl's clock.
            most: Hits at most.
            host: As for `search`.
            language: As for `search`.
            forms: As for `search`.
            markers: As for `search`.
        """
        parsed = self._parsed(query, forms)
        if not parsed.match:
            return []
        newest = _filters(host, language, (0.0, None), (None, _after(moment)))
        found = self._found(_NEWEST, parsed, newest, min(most, 1_000), markers=markers)
        if self._has_past:
            where, values = _filters(host, language, (0.0, None), (None, None))
            there = (f" AND p.at <= ? AND p.until > ?{where}", [moment, moment, *values])
            found += self._found(_REPLACED, parsed, there, most, markers=markers)
        found.sort(key=lambda each: (each[0], -each[1].rank, each[1].row))
        return [hit for _, hit in found[:most]]

    def past_text(self, row: int, at: float) -> str | None:
        """What a replaced version said; None when it is not here."""
        if not self._has_past:
            return None
        found = self._connection.execute("SELECT text FROM past WHERE row=? AND at=?", (row, at)).fetchone()
        return _unpack(found[0]) if found else None

    def has_past(self, row: int, at: float) -> bool:
        """Whether a replaced version is here."""
        return (
            self._connection.execute("SELECT 1 FROM past WHERE row=? AND at=?", (row, at)).fetchone()
            is not None
        )

    def dated(self, row: int) -> float | None:
        """When the version that is here was fetched; None when the page is not here."""
        found = self._connection.execute("SELECT at FROM page WHERE row=?", (row,)).fetchone()
        return float(found[0]) if found else None

    def contents(self) -> dict[int, tuple[float, float]]:
        """Time and score of each page that is here, by row."""
        found = self._connection.execute("SELECT row, at, score FROM page")
        return {row: (at, score) for row, at, score in found}

    def past_contents(self) -> set[tuple[int, float]]:
        """Row and time of each replaced version that is here."""
        return set(self._connection.execute("SELECT row, at FROM past")) if self._has_past else set()

    def take_from(self, other: FullText, its_row: int, row: int) -> None:
        """Put a page of another index in, under a row of its own here."""
        url, title, language, score, at, text = other._connection.execute(
            "SELECT url, title, language, score, at, text FROM page WHERE row=?", (its_row,)
        ).fetchone()
        self.add(row, url, title=title, text=_unpack(text), language=language, score=score, at=at)

    def take_past_from(self, other: FullText, its_row: int, at: float, row: int) -> None:
        """Put a replaced version of another index in."""
        url, title, language, score, until, text = other._connection.execute(
            "SELECT url, title, language, score, until, text FROM past WHERE row=? AND at=?", (its_row, at)
        ).fetchone()
        self.add_past(
            row, url, title=title, text=_unpack(text), language=language, score=score, at=at, until=until
        )

    def commit(self, *, later: bool = False) -> None:
        """Make what was added since the last commit last.

        Args:
            later: Do not wait for it.
        """
        if later:
            self._give()
            self._aside.do(self._commit)
        else:
            self._settle()
            self._commit()
        self.changes = 0

    def _commit(self) -> None:
        try:
            self._opened.commit()
        except sqlite3.Error as error:
            raise self._trouble(error) from error

    def _trouble(self, error: sqlite3.Error) -> CollectionError:
        damaged = f"{self._path} is damaged ({error}); delete it, and `honeyguide resume` makes it again"
        return CollectionError(disk_trouble(self._path, error) or damaged)

    def search(
        self,
        query: str,
        limit: int = 10,
        offset: int = 0,
        *,
        host: str = "",
        language: str = "",
        minimum_score: float = 0.0,
        maximum_score: float | None = None,
        since: float | None = None,
        until: float | None = None,
        forms: bool = True,
        markers: tuple[str, str] = ("[", "]"),
    ) -> list[Hit]:
        """The best matching pages. See `index_text.parse_query` for what a query may say.

        Args:
            query: What a user typed; never an error.
            limit: At most this many hits; 1,000 at most.
            offset: Skip this many.
            host: Only pages of this host or of hosts below it.
            language: Only pages in this language.
            minimum_score: Only pages at least so relevant to the topic.
            maximum_score: Only pages at most so relevant.
            since: Only pages fetched at this time or later.
            until: Only pages fetched before this time.
            forms: Whether a word stands for its other forms, too (`word_forms`).
            markers: Put around matches in titles' snippets; choose characters that you can escape around.
        """
        parsed = self._parsed(query, forms)
        if not parsed.match:
            return []
        only = _filters(host, language, (minimum_score, maximum_score), (since, until))
        found = self._found(_NEWEST, parsed, only, max(0, min(limit, 1_000)), max(0, offset), markers=markers)
        return [hit for _, hit in found]

    def _found(
        self,
        among: _Among,
        parsed: Query,
        only: tuple[str, list[object]],
        limit: int,
        offset: int = 0,
        *,
        markers: tuple[str, str],
    ) -> list[tuple[int, Hit]]:
        """The best matches, each with 1 where it says the words in rare forms only."""
        ranked, values = _ranked(among, parsed, only)
        statement = _SHOWN.format(ranked=ranked, table=among.table, number=among.number)
        with self._read():
            found = self._connection.execute(statement, (*values, limit, offset)).fetchall()
        return [
            (place, Hit(row, url, title, snippet(_unpack(text), parsed.phrases, markers=markers), *rest))
            for place, row, url, title, text, *rest in found
        ]

    def ranked(self, query: str, most: int = 20_000) -> list[int]:
        """Rows of the best matching pages, best first, without reading their texts."""
        parsed = self._parsed(query)
        if not parsed.match:
            return []
        ranked, values = _ranked(_NEWEST, parsed, ("", []))
        with self._read():
            found = self._connection.execute(_RANKED.format(ranked=ranked), (*values, most)).fetchall()
        return [row for (row,) in found]

    @contextmanager
    def _read(self) -> Iterator[None]:
        """Tell whoever searches in a damaged index what to do."""
        try:
            yield
        except sqlite3.Error as error:
            if not _is_damage(error):
                raise
            raise self._trouble(error) from error

    def _parsed(self, query: str, forms: bool = True) -> Query:
        with self._read():
            forms_of = self._word_forms().of if forms else None
            return parse_query(query, forms_of, self._spelling)

    def _word_forms(self) -> WordForms:
        if self._forms is None:
            tables = ("words", "past_words") if self._has_past else ("words",)
            self._forms = WordForms(self._connection, tables)
        return self._forms

    def snippet(self, row: int, query: str, *, markers: tuple[str, str] = ("[", "]")) -> str:
        """A page's text around what matches; its beginning where only the title does."""
        if self._shown[0] != query:  # asked for page after page
            self._shown = query, self.phrases(query)
        return snippet(self.text(row), self._shown[1], markers=markers)

    def phrases(self, query: str) -> tuple[tuple[str, ...], ...]:
        """The words and phrases that a query looks for, with their other forms, in folded letters."""
        return self._parsed(query).phrases

    def count(
        self,
        query: str,
        *,
        host: str = "",
        language: str = "",
        minimum_score: float = 0.0,
        maximum_score: float | None = None,
        since: float | None = None,
        until: float | None = None,
        forms: bool = True,
    ) -> int:
        """How many pages match."""
        parsed = self._parsed(query, forms)
        if not parsed.match:
            return 0
        where, values = _filters(host, language, (minimum_score, maximum_score), (since, until))
        statement = _COUNT.format(join=_NEWEST.join if where else "", where=where)
        with self._read():
            return sum(
                int(self._connection.execute(statement, (match, *values)).fetchone()[0])
                for match in (parsed.match, parsed.rest)
                if match
            )

    def text(self, row: int) -> str:
        """The stored text of a page; empty when it is not in the index."""
        found = self._connection.execute("SELECT text FROM page WHERE row=?", (row,)).fetchone()
        return _unpack(found[0]) if found else ""

    def size(self) -> int:
        """Number of pages in the index."""
        return int(self._connection.execute("SELECT count(*) FROM page").fetchone()[0])

    def missing(self, rows: Iterable[int]) -> list[int]:
        """Those of the given rows that are not in the index, in the order given."""
        there = {row for (row,) in self._connection.execute("SELECT row FROM page")}
        return [row for row in rows if row not in there]

    def close(self) -> None:
        """Close without committing."""
        self._texts.clear()
        self._aside.close()
        self._opened.close()


def _is_damage(error: BaseException | None) -> bool:
    """Whether SQLite found a file that is none of its own, or no longer whole (not: locked, or no disk)."""
    if isinstance(error, sqlite3.OperationalError):
        return any(said in str(error) for said in ("no such table", "no such fts5 table", "vtable"))
    return type(error) is sqlite3.DatabaseError


def _connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    if read_only:
        return open_to_read(path)
    require_plain_database(path, writing=True)
    connection = sqlite3.connect(path, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA cache_size=-16384")
    return connection


def _after(moment: float) -> float:
    """The next moment, since bounds of a search are open at their end."""
    return nextafter(moment, inf)


def _ranked(among: _Among, parsed: Query, only: tuple[str, list[object]]) -> tuple[str, list[object]]:
    """A statement that gives number, rank and place of what matches, and its values."""
    where, values = only
    rank = _RANK.format(
        words=among.words, weight=_TITLE_WEIGHT, join=among.join if where else "", where=where
    )
    asked = [(place, match) for place, match in enumerate((parsed.ranked, parsed.rest)) if match]
    every = [value for place, match in asked for value in (place, match, *values)]
    return " UNION ALL ".join([rank] * len(asked)), every


def _host(url: str) -> str:
    try:
        return clean(urlsplit(url).hostname or "")
    except ValueError:
        return ""


def _filters(
    host: str,
    language: str,
    score: tuple[float, float | None],
    time: tuple[float | None, float | None],
) -> tuple[str, list[object]]:
    where = ""
    values: list[object] = []
    if host:
        where += " AND (p.host = ? OR substr(p.host, -length(?) - 1) = '.' || ?)"
        values += [clean(host).lower()] * 3
    if language:
        where += " AND p.language = ?"
        values.append(clean(language))
    bounds = (
        ("p.score >= ?", score[0] if score[0] > 0 else None),
        ("p.score <= ?", score[1]),
        ("p.at >= ?", time[0]),
        ("p.at < ?", time[1]),
    )
    for condition, bound in bounds:
        if bound is not None:
            where += f" AND {condition}"
            values.append(bound)
    return where, values


def _unpack(text: bytes) -> str:
    """A stored text; empty when it is none, or larger than any that `add` writes."""
    try:
        # A frame that names its size is inflated to it whatever the limit, so look first.
        if zstandard.get_frame_parameters(text).content_size > _MAX_TEXT_BYTES:
            return ""
        data = zstandard.ZstdDecompressor().decompress(text, max_output_size=_MAX_TEXT_BYTES)
    except zstandard.ZstdError:
        return ""
    return data.decode("utf-8", "replace")
