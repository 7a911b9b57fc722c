"""An answer's payload made ready for its WARC record, before the record's place is known.

A record's identifier comes from its place in the archive, so its header is written last, and by one process.
What takes time does not depend on it: the digest of the block, and the payload's deflate blocks. Both are
made where pages are parsed, in another process than the crawl's.

Only ISA-L does this; where it is missing, nothing is made ready, and the archive does all.
"""

from __future__ import annotations

import zlib
from typing import Any, Final

import msgspec

from honeyguide.web.digest import sha1_digest

QUICK: Any = None
"""Intel's ISA-L with zlib's interface, or None: it is built for most machines, not for all."""
try:
    from isal import isal_zlib  # type: ignore[import-not-found, unused-ignore]

    QUICK = isal_zlib
except ImportError:
    pass

GZIP_HEADER: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_LAST_BLOCK: Final = b"\x01\x04\x00\xfb\xff\r\n\r\n"
"""The two line ends behind a record, as stored deflate block that ends the stream."""


class Packed(msgspec.Struct, frozen=True, array_like=True):
    """What was made ready of an answer."""

    block_digest: str
    """`sha1:` plus base32 of head and payload."""
    deflated: bytes
    """The payload as deflate blocks that end on a whole byte, and do not end the stream."""


def pack_answer(head: bytes, payload: bytes) -> Packed | None:
    """Make an answer ready; None where that brings nothing.

    Args:
        head: Of the answer, as the archive writes it (`honeyguide.store.archive.http_head`).
        payload: Not compressed yet.
    """
    if QUICK is None:
        return None
    return Packed(sha1_digest(head, payload), _blocks(payload))


def joined(head: bytes, payload: bytes, deflated: bytes) -> bytes:
    r"""The gzip member of a record whose payload was made ready.

    The checksum is that of the payload itself: blocks of anything else do not read back.

    Args:
        head: WARC and HTTP headers.
        payload: What was deflated.
        deflated: As `Packed` has it.

    Example:
        >>> import gzip
        >>> ready = pack_answer(b"HTTP/1.1 200 OK\r\n\r\n", b"owls")
        >>> gzip.decompress(joined(b"HEAD ", b"owls", ready.deflated)) if ready else b"HEAD owls\r\n\r\n"
        b'HEAD owls\r\n\r\n'
    """
    checksum = QUICK.crc32(b"\r\n\r\n", QUICK.crc32(payload, QUICK.crc32(head)))
    length = (len(head) + len(payload) + 4) & 0xFFFFFFFF
    end = checksum.to_bytes(4, "little") + length.to_bytes(4, "little")
    return b"".join((GZIP_HEADER, _blocks(head), deflated, _LAST_BLOCK, end))


def _blocks(data: bytes) -> bytes:
    deflater = QUICK.compressobj(1, zlib.DEFLATED, -15)
    return bytes(deflater.compress(data) + deflater.flush(zlib.Z_SYNC_FLUSH))
