from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from honeyguide.errors import CollectionError
from honeyguide.store.archive import ArchiveWriter, Exchange, Position
from honeyguide.store.archive_reader import Reference, epoch, iterate, read_record
from honeyguide.store.archive_scan import MAX_HEADER_BYTES, TornTail

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n\r\n"


def write_pages(folder: Path, count: int) -> list[Position]:
    writer = ArchiveWriter(folder, prefix="READ", software="x", clock=lambda: 5.0, seed="s")
    positions = [
        writer.write_exchange(
            Exchange(
                url=f"http://r.example/{number}",
                at=100.0 + number,
                response_head=HEAD,
                payload=b"page %d" % number,
            )
        )
        for number in range(count)
    ]
    writer.close()
    return positions


def plain_record(fields: str, block: bytes) -> bytes:
    return f"WARC/1.0\r\n{fields}Content-Length: {len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n"


RESPONSE = "WARC-Type: response\r\nWARC-Target-URI: http://x.example/\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"


def test_random_access_equals_iteration(tmp_path: Path) -> None:
    positions = write_pages(tmp_path, 20)
    path = tmp_path / positions[0].file
    listed = list(iterate(path))
    assert [(answer.offset, answer.length) for answer in listed] == [(p.offset, p.length) for p in positions]
    for position, answer in zip(positions, listed, strict=True):
        again = read_record(tmp_path, *position)
        assert again == answer
        assert [value for name, value in again.headers if name == "Set-Cookie"] == ["a=1", "b=2"]


def test_revisits_are_resolved_by_a_lookup(tmp_path: Path) -> None:
    writer = ArchiveWriter(tmp_path, prefix="READ", software="x", clock=lambda: 5.0)
    page = Exchange(url="http://r.example/1", at=100.5, response_head=HEAD, payload=b"the page")
    first = writer.write_exchange(page)
    again = writer.write_exchange(
        Exchange(
            url="http://r.example/2",
            at=200.0,
            response_head=HEAD.replace(b"a=1", b"a=9"),
            payload=b"the page",
            refers_to=("http://r.example/1", 100.5),
        )
    )
    writer.close()
    asked: list[Reference] = []

    def lookup(reference: Reference) -> Position:
        asked.append(reference)
        return first

    bare = read_record(tmp_path, *again)
    assert (bare.kind, bare.payload) == ("revisit", b"")
    full = read_record(tmp_path, *again, lookup=lookup)
    assert full.payload == b"the page"
    assert ("Set-Cookie", "a=9") in full.headers
    assert asked == [Reference("http://r.example/1", 100.5, full.digest)]
    with pytest.raises(CollectionError, match="not in the archive"):
        read_record(tmp_path, *again, lookup=lambda _: None)
    with pytest.raises(CollectionError, match="revisit of a revisit"):
        read_record(tmp_path, *again, lookup=lambda _: again)


def test_positions_that_are_none(tmp_path: Path) -> None:
    first, second = write_pages(tmp_path, 2)
    for file, offset, length in [
        ("../secret", 0, 10),
        ("missing.warc.gz", 0, 10),
        (first.file, 10**9, 10),
        (first.file, -1, 10),
        (first.file, first.offset, 0),
        (first.file, first.offset + 1, first.length),
        (first.file, first.offset, first.length - 1),
        (first.file, 0, first.offset),
    ]:
        with pytest.raises(CollectionError):
            read_record(tmp_path, file, offset, length)
    assert read_record(tmp_path, *second).payload == b"page 1"


def test_every_torn_tail_is_told_and_tolerated(tmp_path: Path) -> None:
    positions = write_pages(tmp_path, 3)
    data = (tmp_path / positions[0].file).read_bytes()
    last = positions[-1]
    torn = tmp_path / "torn.warc.gz"
    for cut in range(last.offset + 1, len(data), 7):
        torn.write_bytes(data[:cut])
        if cut < last.offset + last.length:
            with pytest.raises(TornTail, match=f"torn.warc.gz at offset {last.offset}"):
                list(iterate(torn))
            assert len(list(iterate(torn, torn_ok=True))) == 2
        elif cut > last.offset + last.length:
            raise AssertionError("the response was the last record")


