"""Whether a zstd stream is whole, by the lengths in its headers (RFC 8878, section 3.1).

The library decompresses piece by piece within bounds, but does not say whether the last frame had its end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

_MAGIC: Final = 0xFD2FB528
_SKIPPABLE: Final = 0x184D2A50
"""With any last four bits."""
_RLE: Final = 1
MOST_HEADERS: Final = 200_000
"""Headers that are read. Real blocks hold thousands of bytes; whoever sends empty ones by the million would
hold the crawl up, and is believed to have come to an end."""


class ZstdFrames:
    """Follows a stream from header to header; contents are passed over.

    Example:
        >>> import zstandard
        >>> whole, cut = ZstdFrames(), ZstdFrames()
        >>> data = zstandard.ZstdCompressor().compress(b"owl")
        >>> whole.feed(data), cut.feed(data[:-1])
        (None, None)
        >>> whole.whole, cut.whole
        (True, False)
    """

    def __init__(self) -> None:
        self._skip = 0
        """Bytes of contents before the next header."""
        self._head = b""
        self._size = 4
        self._read: Callable[[int], None] = self._magic
        """Reads the next header once its `_size` bytes are there."""
        self._checksum = 0
        self._headers = 0
        self._over = False

    @property
    def whole(self) -> bool:
        """Whether every frame that began has ended; so, too, before the first."""
        return self._over or (self._read == self._magic and not self._head and not self._skip)

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        at, end = 0, len(data)
        while at < end and not self._over:
            if self._skip:
                step = min(self._skip, end - at)
                self._skip -= step
                at += step
                continue
            piece = data[at : at + self._size - len(self._head)]
            at += len(piece)
            self._head += piece
            if len(self._head) == self._size:
                number, self._head = int.from_bytes(self._head, "little"), b""
                self._read(number)
                self._headers += 1
                self._over = self._over or self._headers >= MOST_HEADERS

    def _next(self, read: Callable[[int], None], size: int, *, skip: int = 0) -> None:
        self._read, self._size, self._skip = read, size, skip

    def _magic(self, number: int) -> None:
        if number == _MAGIC:
            self._next(self._descriptor, 1)
        elif number & ~0xF == _SKIPPABLE:
            self._next(self._skippable, 4)
        else:
            self._over = True  # no frame: what the library makes of it is its business

    def _skippable(self, length: int) -> None:
        self._next(self._magic, 4, skip=length)

    def _descriptor(self, flags: int) -> None:
        single = flags >> 5 & 1
        self._checksum = 4 * (flags >> 2 & 1)
        content_size = (single, 2, 4, 8)[flags >> 6]
        self._next(self._block, 3, skip=1 - single + (0, 1, 2, 4)[flags & 3] + content_size)

    def _block(self, header: int) -> None:
        length = 1 if header >> 1 & 3 == _RLE else header >> 3
        if header & 1:
            self._next(self._magic, 4, skip=length + self._checksum)
        else:
            self._next(self._block, 3, skip=length)
