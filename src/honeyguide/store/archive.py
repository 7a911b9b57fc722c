"""The web archive of a collection: WARC/1.1, one gzip member a record, safe to cut after a crash.

Writing is buffered in memory. `flush` hands everything to the operating system and says where the
archive then ends; the state commits that position, and `ArchiveWriter.resume` cuts whatever lies
beyond the committed one. Record identifiers come from a seed and the record's place, so two equal
runs with an injected clock give equal files.

A gzip member is put together by hand where that saves work. The WARC and HTTP headers are deflated; a payload
that arrived compressed is appended as *stored* deflate blocks, so bytes that cannot shrink are only
checksummed, and one that was deflated in another process (`packed.py`) as it is. Any gzip reader takes the
result.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import warnings
import zlib
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import NAMESPACE_URL, UUID, uuid5

import msgspec

from honeyguide.errors import CollectionError
from honeyguide.failpoint import failpoint
from honeyguide.store.atomic import sync_folder
from honeyguide.store.layout import MERGED
from honeyguide.store.packed import GZIP_HEADER, QUICK, Packed, joined
from honeyguide.store.plain import open_plain
from honeyguide.store.shards import shard_folder
from honeyguide.web.digest import sha1_digest

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # fastwarc 1.1 uses its own old names when imported
    from fastwarc import stream_io

GzipWriter: Any = getattr(stream_io, "GzipWriter", None)
REVISIT_PROFILE = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NOT_MODIFIED_PROFILE = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STORED_LIMIT = 65_535
# Clearing a full window of 256 KB costs more than deflating a short record.
_SMALL = 4_096
_SMALL_WINDOW = (28, 5)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_URL_SAFE = "!#$%&'()*+,/:;=?@[]~-._"
_ENCODED = re.compile(rb"\ncontent-encoding:[ \t]*(gzip|x-gzip|deflate|br|zstd|compress)", re.IGNORECASE)
_PACKED_TYPE = re.compile(
    rb"\ncontent-type:[ \t]*(image/(jpe?g|png|gif|webp|avif)|video/|audio/|font/woff"
    rb"|application/(pdf|zip|gzip|x-gzip|epub))",
    re.IGNORECASE,
)
_BLANK_LINES = re.compile(rb"\r?\n[ \t]*(?=\r?\n)")
_VARIANT = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}
_EDGES = frozenset((b"", b"\r", b"\n", b" ", b"\t"))


def warc_date(at: float) -> str:
    """Epoch seconds as a WARC/1.1 date, to the microsecond.

    Example:
        >>> warc_date(0.25)
        '1970-01-01T00:00:00.250000Z'
    """
    moment = _EPOCH + timedelta(microseconds=round(at * 1e6))
    return moment.isoformat(timespec="microseconds")[:26] + "Z"


def record_id(seed: UUID, file: str, offset: int) -> str:
    """A record's identifier: equal runs give equal identifiers, with nothing to remember on resume.

    The place of a record in a collection is unique, so a name-based UUID of it is too.
    """
    name = f"{file}:{offset}".encode()
    text = hashlib.sha1(seed.bytes + name, usedforsecurity=False).hexdigest()
    # Version 5, and the variant of RFC 9562 in the upper two bits of the ninth byte.
    return (
        f"<urn:uuid:{text[:8]}-{text[8:12]}-5{text[13:16]}-{_VARIANT[text[16]]}{text[17:20]}-{text[20:32]}>"
    )


def field(text: str) -> str:
    """A header value without anything that could start another header."""
    if text.isprintable():
        return text
    return _CONTROLS.sub(" ", text).strip()


def uri(text: str) -> str:
    r"""A target URI: printable ASCII as it is, anything else percent-encoded.

    Example:
        >>> uri("http://a.example/x y\r\nWARC-Type: request")
        'http://a.example/x%20y%0D%0AWARC-Type:%20request'
    """
    if text.isascii() and text.isprintable() and " " not in text and "<" not in text and ">" not in text:
        return text
    return quote(text.encode("utf-8", "replace"), safe=_URL_SAFE)


def http_head(head: bytes) -> bytes:
    """A message head with exactly one blank line, at its end.

    A blank line inside it (an odd server, an odd parser) would move the point where readers see the
    payload begin, and the payload digest would no longer match.
    """
    if _is_clean(head):
        return head
    head = head.lstrip(b"\r\n").rstrip(b"\r\n \t")
    if b"\n\r\n" in head or b"\n\n" in head or _BLANK_LINES.search(head):
        head = _BLANK_LINES.sub(b"", head)
    return head + b"\r\n\r\n"


def _is_clean(head: bytes) -> bool:
    """Whether a head is surely as it should be; nearly all are, and searching for bytes shows it quickly."""
    size = len(head)
    return (
        head.find(b"\n\r\n") == size - 3
        and head[-4:-3] == b"\r"
        and head[-5:-4] not in _EDGES
        and head[:1] not in _EDGES
        and b"\n\n" not in head
        and b"\n " not in head
        and b"\n\t" not in head
    )


def is_packed(head: bytes) -> bool:
    """Whether the payload after this head is compressed already, so that deflating it is wasted."""
    return _ENCODED.search(head) is not None or _PACKED_TYPE.search(head) is not None


def header(fields: Iterable[tuple[str, str]], length: int) -> bytes:
    """The WARC header block of a record."""
    lines = "".join([f"{name}: {value}\r\n" for name, value in fields if value])
    return f"WARC/1.1\r\n{lines}Content-Length: {length}\r\n\r\n".encode("utf-8", "replace")


class RecordPacker:
    """Makes gzip members of records, keeping one deflater for all of them.

    For 31 KB of HTML ISA-L takes 85 µs at level 1 (to 9.6 KB) and 8 µs for a record of 500 bytes. Where it is
    missing, or another level is asked for, fastwarc's zlib-ng (261 µs to 11.9 KB) and the standard library
    do it (22 µs). Most pages arrive compressed and are not deflated at all, so speed is the default.

    Args:
        level: zlib's.
        quick: Whether ISA-L may do it.
    """

    def __init__(self, level: int = 1, *, quick: bool = True) -> None:
        self._level = level
        self._quick = QUICK if quick and level == 1 else None
        self._output = io.BytesIO()
        self._writer = GzipWriter(self._output, compression_level=level) if GzipWriter else None

    def pack(self, head: bytes, payload: bytes, *, stored: bool, deflated: bytes = b"") -> bytes:
        """One gzip member holding a record: `head` (WARC and HTTP headers), `payload`, two line ends.

        Args:
            head: Always deflated.
            payload: Deflated, or appended as stored blocks.
            stored: Whether `payload` is compressed already.
            deflated: `payload` as `Packed` has it, where it was made ready; ISA-L would do the same.
        """
        if stored:
            return _half_stored(head, payload)
        if deflated and self._quick is not None:
            return joined(head, payload, deflated)
        if self._quick is not None:
            return bytes(self._quick.compress(b"".join((head, payload, b"\r\n\r\n")), 1, wbits=31))
        if len(payload) < _SMALL:
            deflater = zlib.compressobj(1, zlib.DEFLATED, *_SMALL_WINDOW)
            return deflater.compress(head + payload + b"\r\n\r\n") + deflater.flush()
        if self._writer is None:
            deflater = zlib.compressobj(self._level, zlib.DEFLATED, 31)
            return deflater.compress(head + payload + b"\r\n\r\n") + deflater.flush()
        self._writer.write(head + payload + b"\r\n\r\n")
        self._writer.finish()
        data = self._output.getvalue()
        self._output.seek(0)
        self._output.truncate()
        return data


def _half_stored(head: bytes, payload: bytes) -> bytes:
    deflater = zlib.compressobj(1, zlib.DEFLATED, -12, 5)
    parts: list[bytes | memoryview] = [
        GZIP_HEADER,
        deflater.compress(head),
        deflater.flush(zlib.Z_SYNC_FLUSH),
    ]
    view = memoryview(payload)
    for start in range(0, len(payload), _STORED_LIMIT):
        piece = view[start : start + _STORED_LIMIT]
        size = len(piece)
        parts += (b"\x00", size.to_bytes(2, "little"), (size ^ 0xFFFF).to_bytes(2, "little"), piece)
    checksum = zlib.crc32(b"\r\n\r\n", zlib.crc32(payload, zlib.crc32(head)))
    length = (len(head) + len(payload) + 4) & 0xFFFFFFFF
    parts += (b"\x01\x04\x00\xfb\xff\r\n\r\n", checksum.to_bytes(4, "little"), length.to_bytes(4, "little"))
    return b"".join(parts)


DEFAULT_MAX_BYTES = 1 << 30
_BUFFER_BYTES = 1 << 20
_TRUNCATED = frozenset({"", "length", "time", "disconnect", "unspecified"})
_PREFIX = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_OF_SHARD = re.compile(r"([0-9]{2,5})\.([A-Za-z0-9][A-Za-z0-9._-]{0,150})")
_ADDRESS = re.compile(r"[0-9A-Fa-f:.]{2,45}")


class Position(NamedTuple):
    """A place in the archive."""

    file: str
    """Name within the archive folder."""
    offset: int
    length: int = 0
    """Bytes of the record's gzip member; 0 where a position is just an end."""


