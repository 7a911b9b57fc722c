"""WARC/1.1 records as gzip members: the byte-level half of the archive writer.

A member is put together by hand where that saves work. The WARC and HTTP headers are deflated; a
payload that arrived compressed is appended as *stored* deflate blocks, so that bytes which cannot
shrink are only checksummed. Any gzip reader takes the result.
"""

from __future__ import annotations

import hashlib
import io
import re
import warnings
import zlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote
from uuid import UUID

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # fastwarc 1.1 uses its own old names when imported
    from fastwarc import stream_io

GzipWriter: Any = getattr(stream_io, "GzipWriter", None)
REVISIT_PROFILE = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_PAIRS = tuple(first + second for first in _ALPHABET for second in _ALPHABET)
_SHIFTS = tuple(range(150, -1, -10))
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
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


def sha1_digest(*parts: bytes) -> str:
    """`sha1:` plus base32 of the parts put together, the form WARC digests are written in.

    Example:
        >>> sha1_digest(b"")
        'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    digest = hashlib.sha1(usedforsecurity=False)
    for part in parts:
        digest.update(part)
    bits = int.from_bytes(digest.digest())
    # The standard library's base32 takes 5 µs, four times a page.
    return "sha1:" + "".join([_PAIRS[(bits >> shift) & 1023] for shift in _SHIFTS])


def warc_date(at: float) -> str:
    """Epoch seconds as a WARC/1.1 date, to the microsecond.

    Example:
        >>> warc_date(0.25)
        '1970-01-01T00:00:00.250000Z'
    """
    moment = _EPOCH + timedelta(microseconds=round(at * 1e6))
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def record_id(seed: UUID, file: str, offset: int) -> str:
    """A record's identifier: equal runs give equal identifiers, with nothing to remember on resume.

    The place of a record in a collection is unique, so a name-based UUID of it is too.
    """
    name = f"{file}:{offset}".encode()
    digest = bytearray(hashlib.sha1(seed.bytes + name, usedforsecurity=False).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return f"<urn:uuid:{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}>"


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
    head = head.lstrip(b"\r\n").rstrip(b"\r\n \t")
    if b"\n\r\n" in head or b"\n\n" in head or _BLANK_LINES.search(head):
        head = _BLANK_LINES.sub(b"", head)
    return head + b"\r\n\r\n"


def is_packed(head: bytes) -> bool:
    """Whether the payload after this head is compressed already, so that deflating it is wasted."""
    return _ENCODED.search(head) is not None or _PACKED_TYPE.search(head) is not None


def header(fields: Iterable[tuple[str, str]], length: int) -> bytes:
    """The WARC header block of a record."""
    lines = "".join([f"{name}: {value}\r\n" for name, value in fields if value])
    return f"WARC/1.1\r\n{lines}Content-Length: {length}\r\n\r\n".encode("utf-8", "replace")


class RecordPacker:
    """Makes gzip members of records, keeping one deflater for all of them.

    For 29 KB of HTML fastwarc's zlib-ng takes 107 µs at level 1 (to 12.6 KB) and 190 µs at level 2 (9.8 KB);
    the standard library's level 1 takes 237 µs (10.3 KB), and is used where an older fastwarc has no
    `GzipWriter`. Most pages arrive compressed and are not deflated at all, so speed is the default.
    """

    def __init__(self, level: int = 1) -> None:
        self._level = level
        self._output = io.BytesIO()
        self._writer = GzipWriter(self._output, compression_level=level) if GzipWriter else None

    def pack(self, head: bytes, payload: bytes, *, stored: bool) -> bytes:
        """One gzip member holding a record: `head` (WARC and HTTP headers), `payload`, two line ends.

        Args:
            head: Always deflated.
            payload: Deflated, or appended as stored blocks.
            stored: Whether `payload` is compressed already.
        """
        if stored:
            return _half_stored(head, payload)
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
        _GZIP_HEADER,
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
