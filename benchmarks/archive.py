"""CPU time of archiving a page, beside fastwarc and warcio.

    .venv/bin/python benchmarks/archive.py [WEB.warc.gz]

Pages come from a recorded web (default: ../shared/data/webs/schools.warc.gz) or, where there is none,
from generated text of 30 KB. Each is written as request, response and metadata; prints a table.
"""

from __future__ import annotations

import gzip
import io
import random
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from honeyguide.store.archive import ArchiveWriter, Exchange, warc_date
from honeyguide.store.archive_reader import iterate, read_record

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from fastwarc.stream_io import GzipWriter
    from fastwarc.warc import WarcRecord, WarcRecordType

from warcio.statusandheaders import StatusAndHeadersParser
from warcio.warcwriter import WARCWriter

PAGES = 600
REQUEST = b"GET /page HTTP/1.1\r\nHost: a.example\r\nUser-Agent: honeyguide/0.1\r\nAccept: text/html\r\n\r\n"
METADATA = {"via": "http://a.example/parent", "hops": "3", "verdict": "0.93"}
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nServer: nginx\r\n"


def bodies(web: Path) -> list[bytes]:
    if web.is_file():
        found = []
        for answer in iterate(web):
            if 20_000 < len(answer.payload) < 40_000:
                found.append(answer.payload)
            if len(found) == PAGES:
                break
        return found
    rng = random.Random(1)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(4000)]
    return [" ".join(rng.choices(words, k=5000)).encode() for _ in range(PAGES)]


def ours(folder: Path, pages: list[tuple[bytes, bytes]], level: int) -> None:
    writer = ArchiveWriter(folder, prefix="B", software="b", clock=lambda: 0.0, level=level)
    for number, (head, body) in enumerate(pages):
        writer.write_exchange(
            Exchange(
                url=f"http://a.example/{number}",
                at=1.79e9 + number,
                ip="192.0.2.1",
                request_head=REQUEST,
                response_head=head,
                payload=body,
                metadata=METADATA,
            )
        )
    writer.close()


def with_fastwarc(folder: Path, pages: list[tuple[bytes, bytes]], level: int) -> None:
    fields = "".join(f"{name}: {value}\r\n" for name, value in METADATA.items()).encode()
    with (folder / "B.warc.gz").open("wb") as file:
        stream = GzipWriter(file, compression_level=level)
        for number, (head, body) in enumerate(pages):
            for kind, block in (
                (WarcRecordType.response, head + b"\r\n" + body),
                (WarcRecordType.request, REQUEST),
                (WarcRecordType.metadata, fields),
            ):
                record = WarcRecord()
                record.init_headers(kind)
                record.headers["WARC-Date"] = warc_date(1.79e9 + number)
                record.headers["WARC-Target-URI"] = f"http://a.example/{number}"
                record.set_bytes_content(block)
                record.write(stream, checksum_data=True)
                stream.finish()


def with_warcio(folder: Path, pages: list[tuple[bytes, bytes]], _level: int) -> None:
    fields = "".join(f"{name}: {value}\r\n" for name, value in METADATA.items()).encode()
    with (folder / "B.warc.gz").open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for number, (head, body) in enumerate(pages):
            url = f"http://a.example/{number}"
            response = StatusAndHeadersParser(["HTTP/1.1"]).parse(io.BytesIO(head + b"\r\n"))
            request = StatusAndHeadersParser(["GET"]).parse(io.BytesIO(REQUEST))
            writer.write_record(
                writer.create_warc_record(url, "response", io.BytesIO(body), http_headers=response)
            )
            writer.write_record(
                writer.create_warc_record(url, "request", io.BytesIO(b""), http_headers=request)
            )
            writer.write_record(
                writer.create_warc_record(
                    url, "metadata", io.BytesIO(fields), warc_content_type="application/warc-fields"
                )
            )


def measure(
    write: Callable[[Path, list[tuple[bytes, bytes]], int], None],
    pages: list[tuple[bytes, bytes]],
    level: int,
) -> tuple[float, float]:
    best, size = 1e9, 0.0
    for _ in range(3):
        folder = Path(tempfile.mkdtemp())
        start = time.process_time()
        write(folder, pages, level)
        best = min(best, time.process_time() - start)
        size = sum(path.stat().st_size for path in folder.iterdir()) / len(pages)
        shutil.rmtree(folder)
    return best / len(pages) * 1e6, size


def main() -> None:
    default = Path(__file__).resolve().parents[2] / "shared" / "data" / "webs" / "schools.warc.gz"
    web = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    plain = [(HEAD, body) for body in bodies(web)]
    packed = [(HEAD + b"Content-Encoding: gzip\r\n", gzip.compress(body, 6)) for _, body in plain]
    print(f"{len(plain)} pages, mean {sum(len(b) for _, b in plain) // len(plain)} bytes plain,", end=" ")
    print(f"{sum(len(b) for _, b in packed) // len(packed)} gzipped; request + response + metadata each")
    print(f"{'writer':<12}{'level':>6}{'plain µs':>10}{'bytes':>8}{'packed µs':>11}{'bytes':>8}")
    for name, write, level in (
        ("honeyguide", ours, 1),
        ("honeyguide", ours, 2),
        ("honeyguide", ours, 6),
        ("fastwarc", with_fastwarc, 1),
        ("fastwarc", with_fastwarc, 6),
        ("warcio", with_warcio, 9),
    ):
        one, two = measure(write, plain, level), measure(write, packed, level)
        print(f"{name:<12}{level:>6}{one[0]:>10.0f}{one[1]:>8.0f}{two[0]:>11.0f}{two[1]:>8.0f}")
    if web.is_file():
        start = time.process_time()
        places = [(answer.offset, answer.length) for answer in iterate(web)]
        print(f"all of {web.name}: {len(places)} answers in {time.process_time() - start:.2f} s CPU")
        sample = random.Random(2).sample(places, min(500, len(places)))
        start = time.process_time()
        for offset, length in sample:
            read_record(web.parent, web.name, offset, length)
        print(f"random read: {(time.process_time() - start) / len(sample) * 1e6:.0f} µs")


if __name__ == "__main__":
    main()
