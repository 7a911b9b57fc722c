"""Exports: rows as JSONL, CSV or Parquet, written in one pass and in one step.

Rows are plain dictionaries; columns are fixed and in a fixed order; what a row does not have is empty.
The file appears when it is complete (see `atomic`).

CSV and spreadsheets: a cell of text that starts with `=`, `+`, `-`, `@`, a tab or a line end would be
run as a formula by a spreadsheet, and titles come from the web. Such cells get a leading apostrophe,
which spreadsheets take as "this is text". So does what follows a semicolon, a tab or a line end within a
cell, since a spreadsheet set to another separator begins a cell there. Numbers are left alone. JSONL and
Parquet hold the text as it is: take those for anything but looking at.
"""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from honeyguide.errors import CollectionError, MissingExtra
from honeyguide.store.atomic import replacing

Row: TypeAlias = Mapping[str, object]
_FORMULA = re.compile("^[ \u00a0\u3000]*(?=[=+@\t\r\n\uff1d\uff0b\uff0d\uff20-])")
_INNER_FORMULA = re.compile("([;\t\r\n])(?=[ \u00a0\u3000\"']*[=+@\uff1d\uff0b\uff0d\uff20-])")
"""Where half of the world reads a CSV file with semicolons, a cell begins after each of them."""


class Column(NamedTuple):
    """A column of an export."""

    name: str
    kind: type
    """`str`, `int`, `float`, `bool` or `datetime` (given as ISO 8601)."""
    meaning: str


PAGE_COLUMNS = (
    Column("url", str, "canonical address"),
    Column("title", str, "title, or the first heading of a page without one"),
    Column("language", str, "ISO 639-1 code, empty when unknown"),
    Column("score", float, "relevance in 0..1"),
    Column("on_topic", bool, "the page model's verdict"),
    Column("review", str, "a person's: accept or reject, or empty"),
    Column("fetched_at", datetime, "UTC; ISO 8601 in text formats, a timestamp in Parquet"),
    Column("depth", int, "links followed from the seed"),
    Column("status", int, "HTTP status"),
    Column("content_type", str, "media type"),
    Column("bytes", int, "size of the decoded body"),
    Column("digest", str, "sha1: and base32 of the body as it was received"),
    Column("duplicate_of", str, "URL of the page that it repeats or nearly repeats, or empty"),
    Column("parent_url", str, "page whose link led here, empty for seeds"),
    Column("warc_file", str, "file of the folder archive that holds its answer"),
    Column("warc_offset", int, "where in it the record of the answer begins, in bytes"),
)
"""Every page export has these columns, in this order."""

TEXT_COLUMN = Column("text", str, "main text, without navigation; empty for pages off topic")
"""Comes last when asked for: it makes exports ten times as large."""


def export(
    rows: Iterable[Row],
    path: Path,
    *,
    form: str = "",
    columns: Sequence[Column] = PAGE_COLUMNS,
    batch: int = 2_000,
) -> int:
    """Write rows to a file; how many there were.

    Args:
        rows: Read once; only a batch of them is in memory.
        path: An existing file is replaced, but only when all rows were written.
        form: `jsonl`, `csv` or `parquet`; empty to take it from the file name.
        columns: Names and kinds.
        batch: Rows in a Parquet row group.

    Raises:
        CollectionError: An unknown form, or the disk is full.
        MissingExtra: Parquet without pyarrow.
        ValueError: A row has a key that is not a column, or a value of another kind.
    """
    form = form or path.suffix.removeprefix(".").lower()
    writer = _WRITERS.get(form)
    if writer is None:
        raise CollectionError(f"{path}: unknown form {form!r}; use one of {', '.join(sorted(_WRITERS))}")
    with replacing(path) as temporary:
        return writer(rows, temporary, columns, batch)


def _ordered(rows: Iterable[Row], columns: Sequence[Column]) -> Iterator[list[Any]]:
    """Each row's values in column order, checked."""
    names = {column.name for column in columns}
    for row in rows:
        if not row.keys() <= names:
            raise ValueError(f"no such column: {', '.join(sorted(row.keys() - names))}")
        yield [_checked(column, row.get(column.name)) for column in columns]


def _checked(column: Column, value: object) -> object:
    if value is None:
        return None
    if column.kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if column.kind is bool and value in (0, 1):
        return bool(value)
    if column.kind is datetime and isinstance(value, str):
        return _moment(column.name, value)
    if not isinstance(value, column.kind) or (isinstance(value, bool) and column.kind is not bool):
        raise ValueError(f"column {column.name} takes {column.kind.__name__}, not {value!r:.80}")
    if isinstance(value, str):
        # SQLite and JSON take lone surrogates, UTF-8 does not.
        return value.encode("utf-8", "replace").decode()
    return value


def _moment(name: str, text: str) -> datetime | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"column {name} takes ISO 8601, not {text!r:.80}") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _text(value: object) -> object:
    """A value as text formats have it."""
    return value.isoformat(timespec="seconds") if isinstance(value, datetime) else value


def _write_jsonl(rows: Iterable[Row], path: Path, columns: Sequence[Column], _batch: int) -> int:
    names = [column.name for column in columns]
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in _ordered(rows, columns):
            values = dict(zip(names, map(_text, row), strict=True))
            file.write(json.dumps(values, ensure_ascii=False) + "\n")
            count += 1
    return count


def _write_csv(rows: Iterable[Row], path: Path, columns: Sequence[Column], _batch: int) -> int:
    count = 0
    # With a mark at its beginning: without it Excel takes the file for Latin-1, and titles for gibberish.
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([column.name for column in columns])
        for row in _ordered(rows, columns):
            writer.writerow([_cell(_text(value)) for value in row])
            count += 1
    return count


def _cell(value: object) -> object:
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, str):
        value = value.replace("\0", "")
        value = _INNER_FORMULA.sub(r"\1'", value)
        return "'" + value if _FORMULA.match(value) else value
    return value


def arrow_schema(columns: Sequence[Column]) -> Any:
    """The columns as an Arrow schema.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    try:
        import pyarrow as arrow
    except ImportError:
        raise MissingExtra("a table of Arrow or Parquet", "tables") from None
    kinds = {
        str: arrow.string(),
        int: arrow.int64(),
        float: arrow.float64(),
        bool: arrow.bool_(),
        datetime: arrow.timestamp("us", tz="UTC"),
    }
    return arrow.schema([(column.name, kinds[column.kind]) for column in columns])


def record_batches(rows: Iterable[Row], columns: Sequence[Column], *, batch: int = 2_000) -> Iterator[Any]:
    """The rows as Arrow record batches."""
    schema = arrow_schema(columns)
    import pyarrow as arrow

    ordered = _ordered(rows, columns)
    while block := list(itertools.islice(ordered, max(1, batch))):
        values = zip(*block, strict=True)
        arrays = [arrow.array(column, kind) for column, kind in zip(values, schema.types, strict=True)]
        yield arrow.record_batch(arrays, schema=schema)


def _write_parquet(rows: Iterable[Row], path: Path, columns: Sequence[Column], batch: int) -> int:
    schema = arrow_schema(columns)
    from pyarrow import parquet

    count = 0
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for block in record_batches(rows, columns, batch=batch):
            writer.write_batch(block)
            count += block.num_rows
    return count


_Writer: TypeAlias = Callable[[Iterable[Row], Path, Sequence[Column], int], int]
_WRITERS: dict[str, _Writer] = {"jsonl": _write_jsonl, "csv": _write_csv, "parquet": _write_parquet}
