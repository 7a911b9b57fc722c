"""Fetched pages in the state, and the links between them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.model import Outcome, Verdict
from honeyguide.store.journal import sound
from honeyguide.store.records import PageRecord, numbers_from_text, numbers_to_text

_PAGED = 500
_FIELDS = PageRecord.__struct_fields__[:-2]
"""The columns of table `page` but for the links; url and id come from table `url`."""
_INSERT = f"INSERT INTO page VALUES (?{', ?' * len(_FIELDS)})"  # noqa: S608 - only question marks
_SELECT = (
    f"SELECT {', '.join(f'page.{name}' for name in _FIELDS)}, url.url, url.id"  # noqa: S608 - our own names
    " FROM page JOIN url ON url.row = page.row"
)
_decode_terms = msgspec.json.Decoder(tuple[tuple[str, float], ...]).decode


def save_page(connection: sqlite3.Connection, page: PageRecord, links: Sequence[int]) -> None:
    """Insert one page with the rows of its links' targets."""
    values: list[object] = list(msgspec.structs.astuple(page)[:-2])
    values[4:7] = [sound(page.content_type), sound(page.title), sound(page.language)]
    values[9] = sound(msgspec.json.encode(page.terms).decode()) if page.terms else ""
    values[10] = numbers_to_text(page.facts)
    # SQLite integers are signed; a SimHash is 64 plain bits.
    values[12] = page.simhash - (1 << 64) if page.simhash >= 1 << 63 else page.simhash
    values.append(np.asarray(links, "<i4").tobytes())
    connection.execute(_INSERT, values)


def change_verdict(connection: sqlite3.Connection, row: int, verdict: Verdict) -> None:
    """Replace a page's verdict."""
    connection.execute(
        "UPDATE page SET score = ?, on_topic = ?, terms = ?, facts = ? WHERE row = ?",
        (
            verdict.score,
            verdict.on_topic,
            sound(msgspec.json.encode(verdict.terms).decode()) if verdict.terms else "",
            numbers_to_text(verdict.facts),
            row,
        ),
    )


def _page(row: tuple[object, ...]) -> PageRecord:
    values: list[object] = list(row)
    values[8] = bool(values[8])
    values[9] = _decode_terms(str(values[9])) if values[9] else ()
    values[10] = numbers_from_text(str(values[10]))
    simhash = values[12]
    assert isinstance(simhash, int)
    values[12] = simhash & ((1 << 64) - 1)
    return PageRecord(*values)  # type: ignore[arg-type]


def page_by_row(connection: sqlite3.Connection, row: int) -> PageRecord | None:
    """One page, or None when the URL was not fetched."""
    found = connection.execute(f"{_SELECT} WHERE page.row = ?", (row,)).fetchone()
    return None if found is None else _page(found)


def page_by_digest(connection: sqlite3.Connection, digest: str) -> int:
    """Row of the first page with these bytes; 0 for none."""
    (row,) = connection.execute(
        "SELECT coalesce(min(row), 0) FROM page WHERE digest = ? AND duplicate_of = 0", (digest,)
    ).fetchone()
    return int(row)


def pages(connection: sqlite3.Connection, *, after: int, on_topic: bool | None) -> Iterator[PageRecord]:
    """Pages with a number above `after` in order of fetching, read in small batches."""
    only = "" if on_topic is None else f" AND page.on_topic = {int(on_topic)}"
    while True:
        rows = connection.execute(
            f"{_SELECT} WHERE page.number > ?{only} ORDER BY page.number LIMIT ?", (after, _PAGED)
        ).fetchall()
        for row in rows:
            yield _page(row)
        if len(rows) < _PAGED:
            return
        after = rows[-1][1]


def links_of(connection: sqlite3.Connection, row: int) -> NDArray[np.int32]:
    """Rows of the targets of one page's links."""
    found = connection.execute("SELECT links FROM page WHERE row = ?", (row,)).fetchone()
    return np.zeros(0, np.int32) if found is None else np.frombuffer(found[0], "<i4").astype(np.int32)


