from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import msgspec
import pytest
from archive_check import check_archive
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.store import packed as packed_module
from honeyguide.store.archive import _BLANK_LINES, ArchiveWriter, Exchange, http_head
from honeyguide.store.archive_reader import read_record
from honeyguide.store.archive_scan import scan
from honeyguide.store.packed import QUICK, Packed, joined, pack_answer
from honeyguide.web.digest import sha1_digest

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
PAYLOAD = b"<p>an owl</p>" * 500

needs_isal = pytest.mark.skipif(QUICK is None, reason="ISA-L is not built for this machine")


def write(folder: Path, exchange: Exchange, level: int = 1) -> Path:
    folder.mkdir()
    writer = ArchiveWriter(
        folder, prefix="TEST", software="honeyguide/0", clock=lambda: 1.0, seed="one", level=level
    )
    position = writer.write_exchange(exchange)
    writer.close()
    return folder / position.file


@needs_isal
@pytest.mark.parametrize("payload", [b"", b"x", PAYLOAD, bytes(range(256)) * 400])
@pytest.mark.parametrize("level", [1, 6])
def test_a_packed_answer_gives_the_same_record(tmp_path: Path, payload: bytes, level: int) -> None:
    plain = Exchange("http://a.example/", 2.0, HEAD, payload)
    ready = Exchange("http://a.example/", 2.0, HEAD, payload, packed=pack_answer(HEAD, payload))
    first = write(tmp_path / "plain", plain, level)
    second = write(tmp_path / "packed", ready, level)
    check_archive(second)
    expected, found = (gzip.decompress(path.read_bytes()) for path in (first, second))
    assert found == expected  # identifiers, too: the record stands where it would have stood


@needs_isal
def test_a_revisit_record_has_no_use_for_it(tmp_path: Path) -> None:
    exchange = Exchange(
        *("http://a.example/2", 2.0, HEAD, PAYLOAD),
        refers_to=("http://a.example/1", 1.0),
        packed=pack_answer(HEAD, PAYLOAD),
    )
    path = write(tmp_path / "out", exchange)
    check_archive(path)
    assert [record.block for record in scan(path) if record.kind == "revisit"] == [HEAD]


@needs_isal
def test_blocks_of_another_payload_do_not_read_back() -> None:
    other = pack_answer(HEAD, PAYLOAD.replace(b"owl", b"elk"))
    assert other is not None
    with pytest.raises(gzip.BadGzipFile):
        gzip.decompress(joined(HEAD, PAYLOAD, other.deflated))


@needs_isal
def test_whatever_was_packed_the_payload_digest_is_that_of_what_was_received(tmp_path: Path) -> None:
    other = pack_answer(HEAD, PAYLOAD.replace(b"owl", b"elk"))
    exchange = Exchange("http://a.example/", 2.0, HEAD, PAYLOAD, digest=sha1_digest(PAYLOAD), packed=other)
    data = write(tmp_path / "out", exchange).read_bytes()
    headers = zlib.decompressobj(31)
    headers.decompress(data)  # warcinfo
    start = zlib.decompressobj(31).decompress(headers.unused_data, 600)  # the rest does not read back
    assert sha1_digest(PAYLOAD).encode() in start


def test_without_isal_the_archive_does_it_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(packed_module, "QUICK", None)
    assert pack_answer(HEAD, PAYLOAD) is None
    path = write(tmp_path / "out", Exchange("http://a.example/", 2.0, HEAD, PAYLOAD))
    response = next(record for record in scan(path) if record.kind == "response")
    assert read_record(path.parent, path.name, response.offset, response.length).payload == PAYLOAD


def test_it_crosses_processes_as_plain_data() -> None:
    ready = Packed("sha1:X", b"\x00\xff")
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(ready), type=Packed) == ready


@given(
    st.lists(
        st.sampled_from([b"HTTP/1.1 200 OK", b"A: b", b" ", b"\t", b"\r", b"\n", b"\r\n", b"\r\n\r\n"]),
        max_size=12,
    )
)
def test_a_clean_head_is_what_cleaning_would_leave(parts: list[bytes]) -> None:
    head = b"".join(parts)
    cleaned = _BLANK_LINES.sub(b"", head.lstrip(b"\r\n").rstrip(b"\r\n \t")) + b"\r\n\r\n"
    assert http_head(head) == cleaned
