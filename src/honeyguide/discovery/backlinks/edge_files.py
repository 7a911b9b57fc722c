"""Edges from files, in batches: Parquet, CSV and TSV, plain or in gzip."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from honeyguide.errors import MissingExtra, TopicError

Batch: TypeAlias = tuple[list[str], list[str]]
Numbers: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
BATCH: Final = 200_000
_LONGEST: Final = 1 << 20
_PIECE: Final = 1 << 22
_OF_NUMBERS: Final = b"0123456789 \t,\r\n"


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
    except (OSError, EOFError, UnicodeDecodeError, zlib.error, csv.Error) as error:
        raise TopicError(f"edge list {path}: {error}; repair it or name another file") from error


def read_numbers(path: Path, columns: tuple[str, str]) -> Iterator[Numbers]:
    """The same for columns of numbers, ten times as fast where lines are two numbers and nothing else.

    Raises:
        TopicError: As for `read_pairs`, or a value is not a number.
    """
    if path.suffix == ".parquet" or not path.is_file() or not _begins_with_numbers(path):
        for sources, targets in read_pairs(path, columns):
            yield as_numbers(sources, path), as_numbers(targets, path)
        return
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            rest = b""
            while piece := file.read(_PIECE):
                lines, end, rest = (rest + piece).rpartition(b"\n")
                yield from _numbers_in(lines + end, path, columns)
            yield from _numbers_in(rest, path, columns)
    except (OSError, EOFError, zlib.error, csv.Error) as error:
        raise TopicError(f"edge list {path}: {error}; repair it or name another file") from error


def as_numbers(texts: Sequence[str], path: Path) -> NDArray[np.int64]:
    """Vertex numbers from their texts.

    Raises:
        TopicError: One of them is not a number.
    """
    try:
        return np.array(texts, dtype=np.int64)
    except (ValueError, OverflowError):
        wrong = next((text for text in texts if not text.strip().lstrip("-").isdecimal()), "a number")
        raise TopicError(
            f"edge list {path}: {wrong[:40]!r} is not a vertex number; leave out 'vertices' for names"
        ) from None


def _begins_with_numbers(path: Path) -> bool:
    """Whether the first line is numbers, and so no heading."""
    try:
        with _open(path) as file:
            first = next((line for line in file if not line.startswith("#")), "")
    except (OSError, EOFError, zlib.error):
        return False
    return all(word.isdecimal() for word in first.replace(",", " ").split())


def _numbers_in(piece: bytes, path: Path, columns: tuple[str, str]) -> Iterator[Numbers]:
    """The pairs of whole lines: at once where they hold nothing but pairs, else line by line."""
    lines = piece.count(b"\n") + (not piece.endswith(b"\n"))
    if piece.strip() and not piece.translate(None, _OF_NUMBERS):
        flat = np.fromstring(piece.replace(b",", b" "), dtype=np.int64, sep=" ")
        if len(flat) == 2 * lines:
            yield flat[::2], flat[1::2]
            return
    text = io.StringIO(piece.decode("utf-8", "replace"))
    for sources, targets in _rows(text, columns, "," if ".csv" in path.suffixes else "\t"):
        yield as_numbers(sources, path), as_numbers(targets, path)


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