class RenderedRecord(msgspec.Struct, frozen=True):
    """What a browser made of an answer."""

    html: bytes
    """The document when its scripts had run, in UTF-8."""
    at: float
    """Epoch seconds at which it was read."""


class Exchange(msgspec.Struct, frozen=True):
    """One request and its answer, as plain fields."""

    url: str
    at: float
    """Epoch seconds at which the request was made."""
    response_head: bytes
    """Status line and headers as received, transfer coding renamed."""
    payload: bytes = b""
    """Body as received, its Content-Encoding still on."""
    request_head: bytes = b""
    """Request line and headers as sent; without them no request record is written."""
    ip: str = ""
    truncated: str = ""
    """Empty, or `length`, `time`, `disconnect`."""
    digest: str = ""
    """`sha1:` plus base32 of `payload`; computed when empty."""
    refers_to: tuple[str, float] | None = None
    """URL and time of an archived answer with the same payload: a revisit record is written."""
    not_modified: bool = False
    """With `refers_to`: the server said so (304), and `digest` is that of the archived payload."""
    metadata: dict[str, str] = {}
    """What the crawl thought of it (via, hops, verdict, ...)."""
    rendered: RenderedRecord | None = None
    """Its rendered document, which gets a record of its own right behind the answer."""
    packed: Packed | None = None
    """What was made ready of head and payload, where pages are parsed."""


