"""The visits of a page after its first, and the versions that they replaced.

Table `page` holds the newest version of each page. When a visit brings another one, the row it replaces moves
to table `version`, with the verdict it had and the time until which it was the newest. Table `visit` has one
line for each visit, whatever came of it. A page that was visited once has neither: a first crawl pays
nothing, and collections of earlier releases are already in this form.
"""

# ruff: noqa: S608 - only names and numbers of our own are put into statements
from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.model import Seen, UrlId
from honeyguide.store.checked import page_record, reading
from honeyguide.store.records import PageRecord

_VISIT_FIELDS = "number, row, at, what, status, digest, score, on_topic, file, offset, length, known, reason"
_SELECT_VISIT = (
    "SELECT v.number, v.row, v.at, v.what, v.status, v.digest, v.score, v.on_topic, v.file, v.offset,"
    " v.length, v.known, v.reason, url.url, url.id FROM visit AS v JOIN url ON url.row = v.row"
)
_VISIT = tuple[int, int, float, int, int, str, float, int, str, int, int, int, str, str, int]
_COLUMNS = (
    "status, content_type, title, language, score, on_topic, terms, facts, digest, simhash, duplicate_of,"
    " near_duplicate_of, bytes, text_bytes, depth, file, offset, length"
)
_OLD = ", ".join(f"o.{name.strip()}" for name in _COLUMNS.split(","))
_SELECT_VERSION = (
    f"SELECT o.row, o.page, o.at, {_OLD}, url.url, url.id FROM version AS o JOIN url ON url.row = o.row"
)
_AT_ONCE = 500


class VisitRecord(msgspec.Struct, frozen=True):
    """One visit of a page."""

    row: int
    at: float
    what: Seen
    number: int = 0
    """Given by the table."""
    status: int = 0
    """Of the answer; 0 when there was none."""
    digest: str = ""
    score: float = 0.0
    """The verdict then."""
    on_topic: bool = False
    file: str = ""
    """Where the archive holds the answer, with `offset` and `length`."""
    offset: int = 0
    length: int = 0
    known: int = 0
    """URLs that the crawl knew before this visit: those with higher rows were found by it, or later."""
    reason: str = ""
    url: str = ""
    """Filled in on reading."""
    id: UrlId = 0
    """Filled in on reading."""


class Lives(msgspec.Struct, frozen=True):
    """What is known of the visits of all pages, as arrays; for those who plan the next ones."""

    rows: NDArray[np.int32]
    at: NDArray[np.float64]
    what: NDArray[np.uint8]
    known: NDArray[np.int64]


