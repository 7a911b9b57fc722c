"""Content decoding under a limit: a bomb costs no more than the limit, whatever its codec.

Bytes are pushed through one stage per content coding. Every stage hands its output on in pieces of at
most 128 KiB and counts them, so a stream that would grow to gigabytes stops at the limit with bounded
memory, also in an inner stage of a doubly encoded body.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Protocol

import brotli
import zstandard

from honeyguide.fetch.zstd_frames import ZstdFrames

PIECE = 64 * 1024
"""Output is produced in pieces of this size (zstd: its block size, 128 KiB)."""
MAX_CODINGS = 2
"""Codings stacked on one body. Real servers use one; two happens by mistake; more is an attack."""
ZSTD_WINDOW = 8 * 1024 * 1024
"""Largest zstd window, as RFC 9659 fixes it for the web."""

_GZIP_MAGIC = b"\x1f\x8b"
_BROTLI_BOUNDED = hasattr(brotli.Decompressor, "can_accept_more_data")


class BadEncoding(ValueError):
    """The body cannot be decoded as its Content-Encoding says."""


class _Full(Exception):  # control flow between stages, never leaves this module
    """The limit is reached."""


_Sink = Callable[[bytes], None]


class _Stage(Protocol):
    def write(self, data: bytes) -> None: ...

    def finished(self) -> bool: ...


class _Zlib:
    """gzip (any number of members) and deflate (with the zlib wrapper or, as many servers send it, raw)."""

    def __init__(self, sink: _Sink, *, gzip: bool) -> None:
        self._sink = sink
        self._gzip = gzip
        self._started = False
        self._done = False
        self._head = b""
        self._inflate = zlib.decompressobj(wbits=31 if gzip else 15)

    def write(self, data: bytes) -> None:
        if self._done:
            return
        if not self._started:
            data = self._open(data)
        while data:
            data = self._inflate_some(data)

    def _inflate_some(self, data: bytes) -> bytes:
        """Inflate one lot of input; gives back what follows it when that is another member."""
        while True:
            try:
                piece = self._inflate.decompress(data, PIECE)
            except zlib.error as error:
                raise BadEncoding(str(error)) from None
            data = self._inflate.unconsumed_tail
            if piece:
                self._sink(piece)
            if self._inflate.eof:
                return self._next_member()
            # A full piece may have more behind it inside zlib although all input is taken.
            if not data and len(piece) < PIECE:
                return b""

    def _open(self, data: bytes) -> bytes:
        """Look at the first two bytes: they tell zlib-wrapped deflate from raw deflate."""
        data = self._head + data
        if len(data) < 2:
            self._head = data
            return b""
        self._head, self._started = b"", True
        wrapped = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
        if not self._gzip and not wrapped:
            self._inflate = zlib.decompressobj(wbits=-15)
        return data

    def _next_member(self) -> bytes:
        rest = self._inflate.unused_data
        if not self._gzip or not rest.startswith(_GZIP_MAGIC):
            self._done = True  # padding or garbage after the end is ignored, as browsers do
            return b""
        self._inflate = zlib.decompressobj(wbits=31)
        return rest

    def finished(self) -> bool:
        return self._inflate.eof or (not self._started and not self._head)


class _Brotli:
    """br. Without `output_buffer_limit` (brotli before 1.2) input goes in 16 bytes at a time."""

    def __init__(self, sink: _Sink) -> None:
        self._sink = sink
        self._started = False
        self._inflate = brotli.Decompressor()

    def write(self, data: bytes) -> None:
        self._started = True
        if self._inflate.is_finished():
            return
        try:
            if _BROTLI_BOUNDED:
                self._write_bounded(data)
            else:
                self._write_slowly(data)
        except brotli.error as error:
            raise BadEncoding(f"brotli: {error}") from None

    def _write_bounded(self, data: bytes) -> None:
        inflate = self._inflate
        piece = inflate.process(data, output_buffer_limit=PIECE)
        self._emit(piece)
        # It takes all its input at once and may still hold output: a page of 200 KB comes in one small piece.
        while not inflate.is_finished() and (piece or not inflate.can_accept_more_data()):
            piece = inflate.process(b"", output_buffer_limit=PIECE)
            self._emit(piece)

    def _write_slowly(self, data: bytes) -> None:
        for start in range(0, len(data), 16):
            if not self._inflate.is_finished():
                self._emit(self._inflate.process(data[start : start + 16]))

    def _emit(self, piece: bytes) -> None:
        if piece:
            self._sink(piece)

    def finished(self) -> bool:
        return bool(self._inflate.is_finished()) or not self._started


class _Target:
    """What zstandard's stream writer writes into: passes pieces to the sink."""

    def __init__(self, sink: _Sink) -> None:
        self._sink = sink

    def write(self, data: bytes) -> int:
        self._sink(bytes(data))
        return len(data)