@pytest.mark.parametrize("name", ["x.warc", "x.warc.gz"])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<html>no archive</html>",
        b"\x00" * 5000,
        b"\x1f\x8b",
        b"\x1f\x8b\x08\x00garbage" * 9,
        b"WARC/9.9\r\n\r\n",
    ],
    ids=["empty", "html", "zeros", "magic", "gzip-like", "version"],
)
def test_garbage_is_refused_with_file_and_offset(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(CollectionError, match=r"x\.warc"):
        list(iterate(path))


def test_garbage_after_good_records_names_the_offset(tmp_path: Path) -> None:
    positions = write_pages(tmp_path, 2)
    path = tmp_path / positions[0].file
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(b"\x00\x00\x00")
    with pytest.raises(CollectionError, match=f"at offset {size}"):
        list(iterate(path, torn_ok=True))


def test_limits(tmp_path: Path) -> None:
    path = tmp_path / "big.warc"
    path.write_bytes(b"WARC/1.0\r\nX: " + b"y" * MAX_HEADER_BYTES + b"\r\n\r\n")
    with pytest.raises(CollectionError, match="header of more than"):
        list(iterate(path))
    path.write_bytes(f"WARC/1.0\r\n{RESPONSE}Content-Length: 99999999999\r\n\r\n".encode())
    with pytest.raises(CollectionError, match="more than 256 MiB"):
        list(iterate(path))
    bomb = tmp_path / "bomb.warc.gz"
    bomb.write_bytes(gzip.compress(plain_record(RESPONSE, b"HTTP/1.1 200 OK\r\n\r\n" + b"0" * 3_000_000)))
    with pytest.raises(CollectionError, match="gzip member of more than 1 MiB"):
        list(iterate(bomb, max_record=1 << 20))
    assert len(next(iterate(bomb)).payload) == 3_000_000
    path.write_bytes(plain_record("WARC-Type: response\r\n", b"HTTP/1.1 200 OK\r\nX: " + b"y" * 1_000_000))
    assert next(iterate(path)).payload == b""
    for length in ("-5", "", "1e3", "9" * 5000):
        path.write_bytes(f"WARC/1.0\r\n{RESPONSE}Content-Length: {length}\r\n\r\n".encode())
        with pytest.raises(CollectionError, match="Content-Length"):
            list(iterate(path))


def test_a_pipe_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.warc")
    with pytest.raises(CollectionError, match="no such file"):
        list(iterate(tmp_path / "pipe.warc"))


def test_chunked_bodies(tmp_path: Path) -> None:
    path = tmp_path / "chunked.warc"
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    cases = {
        b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n": b"hello world",
        b"5\r\nhello\r\nff\r\ncut": b"hellocut",
        b"5\r\nhello\r\n": b"hello",
        b"<p>not chunked": b"<p>not chunked",
        b"5\r\nhello<p>not": b"5\r\nhello<p>not",
    }
    for body, wanted in cases.items():
        path.write_bytes(plain_record(RESPONSE, head + body))
        assert next(iterate(path)).payload == wanted


SAMPLES = {
    "bad.arc": None,
    "example-bad-non-chunked.warc.gz": 2,
    "example-bad.warc.gz.bad": 3,
    "example-digest.warc": 0,
    "example-iana.org-chunked.warc": 1,
    "example-resource.warc.gz": 1,
    "example-space-in-target-uri.warc.gz": 1,
    "example-space-in-url.arc": None,
    "example-trunc.warc": None,
    "example-wget-bad-target-uri.warc.gz": 3,
    "example-wrong-chunks.warc.gz": None,
    "example.arc": None,
    "example.arc.gz": None,
    "example.warc": 2,
    "example.warc.gz": 2,
    "post-test.warc.gz": 3,
}


def test_public_samples_are_read_or_refused(shared_data: Path) -> None:
    folder = shared_data / "conformance" / "warcio" / "test" / "data"
    assert {path.name for path in folder.iterdir()} == set(SAMPLES)
    for name, wanted in SAMPLES.items():
        if wanted is None:
            with pytest.raises(CollectionError, match=f"{name} at offset [0-9]+: .*; "):
                list(iterate(folder / name))
        else:
            answers = list(iterate(folder / name))
            assert len(answers) == wanted, name
            assert all(":" in answer.url and "<" not in answer.url for answer in answers)


@pytest.mark.parametrize(("name", "pages"), [("webkb", 8275), ("office-help", 5122)])
def test_recorded_webs_are_read_at_random(shared_data: Path, name: str, pages: int) -> None:
    path = shared_data / "webs" / f"{name}.warc.gz"
    places = [(answer.url, answer.offset, answer.length) for answer in iterate(path)]
    assert len(places) == pages
    for url, offset, length in places[:: pages // 40]:
        assert read_record(path.parent, path.name, offset, length).url == url


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mutated_files_never_crash_the_reader(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = plain_record(RESPONSE, HEAD + b"x" * 50) + plain_record("WARC-Type: revisit\r\n", HEAD)
    raw = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    folder = tmp_path_factory.mktemp("mutated")
    (folder / "m.warc").write_bytes(raw)
    (folder / "m.warc.gz").write_bytes(gzip.compress(raw))
    for name in ("m.warc", "m.warc.gz"):
        message = f"{folder / name}: "
        found = 0
        try:
            found = len(list(iterate(folder / name, torn_ok=True)))
        except CollectionError as error:
            message = str(error)
        assert found <= 2
        assert message.startswith(str(folder / name))


def test_dates() -> None:
    assert epoch("2020-01-01T00:00:00Z") == 1577836800.0
    assert epoch("2020-01-01T00:00:00.123456789Z") == 1577836800.123456
    assert epoch("yesterday") == epoch("") == epoch("2020-01-01T00:00:00") == 0.0
