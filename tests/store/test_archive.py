from __future__ import annotations

import base64
import gzip
import hashlib
import os
import subprocess
import sys
import uuid
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from archive_check import check_archive
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from honeyguide.errors import CollectionError
from honeyguide.store import archive as archive_module
from honeyguide.store.archive import (
    ArchiveWriter,
    Exchange,
    Position,
    RecordPacker,
    archive_files,
    http_head,
    record_id,
    warc_date,
)
from honeyguide.store.archive_reader import iterate, read_record
from honeyguide.store.archive_scan import scan
from honeyguide.web.digest import sha1_digest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # fastwarc 1.1 warns of its own old names while it is imported
    from fastwarc.warc import ArchiveIterator

WARCIO = Path(sys.executable).with_name("warcio")
AT = 1_790_000_000.25
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
GZIP_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n"
REQUEST = b"GET /a HTTP/1.1\r\nHost: a.example\r\n\r\n"
PAYLOAD = b"<p>an owl</p>" * 500


def make_writer(folder: Path, **more: Any) -> ArchiveWriter:
    return ArchiveWriter(folder, prefix="TEST", software="honeyguide/0", clock=lambda: AT, seed="one", **more)


def resume_writer(folder: Path, committed: tuple[str, int] | None, **more: Any) -> ArchiveWriter:
    return ArchiveWriter.resume(
        folder, committed, prefix="TEST", software="honeyguide/0", clock=lambda: AT, seed="one", **more
    )


def make_exchange(number: int = 1, **more: Any) -> Exchange:
    fields: dict[str, Any] = {
        "url": f"http://a.example/{number}",
        "at": AT + number,
        "ip": "192.0.2.1",
        "request_head": REQUEST,
        "response_head": HEAD,
        "payload": PAYLOAD,
        "metadata": {"via": "http://a.example/", "hops": "2", "verdict": "0.75"},
    }
    return Exchange(**(fields | more))