class _Zstd:
    """zstd, windows up to 8 MiB. The stream writer empties its buffer block by block, so stays small."""

    def __init__(self, sink: _Sink) -> None:
        target = _Target(sink)
        decompressor = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW)
        self._writer = decompressor.stream_writer(target, closefd=False)  # type: ignore[arg-type]
        self._frames = ZstdFrames()

    def write(self, data: bytes) -> None:
        self._frames.feed(data)
        try:
            self._writer.write(data)
        except zstandard.ZstdError as error:
            raise BadEncoding(str(error)) from None

    def finished(self) -> bool:
        return self._frames.whole


class _Identity:
    """No coding."""

    def __init__(self, sink: _Sink) -> None:
        self.write = sink

    def finished(self) -> bool:
        return True


_OTHERS = frozenset(
    ("compress", "x-compress", "bzip2", "xz", "lzma", "lz4", "sdch", "dcb", "dcz", "exi", "aes128gcm")
)
"""Codings that exist and are not undone here."""
_STAGES: dict[str, Callable[[_Sink], _Stage]] = {
    "gzip": lambda sink: _Zlib(sink, gzip=True),
    "x-gzip": lambda sink: _Zlib(sink, gzip=True),
    "deflate": lambda sink: _Zlib(sink, gzip=False),
    "br": _Brotli,
    "zstd": _Zstd,
}


def codings(header: str) -> tuple[str, ...]:
    """The codings a Content-Encoding header names, in the order they were applied.

    What is no coding is left out, as browsers do: `identity`, and the charsets and words such as `binary`
    that many servers put there.

    Example:
        >>> codings("GZip, identity"), codings("UTF-8")
        (('gzip',), ())
    """
    names = (part.partition(";")[0].strip(' \t"').lower() for part in header.split(","))
    return tuple(name for name in names if name in _STAGES or name in _OTHERS)


class Decoder:
    """Decodes a body piece by piece and stops at a limit.

    Args:
        encodings: Codings in the order the server applied them (the last one is undone first).
        limit: Most bytes of output to keep. `full` turns true when the body has more.

    Raises:
        BadEncoding: When a coding is not known or more than two are stacked.
    """

    def __init__(self, encodings: tuple[str, ...], limit: int) -> None:
        if len(encodings) > MAX_CODINGS:
            raise BadEncoding(f"{len(encodings)} content codings stacked")
        unknown = [name for name in encodings if name not in _STAGES]
        if unknown:
            raise BadEncoding(f"unknown content coding {unknown[0][:40]!r}")
        self.limit = limit
        self.decoded = 0
        self.full = False
        self._pieces: list[bytes] = []
        self._stages: list[_Stage] = []
        sink: _Sink = self._keep
        for name in encodings:
            stage = _STAGES[name](sink)
            self._stages.append(stage)
            sink = self._counted(stage)
        self._write = self._stages[-1].write if self._stages else sink

    def feed(self, data: bytes) -> bool:
        """Decode more input; false once the limit is reached and further input is pointless.

        Raises:
            BadEncoding: When the data is not what the coding allows.
        """
        if self.full:
            return False
        try:
            self._write(data)
        except _Full:
            self.full = True
        return not self.full

    @property
    def complete(self) -> bool:
        """Whether every stage saw the end of its stream."""
        return all(stage.finished() for stage in self._stages)

    def body(self) -> bytes:
        """Everything decoded so far, at most `limit` bytes."""
        return self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)

    def drop(self) -> None:
        """Let go of everything decoded. Stages and sinks refer to each other: it would stay for a while."""
        self._pieces.clear()
        self._stages.clear()
        self._write = self._keep

    def _keep(self, piece: bytes) -> None:
        room = self.limit - self.decoded
        if len(piece) > room:
            self._pieces.append(piece[:room])
            self.decoded = self.limit
            raise _Full
        self._pieces.append(piece)
        self.decoded += len(piece)

    def _counted(self, stage: _Stage) -> _Sink:
        """Output of an inner stage counts too: it could be swallowed by the next stage for ever."""
        seen = 0

        def sink(piece: bytes) -> None:
            nonlocal seen
            seen += len(piece)
            if seen > self.limit + PIECE:
                raise _Full
            stage.write(piece)

        return sink


def decode(payload: bytes, encodings: tuple[str, ...], limit: int) -> tuple[bytes, bool]:
    """A whole payload decoded: the body (cut at `limit`) and whether it is complete.

    Raises:
        BadEncoding: When a coding is unknown or the data is broken.

    Example:
        >>> import gzip
        >>> decode(gzip.compress(b"bird " * 100), ("gzip",), limit=10)
        (b'bird bird ', False)
    """
    decoder = Decoder(encodings, limit)
    for start in range(0, len(payload), PIECE):
        if not decoder.feed(payload[start : start + PIECE]):
            break
    return decoder.body(), decoder.complete and not decoder.full
