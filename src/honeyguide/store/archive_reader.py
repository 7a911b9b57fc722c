"""Archived answers: one by its position, all of a file in order, or an index of a file.

Reads Honeyguide's own archives and other people's: bare or gzipped WARC, bracketed target URIs,
chunked bodies, several records in one gzip member. What cannot be read ends in a `CollectionError`
that names the file and the offset.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec

from honeyguide.errors import CollectionError
from honeyguide.store.archive import Position, archive_path
from honeyguide.store.archive_scan import MAX_RECORD_BYTES, RawRecord, TornTail, inflate, parse_member, scan
from honeyguide.store.plain import reading

MAX_HTTP_HEAD_BYTES = 256 * 1024
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_STATUS = re.compile(rb"HTTP/[0-9.]+[ \t]+([0-9]{3})")
_CHUNK_SIZE = re.compile(rb"[ \t]*([0-9a-fA-F]{1,8})[^\r\n]{0,4096}\r?\n")
_FRACTION = re.compile(r"\.([0-9]+)")
_AHEAD = 64 * 1024


class Reference(NamedTuple):
    """What a revisit record points at."""

    url: str
    at: float
    digest: str


Lookup: TypeAlias = Callable[[Reference], Position | None]
"""Where the answer is that a revisit refers to, or None when it is not at hand."""


class ArchivedResponse(msgspec.Struct, frozen=True):
    """An answer from the archive."""

    url: str
    at: float
    """Epoch seconds of its WARC-Date."""
    status: int
    """HTTP status; 200 for resource records."""
    headers: tuple[tuple[str, str], ...]
    payload: bytes
    """Body with its Content-Encoding still on; transfer coding removed."""
    kind: str = "response"
    """`response`, `revisit` or `resource`."""
    head: bytes = b""
    """Status line and headers as archived."""
    ip: str = ""
    digest: str = ""
    truncated: str = ""
    refers_to: Reference | None = None
    """Set for revisits; `payload` is empty unless a lookup found it."""
    offset: int = 0
    length: int = 0

    def header(self, name: str) -> str:
        """First value of a header, or an empty string."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), "")

    @property
    def encoding(self) -> str:
        """What all Content-Encoding headers say together: two codings may stand in two headers."""
        return ", ".join(value for key, value in self.headers if key.lower() == "content-encoding")


def read_record(
    folder: Path, file: str, offset: int, length: int, *, lookup: Lookup | None = None
) -> ArchivedResponse:
    """The answer at a position, a revisit with the payload it refers to when `lookup` finds it.

    Raises:
        CollectionError: There is no whole answer there, or the referred one is missing or a revisit.
    """
    answer = _read(folder, file, offset, length)
    if answer.refers_to is None or lookup is None:
        return answer
    place = lookup(answer.refers_to)
    if place is None:
        raise CollectionError(
            f"{folder / file} at offset {offset}: it refers to {answer.refers_to.url},"
            " which is not in the archive; fetch the page again"
        )
    original = _read(folder, place.file, place.offset, place.length)
    if original.refers_to is not None:
        raise CollectionError(
            f"{folder / place.file} at offset {place.offset}: a revisit of a revisit; fetch it again"
        )
    return msgspec.structs.replace(answer, payload=original.payload)


def read_rendered(folder: Path, file: str, offset: int, length: int) -> bytes | None:
    """The rendered document that belongs to the answer at a position; None when it has none.

    It is the conversion record right behind the answer.

    Raises:
        CollectionError: The archive is damaged there.
    """
    answer, following = _raw(folder, file, offset, length), offset + length
    where = f"{folder / file} at offset {following}"
    try:
        with reading(archive_path(folder, file)) as handle:
            handle.seek(following)
            data = handle.read(_AHEAD)
            while True:
                try:
                    text, size = inflate(where, data, 0, limit=MAX_RECORD_BYTES)
                    break
                except TornTail:
                    more = handle.read(len(data))
                    if not more:
                        return None
                    data += more
    except OSError as error:
        raise CollectionError(f"{where}: {error.strerror}; restore the archive file") from error
    record = parse_member(where, text, following, size)[0]
    own = record.fields.get("warc-refers-to", "") == answer.fields.get("warc-record-id", "")
    return record.block if record.kind == "conversion" and own else None


def iterate(
    path: Path, *, torn_ok: bool = False, max_record: int = MAX_RECORD_BYTES
) -> Iterator[ArchivedResponse]:
    """All answers of a file in order: responses, revisits (without payload) and resources.

    Args:
        path: Any WARC file, gzipped or not.
        torn_ok: End quietly where the file ends inside a record, as an archive does whose crawl
            was killed. Garbage anywhere is an error all the same.
        max_record: Larger records are refused.

    Raises:
        CollectionError: With the file and the offset.
    """
    try:
        for record in scan(path, max_record=max_record):
            answer = as_response(record)
            if answer is not None:
                yield answer
    except TornTail:
        if not torn_ok:
            raise


