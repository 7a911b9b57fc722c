from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.fetch.decode import BadEncoding, Decoder, codings, decode
from honeyguide.fetch.zstd_frames import MOST_HEADERS, ZstdFrames

TEXT = b"<p>owls and honeyguides</p>" * 500


def raw_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(data) + compressor.flush()


CODECS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "zlib": ("deflate", zlib.compress),
    "raw deflate": ("deflate", raw_deflate),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstandard.ZstdCompressor().compress),
}
codec = pytest.mark.parametrize("name", CODECS)


@codec
@pytest.mark.parametrize("step", [1, 7, 100_000])
def test_decodes_in_any_pieces(name: str, step: int) -> None:
    coding, compress = CODECS[name]
    payload = compress(TEXT)
    decoder = Decoder((coding,), limit=1_000_000)
    for start in range(0, len(payload), step):
        assert decoder.feed(payload[start : start + step])
    assert decoder.body() == TEXT
    assert decoder.complete


@codec
@pytest.mark.parametrize("size", [60_000, 100_000, 200_000, 900_000])
def test_a_large_page_in_one_small_piece(name: str, size: int) -> None:
    """Found with lighttpd and node: brotli takes all its input and gives 96 KiB of a page back at a time."""
    coding, compress = CODECS[name]
    page = (b"<p>barn owls and other birds</p>\n" * (size // 30))[:size]
    payload = compress(page)
    assert len(payload) < 10_000
    decoder = Decoder((coding,), limit=1_000_000)
    assert decoder.feed(payload)
    assert len(decoder.body()) == size
    assert decoder.body() == page
    assert decoder.complete


@codec
def test_cuts_exactly_at_the_limit(name: str) -> None:
    coding, compress = CODECS[name]
    body, complete = decode(compress(TEXT), (coding,), limit=1000)
    assert body == TEXT[:1000]
    assert not complete
    assert decode(compress(TEXT), (coding,), limit=len(TEXT)) == (TEXT, True)


@codec
def test_a_truncated_stream_keeps_what_came(name: str) -> None:
    coding, compress = CODECS[name]
    noise = bytes((i * i * 7 + i // 3) % 251 for i in range(300_000))
    payload = compress(noise)
    body, complete = decode(payload[: len(payload) // 2], (coding,), limit=1_000_000)
    assert noise.startswith(body)
    assert len(body) < len(noise)
    assert not complete


@given(st.binary(max_size=300), st.integers(0, 3), st.integers(1, 50), st.booleans(), st.booleans())
def test_every_cut_of_a_zstd_stream_is_noticed(
    data: bytes, zeros: int, step: int, checksum: bool, sized: bool
) -> None:
    """Frames of several blocks (compressed, raw and repeated), one after the other, fed in any pieces."""
    compressor = zstandard.ZstdCompressor(write_checksum=checksum, write_content_size=sized)
    first = compressor.compress(data + bytes(zeros * 140_000))
    stream = compressor.compressobj()
    second = stream.compress(data) + stream.flush()
    skippable = b"\x5a\x2a\x4d\x18" + len(data).to_bytes(4, "little") + data
    payload = first + skippable + second
    ends = {0, len(first), len(first + skippable), len(payload)}
    frames = ZstdFrames()
    for at in range(len(payload)):
        assert frames.whole is (at in ends)
        frames.feed(payload[at : at + 1])
    assert frames.whole
    frames = ZstdFrames()
    for at in range(0, len(payload), step):
        frames.feed(payload[at : at + step])
    assert frames.whole


def test_headers_of_zstd_without_contents_are_not_read_for_ever() -> None:
    empty = b"\x50\x2a\x4d\x18" + bytes(4)
    frames = ZstdFrames()
    frames.feed(empty * 20_000 + empty[:5])
    assert not frames.whole
    frames.feed(empty[5:] + empty * MOST_HEADERS)
    frames.feed(b"\x28\xb5")  # no longer looked at
    assert frames.whole


def bomb(name: str, size: int) -> bytes:
    """Zeros, compressed piece by piece so that making the bomb needs no memory."""
    zeros = bytes(1 << 20)
    if name == "br":
        compressor = brotli.Compressor(quality=4)
        parts = [compressor.process(zeros) for _ in range(size >> 20)]
        return b"".join(parts) + bytes(compressor.finish())
    if name == "zstd":
        zstd = zstandard.ZstdCompressor().compressobj()
        return b"".join([zstd.compress(zeros) for _ in range(size >> 20)]) + zstd.flush()
    writer = zlib.compressobj(wbits={"gzip": 31, "zlib": 15, "raw deflate": -15}[name])
    return b"".join([writer.compress(zeros) for _ in range(size >> 20)]) + writer.flush()


@pytest.mark.parametrize("name", ["gzip", "zlib", "raw deflate", "br", "zstd"])
def test_a_bomb_stops_at_the_limit_with_bounded_memory(name: str) -> None:
    payload = bomb(name, 200 << 20)
    limit = 4 << 20
    tracemalloc.start()
    try:
        decoder = Decoder((CODECS[name][0],), limit)
        assert not decoder.feed(payload)
        assert decoder.full
        assert len(decoder.body()) == limit
        assert tracemalloc.get_traced_memory()[1] < 3 * limit
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("outer", ["gzip", "zlib", "br", "zstd"])
@pytest.mark.parametrize("inner", ["gzip", "br", "zstd"])
def test_a_doubled_bomb_stops_at_the_limit(outer: str, inner: str) -> None:
    payload = CODECS[outer][1](bomb(inner, 64 << 20))
    body, complete = decode(payload, (CODECS[inner][0], CODECS[outer][0]), limit=100_000)
    assert body == bytes(100_000)
    assert not complete


def test_an_inner_stream_that_is_swallowed_is_stopped_too() -> None:
    # 64 MiB of zeros after the end of an inner gzip member produce no output, only work.
    payload = gzip.compress(gzip.compress(b"hi") + bytes(64 << 20))
    decoder = Decoder(("gzip", "gzip"), limit=100_000)
    decoder.feed(payload)
    assert decoder.full
    assert decoder.body() == b"hi"


def test_gzip_members_follow_each_other_and_garbage_is_ignored() -> None:
    two = gzip.compress(b"one ") + gzip.compress(b"two")
    assert decode(two, ("gzip",), limit=100) == (b"one two", True)
    assert decode(two + b"\0\0\0 padding", ("gzip",), limit=100) == (b"one two", True)


def test_stacked_codings_come_off_in_reverse_order() -> None:
    payload = gzip.compress(brotli.compress(TEXT))
    assert decode(payload, ("br", "gzip"), limit=100_000) == (TEXT, True)


@pytest.mark.parametrize("names", [("compress",), ("gzip", "exi"), ("gzip", "gzip", "gzip")])
def test_unknown_or_too_many_codings_are_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(BadEncoding):
        Decoder(names, 100)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_garbage_is_refused(coding: str) -> None:
    with pytest.raises(BadEncoding):
        decode(b"\xff<html>this was never compressed</html>" * 20, (coding,), limit=10_000)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_an_empty_body_is_empty(coding: str) -> None:
    assert decode(b"", (coding,), limit=10) == (b"", True)


def test_a_large_zstd_window_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27)
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    payload = compressor.compress(TEXT) + compressor.flush()
    with pytest.raises(BadEncoding, match="memory"):
        decode(payload, ("zstd",), limit=100_000)


@given(st.binary(max_size=300), st.sampled_from(["gzip", "deflate", "br", "zstd"]))
def test_no_input_raises_anything_else(data: bytes, coding: str) -> None:
    try:
        body, _ = decode(data, (coding,), limit=5000)
    except BadEncoding:
        return
    assert len(body) <= 5000


def test_codings_of_a_header() -> None:
    assert codings("") == ()
    assert codings(" GZip ,, identity, BR") == ("gzip", "br")