def addresses(
    connection: sqlite3.Connection, *, after: int
) -> Iterator[tuple[int, str, NDArray[np.int32], int, int]]:
    """Row, URL, rows of links, page copied (0: none) and length of text of pages in order of fetching."""
    found = connection.execute(
        "SELECT page.row, url.url, page.links, page.duplicate_of, page.near_duplicate_of, page.text_bytes"
        " FROM page JOIN url ON url.row = page.row WHERE page.number > ? ORDER BY page.number",
        (after,),
    )
    for row, url, links, exact, near, length in found:
        yield row, url, np.frombuffer(links, "<i4"), exact or near, length


def all_links(connection: sqlite3.Connection) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Rows of sources and targets of every link, in order of fetching."""
    sources: list[int] = []
    lengths: list[int] = []
    blobs: list[bytes] = []
    for row, blob in connection.execute("SELECT row, links FROM page ORDER BY number"):
        sources.append(row)
        lengths.append(len(blob) // 4)
        blobs.append(blob)
    targets = np.frombuffer(b"".join(blobs), "<i4").astype(np.int32)
    return np.repeat(np.asarray(sources, np.int32), lengths), targets


def scores(connection: sqlite3.Connection) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Rows and verdict scores of all pages, in order of fetching."""
    found = connection.execute("SELECT row, score FROM page ORDER BY number").fetchall()
    rows = np.fromiter((row for row, _ in found), np.int32, len(found))
    return rows, np.fromiter((score for _, score in found), np.float32, len(found))


def verdicts(
    connection: sqlite3.Connection,
) -> tuple[NDArray[np.int32], NDArray[np.bool_], NDArray[np.float32]]:
    """Rows, verdicts and scores of all pages, in order of fetching."""
    found = connection.execute("SELECT row, on_topic, score FROM page ORDER BY number").fetchall()
    size = len(found)
    return (
        np.fromiter((row for row, _, _ in found), np.int32, size),
        np.fromiter((on_topic != 0 for _, on_topic, _ in found), np.bool_, size),
        np.fromiter((score for _, _, score in found), np.float32, size),
    )


def duplicates(connection: sqlite3.Connection) -> list[tuple[int, int, int]]:
    """(row, equal page's row, near page's row) of pages that repeat another, in order of fetching."""
    return connection.execute(
        "SELECT row, duplicate_of, near_duplicate_of FROM page"
        " WHERE duplicate_of != 0 OR near_duplicate_of != 0 ORDER BY number"
    ).fetchall()


def in_links(connection: sqlite3.Connection, row: int) -> list[int]:
    """Rows of the pages that link to `row`, in order of fetching. Scans the links of all pages."""
    wanted = np.asarray([row], "<i4").tobytes()
    found = connection.execute(
        "SELECT row, links FROM page WHERE instr(links, ?) > 0 ORDER BY number", (wanted,)
    )
    # instr also matches across the borders of two numbers, hence the second look.
    return [source for source, blob in found if row in np.frombuffer(blob, "<i4")]


def path_from_seed(connection: sqlite3.Connection, row: int) -> list[int]:
    """Rows from the seed to `row`, along the links that gave each URL its priority."""
    path: list[int] = []
    seen: set[int] = set()
    while row and row not in seen:
        seen.add(row)
        path.append(row)
        found = connection.execute("SELECT parent FROM url WHERE row = ?", (row,)).fetchone()
        row = 0 if found is None else found[0]
    path.reverse()
    return path


def status_counts(connection: sqlite3.Connection) -> dict[Outcome, int]:
    """Number of URLs by status as table `url` has it; a full scan, for checks."""
    return {
        Outcome(status): count
        for status, count in connection.execute("SELECT status, count(*) FROM url GROUP BY status")
    }
