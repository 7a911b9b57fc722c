"""Records of any WARC file, as raw header fields and blocks, with their exact place in the file.

The file is mapped into memory and each gzip member inflated under limits, so the length of every
member is known, a torn tail is told from garbage, and a bomb stops early. fastwarc inflates about three
times as fast, but tells neither lengths nor a torn tail from a clean end.
"""

from __future__ import annotations

import mmap
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from honeyguide.errors import CollectionError

MAX_HEADER_BYTES = 64 * 1024
MAX_RECORD_BYTES = 256 * 1024 * 1024
_FIRST_CHUNK = 16 * 1024
_CHUNK = 256 * 1024
_VERSION = re.compile(rb"WARC/(0\.1[78]|1\.[01])\r?\n")
_HEADER_END = re.compile(rb"\r?\n\r?\n")
_LENGTH = re.compile(r"[0-9]{1,15}")


class RawRecord(msgspec.Struct, frozen=True):
    """One record as it stands in the file."""

    offset: int
    """Of the record, or of the gzip member that holds it."""
    length: int
    """Bytes from `offset` to the next record or member."""
    fields: dict[str, str]
    """Header fields, names in lower case; the first of a repeated one."""
    block: bytes
    alone: bool = True
    """False when several records share a gzip member: they cannot be read one by one."""

    @property
    def kind(self) -> str:
        """The WARC-Type, in lower case."""
        return self.fields.get("warc-type", "").lower()


class TornTail(CollectionError):
    """The file ends inside a record, as after a crash; all before it is whole."""


def scan(path: Path, *, max_record: int = MAX_RECORD_BYTES) -> Iterator[RawRecord]:
    """All records of a `.warc` or `.warc.gz` file, in order.

    Raises:
        TornTail: The last record is incomplete.
        CollectionError: The file cannot be read or is not a WARC file from some offset on.
    """
    if not path.is_file():
        raise CollectionError(f"{path}: no such file; check the path")
    try:
        with path.open("rb") as file:
            if path.stat().st_size == 0:
                raise CollectionError(f"{path} is empty; nothing was archived in it")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                scanner = _scan_members if data[:2] == b"\x1f\x8b" else _scan_plain
                yield from scanner(path, data, max_record)
    except (OSError, ValueError) as error:
        raise CollectionError(f"{path}: {error}; check the path") from error


def parse_member(where: str, text: bytes, offset: int, length: int) -> list[RawRecord]:
    """The records in one inflated gzip member; `where` names the place in errors."""
    records: list[RawRecord] = []
    place = 0
    while place < len(text):
        fields, start, end = _parse(where, text, place, len(text))
        if end > len(text):
            raise CollectionError(f"{where}: the record is longer than its gzip member; the file is damaged")
        records.append(RawRecord(offset=offset, length=length, fields=fields, block=text[start:end]))
        place = _skip_line_ends(text, end)
        if place == end and place < len(text):
            raise CollectionError(f"{where}: wrong Content-Length in a WARC header; the file is damaged")
    if not records:
        raise CollectionError(f"{where}: an empty gzip member, not a WARC record; the file is damaged")
    if len(records) > 1:
        records = [msgspec.structs.replace(record, alone=False) for record in records]
    return records


def parse_head(where: str, text: bytes, offset: int, length: int) -> RawRecord:
    """The record a member begins with, from its first bytes; the block may be cut short."""
    fields, start, end = _parse(where, text, 0, len(text))
    return RawRecord(offset=offset, length=length, fields=fields, block=text[start:end])


def inflate(where: str, data: bytes | mmap.mmap, offset: int, *, limit: int) -> tuple[bytes, int]:
    """Inflate the gzip member at an offset: its content and its length in the file.

    Raises:
        TornTail: The data ends before the member does.
        CollectionError: Not gzip, damaged, or larger than `limit` once inflated.
    """
    inflater = zlib.decompressobj(31)
    parts: list[bytes] = []
    size = 0
    place = offset
    step = _FIRST_CHUNK
    try:
        while not inflater.eof:
            chunk = inflater.unconsumed_tail
            if not chunk:
                chunk = data[place : place + step]
                if not chunk:
                    raise TornTail(f"{where}: the file ends inside a record; the rest was never written")
                place += len(chunk)
                step = _CHUNK
            piece = inflater.decompress(chunk, limit + 1 - size)
            parts.append(piece)
            size += len(piece)
            if size > limit:
                raise CollectionError(
                    f"{where}: a gzip member of more than {limit >> 20} MiB; compress it record by record"
                )
    except zlib.error as error:
        raise CollectionError(
            f"{where}: damaged gzip data ({error}); restore the file from a copy"
        ) from error
    return b"".join(parts), place - len(inflater.unused_data) - offset


def _scan_members(path: Path, data: mmap.mmap, max_record: int) -> Iterator[RawRecord]:
    offset = 0
    while offset < len(data):
        where = f"{path} at offset {offset}"
        if data[offset : offset + 2] != b"\x1f\x8b"[: len(data) - offset]:
            raise CollectionError(f"{where}: no gzip member where a record should begin; the file is damaged")
        text, length = inflate(where, data, offset, limit=max_record)
        yield from parse_member(where, text, offset, length)
        offset += length


def _scan_plain(path: Path, data: mmap.mmap, max_record: int) -> Iterator[RawRecord]:
    offset = 0
    while offset < len(data):
        where = f"{path} at offset {offset}"
        fields, start, end = _parse(where, data, offset, len(data))
        if end - start > max_record:
            raise CollectionError(f"{where}: a record of more than {max_record >> 20} MiB; leave it out")
        if end > len(data):
            raise TornTail(f"{where}: the file ends inside a record; the rest was never written")
        after = _skip_line_ends(data, end)
        if after == end and after < len(data):
            raise CollectionError(f"{where}: wrong Content-Length in a WARC header; the file is damaged")
        yield RawRecord(offset=offset, length=after - offset, fields=fields, block=data[start:end])
        offset = after


def _parse(where: str, data: bytes | mmap.mmap, place: int, size: int) -> tuple[dict[str, str], int, int]:
    """Header fields of the record at `place`, and where its block starts and ends."""
    head = data[place : place + MAX_HEADER_BYTES]
    if not _VERSION.match(head):
        hint = (
            "it is an ARC file: convert it with `warcio recompress`"
            if head[:11] == b"filedesc://"
            else "check it"
        )
        raise CollectionError(f"{where}: not a WARC record; {hint}")
    end = _HEADER_END.search(head)
    if end is None:
        if size - place <= MAX_HEADER_BYTES:
            raise TornTail(f"{where}: the file ends inside a WARC header; the rest was never written")
        raise CollectionError(
            f"{where}: a WARC header of more than {MAX_HEADER_BYTES} bytes; leave the file out"
        )
    fields: dict[str, str] = {}
    name = ""
    for line in head[: end.start()].decode("utf-8", "replace").split("\n")[1:]:
        if line[:1] in (" ", "\t") and name:
            fields[name] = f"{fields[name]} {line.strip()}"
            continue
        key, _, value = line.partition(":")
        name = key.strip().lower()
        fields.setdefault(name, value.strip())
    length = fields.get("content-length", "")
    if not _LENGTH.fullmatch(length):
        raise CollectionError(f"{where}: no usable Content-Length in a WARC header; the file is damaged")
    start = place + end.end()
    return fields, start, start + int(length)


def _skip_line_ends(data: bytes | mmap.mmap, place: int) -> int:
    """Past the two line ends after a block; some writers leave more, or fewer, than the standard's."""
    tail = data[place : place + 16]
    return place + len(tail) - len(tail.lstrip(b"\r\n"))
