"""Edges from files, in batches: Parquet, CSV and TSV, plain or in gzip."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Final, TypeAlias

from honeyguide.errors import MissingExtra, TopicError

Batch: TypeAlias = tuple[list[str], list[str]]
BATCH: Final = 200_000
_LONGEST: Final = 1 << 20


def read_pairs(path: Path, columns: tuple[str, str]) -> Iterator[Batch]:
    """Two columns of a file, a batch at a time.

    Columns are found by the names in the first row, or, where that row does not have both, are the first
    two. Rows with fewer than two values are left out, lines that begin with `#` too.

    Raises:
        TopicError: The file cannot be read, or has no such columns.
    """
    if not path.is_file():
        raise TopicError(f"edge list {path}: no such file; correct its path")
    if path.suffix == ".parquet":
        yield from _parquet(path, columns)
        return
    try:
        with _open(path) as file:
            yield from _rows(file, columns, "," if ".csv" in path.suffixes else "\t")
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise TopicError(f"edge list {path}: {error}; repair it or name another file") from error


def _open(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", errors="replace", newline="")
    return path.open(encoding="utf-8", errors="replace", newline="")


def _rows(file: IO[str], columns: tuple[str, str], separator: str) -> Iterator[Batch]:
    csv.field_size_limit(_LONGEST)
    lines = (line for line in file if not line.startswith("#"))
    rows = csv.reader(lines, delimiter=separator) if separator == "," else _split(lines)
    first = next(rows, None)
    if first is None:
        return
    left, right = 0, 1
    if set(columns) <= set(first):
        left, right = first.index(columns[0]), first.index(columns[1])
    elif len(first) >= 2:
        yield [first[0]], [first[1]]
    width = max(left, right) + 1
    while batch := list(islice(rows, BATCH)):
        kept = [row for row in batch if len(row) >= width]
        yield [row[left] for row in kept], [row[right] for row in kept]


def _split(lines: Iterator[str]) -> Iterator[list[str]]:
    """Tab-separated values have no quoting; a file of two numbers a line may use spaces."""
    for line in lines:
        row = line.rstrip("\r\n").split("\t")
        yield row if len(row) > 1 else line.split()


def _parquet(path: Path, columns: tuple[str, str]) -> Iterator[Batch]:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("reading edge lists in Parquet", "tables") from None
    try:
        file = parquet.ParquetFile(path)
        names = file.schema_arrow.names
        chosen = list(columns) if set(columns) <= set(names) else names[:2]
        if len(chosen) < 2:
            raise TopicError(f"edge list {path} has one column only; give a file with source and target")
        for batch in file.iter_batches(batch_size=BATCH, columns=chosen):
            pair = [[str(value) for value in batch.column(name).to_pylist()] for name in chosen]
            yield pair[0], pair[1]
    except (arrow.ArrowException, OSError) as error:
        raise TopicError(f"edge list {path}: {error}; repair it or name another file") from error