class History:
    """Reads and writes the two tables; part of `State`, whose transactions hold for it."""

    def __init__(self, connection: sqlite3.Connection, *, is_writer: bool = False) -> None:
        self._connection = connection
        self._is_writer = is_writer
        self._has_versions = connection.execute("SELECT 1 FROM version LIMIT 1").fetchone() is not None

    # Writing

    def begin(self, row: int, known: int) -> None:
        """Note the first visit of a page, before what came of the second changes it; once.

        Args:
            row: The page.
            known: URLs that the crawl knew before the second visit.
        """
        self._connection.execute(
            f"INSERT INTO visit ({_VISIT_FIELDS}) SELECT NULL, row, at, 0, status, digest, score, on_topic,"
            " file, offset, length, ?, '' FROM page"
            " WHERE row = ? AND NOT EXISTS (SELECT 1 FROM visit WHERE visit.row = page.row)",
            (known, row),
        )

    def add(self, visit: VisitRecord) -> None:
        """Note one visit."""
        values = msgspec.structs.astuple(visit)
        row, at, what, _, *rest = values[:13]
        self._connection.execute(
            f"INSERT INTO visit ({_VISIT_FIELDS}) VALUES (NULL, ?, ?, ?{', ?' * len(rest)})",
            (row, at, int(what), *rest),
        )

    def set_aside(self, row: int, until: float) -> None:
        """Keep the present version of a page as one that was replaced."""
        self._has_versions = True
        self._connection.execute(
            f"INSERT INTO version SELECT NULL, ?, row, number, at, {_COLUMNS}, links FROM page WHERE row = ?",
            (until, row),
        )

    def hint(self, row: int, changed: float) -> None:
        """A site says when a page of its own changed last."""
        self._connection.execute(
            "INSERT INTO hint VALUES (?, ?) ON CONFLICT (row) DO UPDATE SET"
            " changed = max(changed, excluded.changed)",
            (row, changed),
        )

    # Reading

    def visits_of(self, row: int) -> list[VisitRecord]:
        """The visits of one page, oldest first; none of a page that was visited once."""
        found = self._connection.execute(f"{_SELECT_VISIT} WHERE v.row = ? ORDER BY v.number", (row,))
        with reading("visits"):
            return [_visit(each) for each in found]

    def last_visit(self, row: int) -> VisitRecord | None:
        """The newest visit of a page that said anything about it."""
        found = self._connection.execute(
            f"{_SELECT_VISIT} WHERE v.row = ? AND v.what != ? ORDER BY v.number DESC LIMIT 1",
            (row, int(Seen.FAILED)),
        ).fetchone()
        with reading("visits"):
            return None if found is None else _visit(found)

    def visits(
        self, *, since: float = 0.0, until: float | None = None, kinds: Sequence[Seen] = ()
    ) -> Iterator[VisitRecord]:
        """Visits from a time on, oldest first, of some kinds only where they are given; read in batches."""
        only = f" AND v.what IN ({','.join(str(int(kind)) for kind in kinds)})" if kinds else ""
        end = "" if until is None else f" AND v.at < {until!r}"
        after = 0
        while True:
            rows = self._connection.execute(
                f"{_SELECT_VISIT} WHERE v.number > ? AND v.at >= ?{only}{end} ORDER BY v.number LIMIT ?",
                (after, since, _AT_ONCE),
            ).fetchall()
            for row in rows:
                with reading("visits"):
                    record = _visit(row)
                yield record
            if len(rows) < _AT_ONCE:
                return
            after = rows[-1][0]

    def count(self, *, since: float = 0.0) -> int:
        """Number of visits after the first, from a time on."""
        (found,) = self._connection.execute(
            "SELECT count(*) FROM visit WHERE what != 0 AND at >= ?", (since,)
        ).fetchone()
        return int(found)

    def versions_of(self, row: int) -> list[tuple[PageRecord, float]]:
        """Versions of a page that were replaced, oldest first, each with the time until it was the newest."""
        found = self._connection.execute(
            f"{_SELECT_VERSION.replace('SELECT', 'SELECT o.until,', 1)} WHERE o.row = ? ORDER BY o.number",
            (row,),
        ).fetchall()
        with reading("versions"):
            return [(page_record(rest), float(until)) for until, *rest in found]

    def versions(self, *, as_of: float | None = None) -> Iterator[tuple[int, PageRecord, float]]:
        """All replaced versions: their numbers, they, and until when each was the newest.

        Args:
            as_of: Only those that were the newest at that time.
        """
        where = "" if as_of is None else f" WHERE o.at <= {as_of!r} AND o.until > {as_of!r}"
        statement = _SELECT_VERSION.replace("SELECT", "SELECT o.number, o.until,", 1)
        for number, until, *rest in self._connection.execute(f"{statement}{where} ORDER BY o.number"):
            with reading("versions"):
                record = page_record(rest)
            yield int(number), record, float(until)

    def payload_of(self, digest: str) -> PageRecord | None:
        """A replaced version whose archived answer holds the bytes of this digest."""
        if self._is_writer and not self._has_versions:  # asked for every page, and most collections have none
            return None
        found = self._connection.execute(
            f"{_SELECT_VERSION} WHERE o.digest = ? AND o.duplicate_of = 0 ORDER BY o.number LIMIT 1",
            (digest,),
        ).fetchone()
        with reading("versions"):
            return None if found is None else page_record(found)

    def gone(self, *, as_of: float | None = None) -> dict[int, tuple[float, str]]:
        """Rows of pages that were gone at a time (now), with since when and why."""
        end = "" if as_of is None else f" AND at <= {as_of!r}"
        found = self._connection.execute(
            f"SELECT row, what, at, reason FROM visit WHERE what NOT IN (0, {int(Seen.FAILED)}){end}"
            " ORDER BY number"
        )
        gone: dict[int, tuple[float, str]] = {}
        with reading("visits"):
            for row, what, at, reason in found:
                if what != Seen.GONE:
                    gone.pop(row, None)
                elif row not in gone:
                    gone[int(row)] = (float(at), str(reason))
        return gone

    def first_seen(self) -> dict[int, float]:
        """When pages that were visited again were fetched first, by row."""
        found = self._connection.execute("SELECT row, at FROM visit WHERE what = 0")
        with reading("visits"):
            return {int(row): float(at) for row, at in found}

    def visited(self) -> frozenset[int]:
        """Rows of pages that were visited again."""
        return frozenset(row for (row,) in self._connection.execute("SELECT DISTINCT row FROM visit"))

    def replaced(self) -> frozenset[int]:
        """Rows of pages that have had another version than their present one."""
        return frozenset(row for (row,) in self._connection.execute("SELECT DISTINCT row FROM version"))

    def hints(self) -> dict[int, float]:
        """When pages changed last as their sites say, by row."""
        with reading("hints"):
            found = self._connection.execute("SELECT row, changed FROM hint")
            return {int(row): float(changed) for row, changed in found}

    def lives(self) -> Lives:
        """All visits that said anything, by row and time."""
        found = self._connection.execute(
            f"SELECT row, at, what, known FROM visit WHERE what != {int(Seen.FAILED)} ORDER BY row, number"
        ).fetchall()
        with reading("visits"):
            size = len(found)
            return Lives(
                np.fromiter((one[0] for one in found), np.int32, size),
                np.fromiter((one[1] for one in found), np.float64, size),
                np.fromiter((one[2] for one in found), np.uint8, size),
                np.fromiter((one[3] for one in found), np.int64, size),
            )

    def tried_last(self) -> dict[int, float]:
        """When pages were asked for last, also in vain, by row."""
        with reading("visits"):
            found = self._connection.execute("SELECT row, max(at) FROM visit GROUP BY row")
            return {int(row): float(at) for row, at in found}


def _visit(row: Sequence[object]) -> VisitRecord:
    number, page, at, what, status, digest, score, on_topic, *rest = msgspec.convert(row, _VISIT)
    file, offset, length, known, reason, url, fingerprint = rest
    return VisitRecord(
        row=page,
        at=at,
        what=Seen(what),
        number=number,
        status=status,
        digest=digest,
        score=score,
        on_topic=bool(on_topic),
        file=file,
        offset=offset,
        length=length,
        known=known,
        reason=reason,
        url=url,
        id=fingerprint,
    )
