"""Small answers that want to become large, and codings that lie."""

from __future__ import annotations

import functools
import gzip
import zlib

import brotli
import zstandard

from honeyguide.lab.webs.hostile.case import Talk, case, owls
from honeyguide.model import Outcome

_case = functools.partial(case, group="bomb")
_TOO_LARGE = (Outcome.TOO_LARGE,)
_BAD = (Outcome.BAD_ENCODING,)
SIZE = 64 << 20
"""What each bomb would become."""
_ZEROS = b"\0" * (1 << 20)


@functools.lru_cache(maxsize=8)
def bomb(coding: str) -> bytes:
    """`SIZE` zeros in one content coding."""
    pieces = SIZE >> 20
    if coding == "br":
        brotlied = brotli.Compressor(quality=1, lgwin=22)
        return b"".join([*(brotlied.process(_ZEROS) for _ in range(pieces)), brotlied.finish()])
    if coding == "zstd":
        packed = zstandard.ZstdCompressor().compressobj()
        return b"".join([*(packed.compress(_ZEROS) for _ in range(pieces)), packed.flush()])
    deflated = zlib.compressobj(9, wbits=31 if coding == "gzip" else 15)
    return b"".join([*(deflated.compress(_ZEROS) for _ in range(pieces)), deflated.flush()])


def _coded(name: str, summary: str, outcomes: tuple[Outcome, ...], coding: str, make: object) -> None:
    @_case(name, summary, outcomes)
    async def _send(talk: Talk) -> None:
        body = make() if callable(make) else make
        assert isinstance(body, bytes)
        await talk.answer(body, f"Content-Encoding: {coding}")


def prepare() -> None:
    """Make all bombs, so that no request has to wait for one."""
    for coding in ("gzip", "deflate", "br", "zstd"):
        bomb(coding)


for _name in ("gzip", "deflate", "br", "zstd"):
    _coded(f"{_name}-bomb", f"64 MiB of zeros in {_name}", _TOO_LARGE, _name, functools.partial(bomb, _name))
_coded(
    "double-bomb",
    "a gzip bomb inside gzip",
    _TOO_LARGE,
    "gzip, gzip",
    lambda: gzip.compress(bomb("gzip"), 9, mtime=0),
)
_coded(
    "mixed-bomb",
    "a gzip bomb inside br",
    _TOO_LARGE,
    "gzip, br",
    lambda: brotli.compress(bomb("gzip"), quality=5),
)
_coded(
    "members-bomb",
    "a hundred thousand empty gzip members",
    (Outcome.FETCHED, Outcome.NOT_A_PAGE, *_BAD),
    "gzip",
    lambda: gzip.compress(b"", mtime=0) * 100_000,
)
_coded("many-codings", "gzip ten times over", _BAD, ", ".join(["gzip"] * 10), owls())
_coded("wrong-coding", "says gzip and is not", _BAD, "gzip", owls())
_coded("unknown-coding", "a coding nobody knows", _BAD, "x-owl", owls())
_coded(
    "broken-gzip",
    "gzip with a hole in it",
    (Outcome.FETCHED, *_BAD),
    "gzip",
    gzip.compress(owls() * 99, mtime=0)[:30] + b"\xff" * 99,
)
_coded("broken-br", "br with a hole in it", _BAD, "br", brotli.compress(owls() * 99)[:20] + b"\xff" * 99)
_coded(
    "cut-gzip",
    "gzip that breaks off",
    (Outcome.FETCHED, *_BAD),
    "gzip",
    gzip.compress(owls() * 99, mtime=0)[:-20],
)


@_case("wide-zstd", "zstd with a window of 2 GiB", _BAD)
async def _wide_zstd(talk: Talk) -> None:
    # Magic number, descriptor without size, window exponent 31: an honest decoder would allocate it.
    frame = b"\x28\xb5\x2f\xfd\x00" + bytes([(31 - 10) << 3]) + b"\x01\x00\x00"
    await talk.answer(frame, "Content-Encoding: zstd")


@_case("bad-error", "an error page whose gzip is none", (Outcome.CLIENT_ERROR,))
async def _bad_error(talk: Talk) -> None:
    await talk.answer(b"not gzip at all", "Content-Encoding: gzip", status="404 Not Found")
