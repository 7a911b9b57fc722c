"""Proof that an archive file is whole: members, offsets, headers, digests, references."""

from __future__ import annotations

from pathlib import Path

import msgspec

from honeyguide.errors import CollectionError
from honeyguide.store.archive_reader import as_response
from honeyguide.store.archive_scan import RawRecord, scan
from honeyguide.web.digest import sha1_digest

_REQUIRED = ("warc-type", "warc-record-id", "warc-date", "content-length")
_KINDS = frozenset({"warcinfo", "response", "request", "metadata", "revisit", "resource"})


class ArchiveReport(msgspec.Struct, frozen=True):
    """What `check_archive` saw."""

    records: dict[str, int]
    """Number of records by type."""
    bytes: int
    """Size of the file, all of it accounted for by records."""


def check_archive(path: Path) -> ArchiveReport:
    """Read a whole archive file as Honeyguide writes them and verify everything that can be.

    Each record must be a gzip member of its own at the offset where the one before it ended, have the
    required fields, a unique identifier and digests that match; the first must be a warcinfo record;
    requests and metadata must name a record of the file.

    Raises:
        CollectionError: For the first thing that is wrong.
    """
    counts: dict[str, int] = {}
    identifiers: set[str] = set()
    end = 0
    for record in scan(path):
        where = f"{path} at offset {record.offset}"
        if record.offset != end or not record.alone:
            raise CollectionError(
                f"{where}: a record does not begin where the last one ended; restore the file"
            )
        _check_fields(where, record, first=end == 0)
        identifier = record.fields["warc-record-id"]
        if identifier in identifiers:
            raise CollectionError(f"{where}: record identifier {identifier} occurs twice; restore the file")
        identifiers.add(identifier)
        other = record.fields.get("warc-concurrent-to", identifier)
        if other not in identifiers:
            raise CollectionError(f"{where}: it belongs to {other}, which is not before it; restore the file")
        _check_digests(where, record)
        counts[record.kind] = counts.get(record.kind, 0) + 1
        end = record.offset + record.length
    return ArchiveReport(records=counts, bytes=end)


def _check_fields(where: str, record: RawRecord, *, first: bool) -> None:
    missing = [name for name in _REQUIRED if not record.fields.get(name)]
    if missing:
        raise CollectionError(f"{where}: no {', '.join(missing)}; restore the file")
    if record.kind not in _KINDS:
        raise CollectionError(f"{where}: unknown record type {record.kind!r}; restore the file")
    if first != (record.kind == "warcinfo"):
        raise CollectionError(f"{where}: a warcinfo record must be first and only first; restore the file")


def _check_digests(where: str, record: RawRecord) -> None:
    if record.fields.get("warc-block-digest") != sha1_digest(record.block):
        raise CollectionError(f"{where}: the block digest does not match; restore the file from a copy")
    if record.kind not in ("response", "resource"):
        return
    answer = as_response(record)
    if answer is None or answer.digest != sha1_digest(answer.payload):
        raise CollectionError(f"{where}: the payload digest does not match; restore the file from a copy")