class ArchiveWriter:
    """Appends records to `PREFIX-00001.warc.gz`, `PREFIX-00002.warc.gz`, ...

    Args:
        folder: Must exist.
        prefix: Start of the file names.
        max_bytes: A file that has reached this size is followed by another. The records of one
            exchange stay together, so a file may be longer by one exchange.
        software: Name and version for the warcinfo record.
        clock: Epoch seconds, for the date of warcinfo records.
        seed: Makes record identifiers differ between collections. Give a value that a resumed crawl
            gives again (the collection's name and creation time), or they differ after a resume.
        level: zlib level for payloads that are not compressed already.
    """

    def __init__(
        self,
        folder: Path,
        *,
        prefix: str,
        software: str,
        clock: Callable[[], float],
        max_bytes: int = DEFAULT_MAX_BYTES,
        seed: str = "",
        level: int = 1,
        start: Position | None = None,
    ) -> None:
        if not _PREFIX.fullmatch(prefix):
            raise CollectionError(f"archive prefix {prefix!r}: use letters, digits, dots and dashes only")
        if not folder.is_dir():
            raise CollectionError(f"{folder}: no such folder; create the collection first")
        self._folder = folder
        self._prefix = prefix
        self._max_bytes = max_bytes
        self._software = software
        self._clock = clock
        self._seed = uuid5(NAMESPACE_URL, f"honeyguide:{prefix}:{seed or repr(clock())}")
        self._packer = RecordPacker(level)
        self._number = file_number(start.file, prefix) if start else 1
        self._offset = start.offset if start else 0
        self._buffer: list[bytes] = []
        self._buffered = 0
        self._descriptor = -1
        self._name_synced = False
        self._broken = False
        self._name = f"{prefix}-{self._number:05d}.warc.gz"
        # A file that is gone on with keeps its warcinfo record; without the seed its name is unknown.
        self._warcinfo = record_id(self._seed, self._name, 0) if seed else ""
        if start is None and (folder / self._name).exists():
            raise CollectionError(f"{folder / self._name} exists already; resume the crawl instead")

    @classmethod
    def resume(
        cls,
        folder: Path,
        committed: tuple[str, int] | None,
        *,
        prefix: str,
        software: str,
        clock: Callable[[], float],
        max_bytes: int = DEFAULT_MAX_BYTES,
        seed: str = "",
        level: int = 1,
    ) -> ArchiveWriter:
        """Go on after the committed end: what lies beyond it is moved to `NAME.uncommitted`.

        So are files begun after it, and all files where nothing was committed: of a crawl killed before its
        first commit, or of a collection whose state was lost. Nothing is ever removed.

        Raises:
            CollectionError: The archive is shorter than what was committed.
        """
        start = None
        if committed is None:
            _set_aside(folder, prefix)
        else:
            start = Position(*committed)
            _cut(folder, prefix, start)
            failpoint("resume.cut")
        return cls(
            folder,
            prefix=prefix,
            software=software,
            clock=clock,
            max_bytes=max_bytes,
            seed=seed,
            level=level,
            start=start,
        )

    def write_exchange(self, exchange: Exchange) -> Position:
        """Append response (or revisit), rendered document, request and metadata; the first one's position."""
        if exchange.truncated not in _TRUNCATED:
            raise ValueError(f"truncated is {exchange.truncated!r}, not one of {sorted(_TRUNCATED)}")
        if not exchange.response_head:
            raise ValueError(f"{exchange.url}: an exchange needs the head of its response")
        self._begin_record()
        date = warc_date(exchange.at)
        target = uri(exchange.url)
        address = exchange.ip if _ADDRESS.fullmatch(exchange.ip) else ""
        response_id = self._next_id()
        position = self._write_response(exchange, response_id, date=date, target=target, address=address)
        if exchange.rendered is not None:
            self._write_rendered(exchange.rendered, response_id, target=target)
        common = (
            ("WARC-Date", date),
            ("WARC-Target-URI", target),
            ("WARC-Concurrent-To", response_id),
        )
        if exchange.request_head:
            head = http_head(exchange.request_head)
            more = (("WARC-IP-Address", address), ("Content-Type", "application/http; msgtype=request"))
            self._append("request", (*common, *more), head)
        if exchange.metadata:
            lines = [
                f"{field(name).replace(':', '-')}: {field(value)}\r\n"
                for name, value in exchange.metadata.items()
            ]
            block = "".join(lines).encode("utf-8", "replace")
            self._append("metadata", (*common, ("Content-Type", "application/warc-fields")), block)
        return position

    def flush(self, *, sync: bool = False) -> Position:
        """Push everything to the operating system, with `sync` to the disk; the end of the archive."""
        self._drain()
        if sync and self._descriptor >= 0:
            os.fsync(self._descriptor)
            if not self._name_synced:
                sync_folder(self._folder)
                self._name_synced = True
        return Position(self._name, self._offset)

    def close(self) -> Position:
        """Flush to the disk and let go of the file. Closing twice is allowed."""
        end = Position(self._name, self._offset) if self._broken else self.flush(sync=True)
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
            self._name_synced = False
        return end

    def _write_response(
        self, exchange: Exchange, response_id: str, *, date: str, target: str, address: str
    ) -> Position:
        head = http_head(exchange.response_head)
        digest = exchange.digest or sha1_digest(exchange.payload)
        fields = [
            ("WARC-Record-ID", response_id),
            ("WARC-Date", date),
            ("WARC-Target-URI", target),
            ("WARC-IP-Address", address),
            ("WARC-Warcinfo-ID", self._warcinfo),
            ("WARC-Payload-Digest", digest),
        ]
        payload, ready = exchange.payload, exchange.packed
        kind = "response"
        truncated = exchange.truncated
        if exchange.refers_to is not None:
            kind = "revisit"
            payload, ready = b"", None
            if exchange.not_modified:
                # The standard allows an empty block here. With the head of a 304 in it, pywb would replay
                # that, which browsers show as an empty page; the status is in the metadata record.
                head = b""
            else:
                # The standard wants the cut of an identical payload marked as well.
                truncated = truncated or "length"
            fields += (
                ("WARC-Profile", NOT_MODIFIED_PROFILE if exchange.not_modified else REVISIT_PROFILE),
                ("WARC-Refers-To-Target-URI", uri(exchange.refers_to[0])),
                ("WARC-Refers-To-Date", warc_date(exchange.refers_to[1])),
            )
        fields += (
            ("WARC-Truncated", truncated),
            ("WARC-Block-Digest", ready.block_digest if ready is not None else sha1_digest(head, payload)),
            ("Content-Type", "application/http; msgtype=response"),
        )
        start = header((("WARC-Type", kind), *fields), len(head) + len(payload)) + head
        deflated = ready.deflated if ready is not None else b""
        return self._put(self._packer.pack(start, payload, stored=is_packed(head), deflated=deflated))

    def _write_rendered(self, rendered: RenderedRecord, response_id: str, *, target: str) -> None:
        """A conversion record: what the standard has for another version of an archived answer."""
        fields = (
            ("WARC-Date", warc_date(rendered.at)),
            ("WARC-Target-URI", target),
            ("WARC-Refers-To", response_id),
            ("WARC-Warcinfo-ID", self._warcinfo),
            ("WARC-Payload-Digest", digest := sha1_digest(rendered.html)),
            ("Content-Type", "text/html; charset=utf-8"),
        )
        self._append("conversion", fields, rendered.html, digest=digest)

    def _append(
        self, kind: str, fields: tuple[tuple[str, str], ...], block: bytes, *, digest: str = ""
    ) -> Position:
        named = (
            ("WARC-Type", kind),
            ("WARC-Record-ID", self._next_id()),
            *fields,
            ("WARC-Block-Digest", digest or sha1_digest(block)),
        )
        return self._put(self._packer.pack(header(named, len(block)), block, stored=False))

    def _begin_record(self) -> None:
        """Rotate when the file is full, and start each file with a warcinfo record."""
        if self._broken:
            raise CollectionError(f"{self._folder / self._name}: an earlier write failed; resume the crawl")
        if self._offset >= self._max_bytes:
            self.close()
            self._number += 1
            self._name = f"{self._prefix}-{self._number:05d}.warc.gz"
            self._offset = 0
        if self._offset == 0:
            self._warcinfo = self._next_id()
            lines = f"software: {field(self._software)}\r\nformat: WARC File Format 1.1\r\n"
            fields = (
                ("WARC-Date", warc_date(self._clock())),
                ("WARC-Filename", self._name),
                ("Content-Type", "application/warc-fields"),
            )
            self._append("warcinfo", fields, lines.encode("utf-8", "replace"))

    def _next_id(self) -> str:
        return record_id(self._seed, self._name, self._offset)

    def _put(self, data: bytes) -> Position:
        position = Position(self._name, self._offset, len(data))
        self._buffer.append(data)
        self._buffered += len(data)
        self._offset += len(data)
        if self._buffered >= _BUFFER_BYTES:
            self._drain()
        return position

    def _drain(self) -> None:
        if not self._buffer:
            return
        path = self._folder / self._name
        try:
            if self._descriptor < 0:
                self._descriptor = open_plain(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            view = memoryview(b"".join(self._buffer))
            # In two parts, so that a test can fall in between: a record torn in the file.
            half = len(view) // 2
            for part in (view[:half], view[half:]):
                self._write(part)
                failpoint("archive.torn")
        except OSError as error:
            self._broken = True
            raise CollectionError(
                f"{path}: {error.strerror}; free space on the disk and resume the crawl"
            ) from error
        failpoint("archive.flushed")
        self._buffer.clear()
        self._buffered = 0

    def _write(self, view: memoryview) -> None:
        while view:
            view = view[os.write(self._descriptor, view) :]


def file_number(name: str, prefix: str) -> int:
    """The number in an archive file's name; CollectionError when it is not a name of this archive."""
    match = re.fullmatch(re.escape(prefix) + r"-([0-9]{5,9})\.warc\.gz", name)
    if match is None:
        raise CollectionError(
            f"{name!r} is not an archive file of {prefix!r}; is the state of another collection?"
        )
    return int(match[1])


def archive_path(folder: Path, name: str) -> Path:
    """Where a file of an archive is.

    A merged collection of shards has no files of its own: `03.pages-00001.warc.gz` is that file of shard 03.

    Raises:
        CollectionError: No file can have such a name.
    """
    if not name or Path(name).name != name:
        raise CollectionError(f"{name!r} is not an archive file; is the state of another collection?")
    if folder.parent.name == MERGED and (of_shard := _OF_SHARD.fullmatch(name)):
        return shard_folder(folder.parent.parent, of_shard[1]) / folder.name / of_shard[2]
    return folder / name


def archive_files(folder: Path, prefix: str) -> list[Path]:
    """The archive's files in the order they were written."""
    pattern = re.compile(re.escape(prefix) + r"-([0-9]{5,9})\.warc\.gz")
    found = [(int(match[1]), path) for path in folder.iterdir() if (match := pattern.fullmatch(path.name))]
    return [path for _, path in sorted(found)]


def _cut(folder: Path, prefix: str, committed: Position) -> None:
    number = file_number(committed.file, prefix)
    path = folder / committed.file
    if committed.offset == 0 and not path.exists():
        return
    try:
        descriptor = open_plain(path, os.O_RDWR)
    except FileNotFoundError:
        raise _too_short(path, 0, committed.offset) from None
    try:
        size = os.fstat(descriptor).st_size
        if size < committed.offset:
            raise _too_short(path, size, committed.offset)
        for later in archive_files(folder, prefix):
            if file_number(later.name, prefix) > number:
                _put_aside(later)
        if size > committed.offset:
            _keep_tail(path, descriptor, committed.offset)
            os.ftruncate(descriptor, committed.offset)
    except OSError as error:
        raise CollectionError(f"{path}: {error.strerror}; free space on the disk") from error
    finally:
        os.close(descriptor)


def _too_short(path: Path, size: int, committed: int) -> CollectionError:
    return CollectionError(f"{path} has {size} bytes, but {committed} were committed; restore it from a copy")


def _set_aside(folder: Path, prefix: str) -> None:
    for path in archive_files(folder, prefix):
        _put_aside(path)


def _put_aside(path: Path) -> None:
    path.rename(_name_aside(path))


def _keep_tail(path: Path, descriptor: int, offset: int) -> None:
    """A copy of what is about to be cut: if the state is an old one, that was committed once."""
    aside = open_plain(_name_aside(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        os.lseek(descriptor, offset, os.SEEK_SET)
        while chunk := os.read(descriptor, _BUFFER_BYTES):
            view = memoryview(chunk)
            while view:
                view = view[os.write(aside, view) :]
        os.fsync(aside)
    finally:
        os.close(aside)


def _name_aside(path: Path) -> Path:
    free = (path.with_name(f"{path.name}.uncommitted{end}") for end in ("", *range(1, 10_000)))
    return next(other for other in free if not other.exists())