def check_with_tools(path: Path) -> None:
    """Our own check, `warcio check`, and a full read by fastwarc with digests."""
    check_archive(path)
    result = subprocess.run([WARCIO, "check", "-v", str(path)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout
    assert "fail" not in result.stdout
    ours = list(scan(path))
    with path.open("rb") as file:
        theirs = []
        for record in ArchiveIterator(file, parse_http=False):
            assert record.verify_block_digest()
            theirs.append((record.stream_pos, record.record_id))
    assert theirs == [(record.offset, record.fields["warc-record-id"]) for record in ours]
    checked = 0
    with path.open("rb") as file:
        for record in ArchiveIterator(file, parse_http=True):
            if str(record.record_type) == "response":
                checked += 1
                assert record.verify_payload_digest()
    assert checked == sum(record.kind == "response" for record in ours)


def test_an_exchange_is_three_records_that_name_each_other(tmp_path: Path) -> None:
    writer = make_writer(tmp_path)
    position = writer.write_exchange(make_exchange())
    end = writer.close()
    path = tmp_path / "TEST-00001.warc.gz"
    check_with_tools(path)
    records = list(scan(path))
    assert [record.kind for record in records] == ["warcinfo", "response", "request", "metadata"]
    response, request, metadata = records[1:]
    assert (response.offset, response.length) == (position.offset, position.length)
    assert request.fields["warc-concurrent-to"] == response.fields["warc-record-id"]
    assert metadata.fields["warc-concurrent-to"] == response.fields["warc-record-id"]
    assert response.fields["warc-warcinfo-id"] == records[0].fields["warc-record-id"]
    assert response.fields["warc-ip-address"] == "192.0.2.1"
    assert response.fields["warc-payload-digest"] == sha1_digest(PAYLOAD)
    assert response.fields["warc-date"] == warc_date(AT + 1)
    assert response.block == HEAD + PAYLOAD
    assert request.block == REQUEST
    assert metadata.block == b"via: http://a.example/\r\nhops: 2\r\nverdict: 0.75\r\n"
    assert end == Position("TEST-00001.warc.gz", path.stat().st_size)


@pytest.mark.parametrize(
    ("head", "payload"),
    [
        (HEAD, b""),
        (HEAD, PAYLOAD),
        (GZIP_HEAD, gzip.compress(PAYLOAD)),
        (GZIP_HEAD, b""),
        (GZIP_HEAD, os.urandom(65_535)),
        (GZIP_HEAD, os.urandom(200_001)),
        (b"HTTP/1.1 200 OK\nServer: x\n\nX-Late: y\r\n", PAYLOAD),
        (b"HTTP/1.1 404 Not Found", b"nothing\r\n\r\nhere"),
        (b"HTTP/1.1 200 OK\r\nX-Odd: \xff\xfe\x00\r\n\r\n", b"\x00" * 10),
    ],
    ids=["empty", "plain", "gzip", "no-body", "one-block", "blocks", "blank-line", "bare", "bytes"],
)
def test_any_payload_comes_back(tmp_path: Path, head: bytes, payload: bytes) -> None:
    writer = make_writer(tmp_path)
    position = writer.write_exchange(make_exchange(response_head=head, payload=payload))
    writer.close()
    check_with_tools(tmp_path / position.file)
    answer = read_record(tmp_path, *position)
    assert answer.payload == payload
    assert answer.url == "http://a.example/1"
    assert answer.at == AT + 1


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    url=st.text(max_size=60),
    lines=st.binary(max_size=80),
    payload=st.binary(max_size=200),
    metadata=st.dictionaries(st.text(min_size=1, max_size=9), st.text(max_size=30), max_size=3),
    ip=st.text(max_size=9),
    packed=st.booleans(),
)
def test_nothing_from_the_web_breaks_a_record(
    tmp_path_factory: pytest.TempPathFactory,
    url: str,
    lines: bytes,
    payload: bytes,
    metadata: dict[str, str],
    ip: str,
    packed: bool,
) -> None:
    folder = tmp_path_factory.mktemp("records")
    head = (GZIP_HEAD if packed else HEAD)[:-2] + b"X-Any: " + lines
    writer = make_writer(folder)
    exchange = make_exchange(response_head=head, payload=payload, metadata=metadata, ip=ip)
    position = writer.write_exchange(
        Exchange(**{name: getattr(exchange, name) for name in exchange.__struct_fields__} | {"url": url})
    )
    writer.close()
    check_archive(folder / position.file)
    assert read_record(folder, *position).payload == payload


def test_header_injection_through_url_and_metadata(tmp_path: Path) -> None:
    writer = make_writer(tmp_path)
    evil = "http://a.example/\r\nWARC-Type: request\r\n\r\nx"
    writer.write_exchange(make_exchange(url=evil, ip="1.2.3.4\r\nX: y", metadata={"via\r\nx": "a\r\nb: c"}))
    writer.close()
    path = tmp_path / "TEST-00001.warc.gz"
    check_with_tools(path)
    _, response, _, metadata = scan(path)
    assert response.fields["warc-target-uri"] == "http://a.example/%0D%0AWARC-Type:%20request%0D%0A%0D%0Ax"
    assert "warc-ip-address" not in response.fields
    assert metadata.block == b"via x: a b: c\r\n"


def test_revisit_and_truncation(tmp_path: Path) -> None:
    writer = make_writer(tmp_path)
    first = writer.write_exchange(make_exchange(1, truncated="disconnect"))
    again = writer.write_exchange(make_exchange(2, refers_to=("http://a.example/1", AT + 1)))
    writer.close()
    path = tmp_path / first.file
    check_with_tools(path)
    whole, revisit = [record for record in scan(path) if record.kind in ("response", "revisit")]
    assert whole.fields["warc-truncated"] == "disconnect"
    assert revisit.fields["warc-profile"].endswith("/1.1/revisit/identical-payload-digest")
    assert revisit.fields["warc-refers-to-target-uri"] == "http://a.example/1"
    assert revisit.fields["warc-refers-to-date"] == warc_date(AT + 1)
    assert revisit.fields["warc-truncated"] == "length"
    assert revisit.fields["warc-payload-digest"] == sha1_digest(PAYLOAD)
    assert revisit.block == HEAD
    assert again.length < first.length + 400
    with pytest.raises(ValueError, match="truncated"):
        make_writer(tmp_path / "..", start=again).write_exchange(make_exchange(truncated="because"))


def test_files_rotate_by_size_and_keep_exchanges_together(tmp_path: Path) -> None:
    writer = make_writer(tmp_path, max_bytes=4_000)
    positions = [
        writer.write_exchange(make_exchange(number, response_head=GZIP_HEAD, payload=os.urandom(1_500)))
        for number in range(7)
    ]
    writer.close()
    files = archive_files(tmp_path, "TEST")
    assert [path.name for path in files] == [
        f"TEST-0000{number}.warc.gz" for number in range(1, len(files) + 1)
    ]
    assert len(files) > 2
    for path in files:
        check_with_tools(path)
        kinds = [record.kind for record in scan(path)]
        assert kinds.count("response") == kinds.count("request") == kinds.count("metadata")
    assert [read_record(tmp_path, *position).url for position in positions] == [
        f"http://a.example/{number}" for number in range(7)
    ]


def test_equal_runs_give_equal_bytes_also_across_resume(tmp_path: Path) -> None:
    def run(folder: Path, *, stop_after: int) -> list[bytes]:
        folder.mkdir()
        writer = make_writer(folder, max_bytes=3_000)
        for number in range(12):
            writer.write_exchange(make_exchange(number))
            if number == stop_after:
                end = writer.flush()
                writer.write_exchange(make_exchange(99))
                writer.close()
                writer = resume_writer(folder, (end.file, end.offset), max_bytes=3_000)
        writer.close()
        return [path.read_bytes() for path in archive_files(folder, "TEST")]

    whole = run(tmp_path / "whole", stop_after=99)
    assert len(whole) > 1
    for stop in range(12):
        assert run(tmp_path / f"stop-{stop}", stop_after=stop) == whole


def test_the_tail_beyond_the_committed_end_is_cut(tmp_path: Path) -> None:
    writer = make_writer(tmp_path, max_bytes=3_000)
    writer.write_exchange(make_exchange(1))
    committed = writer.flush()
    for number in range(2, 12):
        writer.write_exchange(make_exchange(number))
    writer.close()
    assert len(archive_files(tmp_path, "TEST")) > 1
    with (tmp_path / "TEST-00001.warc.gz").open("ab") as file:
        file.write(b"\x1f\x8b\x08torn")
    (tmp_path / "OTHER-00009.warc.gz").write_bytes(b"not ours")
    resumed = resume_writer(tmp_path, (committed.file, committed.offset))
    assert [path.name for path in archive_files(tmp_path, "TEST")] == ["TEST-00001.warc.gz"]
    assert (tmp_path / "OTHER-00009.warc.gz").exists()
    resumed.write_exchange(make_exchange(50))
    resumed.close()
    check_with_tools(tmp_path / "TEST-00001.warc.gz")
    urls = [answer.url for answer in iterate(tmp_path / "TEST-00001.warc.gz")]
    assert urls == ["http://a.example/1", "http://a.example/50"]


def test_resume_without_a_commit_keeps_what_is_there(tmp_path: Path) -> None:
    for turn in range(3):
        writer = resume_writer(tmp_path, None)
        assert writer.flush() == Position("TEST-00001.warc.gz", 0)
        writer.write_exchange(make_exchange(turn))
        writer.close()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [
        "TEST-00001.warc.gz",
        "TEST-00001.warc.gz.uncommitted",
        "TEST-00001.warc.gz.uncommitted1",
    ]


def test_resume_at_the_very_start(tmp_path: Path) -> None:
    writer = make_writer(tmp_path)
    start = writer.flush()
    writer.write_exchange(make_exchange(1))
    writer.close()
    resumed = resume_writer(tmp_path, (start.file, start.offset))
    resumed.write_exchange(make_exchange(2))
    resumed.close()
    check_with_tools(tmp_path / "TEST-00001.warc.gz")


@pytest.mark.parametrize(
    "act",
    [
        lambda folder: resume_writer(folder, ("TEST-00001.warc.gz", 10**9)),
        lambda folder: resume_writer(folder, ("TEST-00007.warc.gz", 1)),
        lambda folder: resume_writer(folder, ("../../etc/passwd", 0)),
        make_writer,
        lambda folder: make_writer(folder / "nowhere"),
        lambda folder: ArchiveWriter(folder, prefix="../x", software="", clock=lambda: 0.0),
    ],
    ids=["short", "missing", "traversal", "exists", "folder", "prefix"],
)
def test_refusals(tmp_path: Path, act: Callable[[Path], ArchiveWriter]) -> None:
    writer = make_writer(tmp_path)
    writer.write_exchange(make_exchange())
    writer.close()
    before = (tmp_path / "TEST-00001.warc.gz").read_bytes()
    with pytest.raises(CollectionError):
        act(tmp_path)
    assert (tmp_path / "TEST-00001.warc.gz").read_bytes() == before


def test_a_full_disk_is_one_clear_error() -> None:
    folder = Path("/dev")
    if not (folder / "full").exists():
        pytest.skip("needs /dev/full")
    writer = make_writer(folder)
    writer._descriptor = os.open(folder / "full", os.O_WRONLY)
    writer.write_exchange(make_exchange())
    with pytest.raises(CollectionError, match="free space"):
        writer.flush()
    with pytest.raises(CollectionError, match="earlier write failed"):
        writer.write_exchange(make_exchange())
    writer.close()


KILLED = """
import os, sys
from pathlib import Path
from honeyguide.store.archive import ArchiveWriter, Exchange
writer = ArchiveWriter(Path(sys.argv[1]), prefix="TEST", software="x", clock=lambda: 0.0, seed="one")
for number in range(400):
    writer.write_exchange(Exchange(url=f"http://a.example/{number}", at=float(number),
        response_head=b"HTTP/1.1 200 OK", payload=os.urandom(9000)))
    if number == 100:
        end = writer.flush()
        print(end.file, end.offset, flush=True)
os.kill(os.getpid(), 9)
"""


def test_after_kill_the_committed_part_is_whole(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert result.returncode == -9
    file, offset = result.stdout.split()
    path = tmp_path / file
    assert path.stat().st_size > int(offset)
    writer = resume_writer(tmp_path, (file, int(offset)))
    writer.write_exchange(make_exchange(7777))
    writer.close()
    check_with_tools(path)
    assert sum(1 for _ in iterate(path)) == 102


@pytest.mark.parametrize("place", [20, 400, -30, -3])
def test_the_check_sees_any_changed_byte(tmp_path: Path, place: int) -> None:
    writer = make_writer(tmp_path)
    writer.write_exchange(make_exchange(response_head=GZIP_HEAD, payload=os.urandom(2_000)))
    writer.close()
    path = tmp_path / "TEST-00001.warc.gz"
    data = bytearray(path.read_bytes())
    data[place] ^= 0x10
    path.write_bytes(data)
    with pytest.raises(CollectionError):
        check_archive(path)


def test_the_check_sees_a_wrong_digest(tmp_path: Path) -> None:
    writer = make_writer(tmp_path)
    writer.write_exchange(make_exchange(digest=sha1_digest(b"something else")))
    writer.close()
    with pytest.raises(CollectionError, match="payload digest"):
        check_archive(tmp_path / "TEST-00001.warc.gz")


def test_small_parts() -> None:
    for packer in (RecordPacker(), RecordPacker(quick=False), RecordPacker(6)):
        for body in (b"", b"x" * 70_000, bytes(range(256)) * 300):
            for stored in (True, False):
                packed = packer.pack(b"head", body, stored=stored)
                assert gzip.decompress(packed) == b"head" + body + b"\r\n\r\n"
    assert http_head(b"\r\nHTTP/1.1 200 OK\r\n \r\n\r\nA: b\r\n\r\n") == b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n"
    for data in (b"a", b"\x00", b"\xff" * 999):
        assert sha1_digest(data)[5:] == base64.b32encode(hashlib.sha1(data).digest()).decode()
    assert sha1_digest(b"a", b"b") == sha1_digest(b"ab")
    assert warc_date(1e9 + 0.9999999) == "2001-09-09T01:46:41.000000Z"


@pytest.mark.parametrize("missing", [["QUICK"], ["QUICK", "GzipWriter"]])
def test_without_fast_compressors_the_members_are_as_good(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, missing: list[str]
) -> None:
    for name in missing:
        monkeypatch.setattr(archive_module, name, None)
    writer = make_writer(tmp_path)
    writer.write_exchange(make_exchange())
    writer.close()
    check_with_tools(tmp_path / "TEST-00001.warc.gz")


def test_record_ids_are_version_5_uuids() -> None:
    seed = uuid.uuid5(uuid.NAMESPACE_URL, "x")
    assert record_id(seed, "A-00001.warc.gz", 12) == f"<urn:uuid:{uuid.uuid5(seed, 'A-00001.warc.gz:12')}>"