def as_response(record: RawRecord) -> ArchivedResponse | None:
    """A record as an answer; None for requests, metadata, warcinfo and what is not HTTP."""
    kind = record.kind
    fields = record.fields
    if kind not in ("response", "revisit", "resource"):
        return None
    head, payload, status = b"", record.block, 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", fields.get("content-type", "")),)
    if kind != "resource":
        if record.block and not record.block.startswith(b"HTTP/"):
            return None
        head, payload = _split(record.block)
        status, headers = _parse_head(head)
        payload = _unchunk(headers, payload)
    return ArchivedResponse(
        url=_bare(fields.get("warc-target-uri", "")),
        at=epoch(fields.get("warc-date", "")),
        status=status,
        headers=headers,
        payload=payload,
        kind=kind,
        head=head,
        ip=fields.get("warc-ip-address", ""),
        digest=fields.get("warc-payload-digest", ""),
        truncated=fields.get("warc-truncated", ""),
        refers_to=_reference(fields) if kind == "revisit" else None,
        offset=record.offset,
        length=record.length,
    )


def epoch(date: str) -> float:
    """Epoch seconds of a WARC date; 0 when it is none.

    Example:
        >>> epoch("1970-01-01T00:00:01.5Z")
        1.5
    """
    text = _FRACTION.sub(lambda match: "." + match[1][:6].ljust(6, "0"), date.strip())
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return 0.0
    return moment.timestamp() if moment.tzinfo else 0.0


def _read(folder: Path, file: str, offset: int, length: int) -> ArchivedResponse:
    answer = as_response(_raw(folder, file, offset, length))
    if answer is None:
        where = f"{folder / file} at offset {offset}"
        raise CollectionError(f"{where}: no archived answer; is the state of another collection?")
    return answer


def _raw(folder: Path, file: str, offset: int, length: int) -> RawRecord:
    where = f"{folder / file} at offset {offset}"
    if Path(file).name != file or offset < 0 or length <= 0:
        raise CollectionError(f"{where}: no position in an archive; is the state of another collection?")
    try:
        with reading(archive_path(folder, file)) as handle:
            handle.seek(offset)
            data = handle.read(min(length, MAX_RECORD_BYTES))
    except OSError as error:
        raise CollectionError(f"{where}: {error.strerror}; restore the archive file") from error
    text = data
    if data[:2] == b"\x1f\x8b":
        text, _ = inflate(where, data, 0, limit=MAX_RECORD_BYTES)
    elif not data:
        raise CollectionError(f"{where}: beyond the end of the file; restore the archive file")
    return parse_member(where, text, offset, length)[0]


def _bare(target: str) -> str:
    return target[1:-1] if target.startswith("<") and target.endswith(">") else target


def _reference(fields: dict[str, str]) -> Reference:
    url = _bare(fields.get("warc-refers-to-target-uri", "") or fields.get("warc-target-uri", ""))
    return Reference(url, epoch(fields.get("warc-refers-to-date", "")), fields.get("warc-payload-digest", ""))


def _split(block: bytes) -> tuple[bytes, bytes]:
    end = _HEAD_END.search(block, 0, MAX_HTTP_HEAD_BYTES)
    if end is None:
        return (block, b"") if len(block) <= MAX_HTTP_HEAD_BYTES else (block[:MAX_HTTP_HEAD_BYTES], b"")
    return block[: end.end()], block[end.end() :]


def _parse_head(head: bytes) -> tuple[int, tuple[tuple[str, str], ...]]:
    match = _STATUS.match(head)
    headers: list[tuple[str, str]] = []
    for line in head.decode("iso-8859-1").split("\n")[1:]:
        if line[:1] in (" ", "\t") and headers and line.strip():
            name, value = headers[-1]
            headers[-1] = (name, f"{value} {line.strip()}")
            continue
        name, colon, value = line.partition(":")
        if colon:
            headers.append((name.strip(), value.strip()))
    return int(match[1]) if match else 0, tuple(headers)


def _unchunk(headers: tuple[tuple[str, str], ...], payload: bytes) -> bytes:
    """Take chunked coding off; a payload that is not really chunked stays as it is."""
    if not any(name.lower() == "transfer-encoding" and "chunked" in value.lower() for name, value in headers):
        return payload
    parts: list[bytes] = []
    place = 0
    while match := _CHUNK_SIZE.match(payload, place):
        size = int(match[1], 16)
        start = match.end()
        if size == 0 or start + size > len(payload):
            parts.append(payload[start : start + size])
            return b"".join(parts)
        parts.append(payload[start : start + size])
        place = start + size
        place += 2 if payload[place : place + 2] == b"\r\n" else payload[place : place + 1] == b"\n"
    return b"".join(parts) if parts and place >= len(payload) else payload
