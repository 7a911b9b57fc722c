"""Edge lists: every format, page and host level, index on disk, and bad files."""

from __future__ import annotations

import asyncio
import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.discovery import rate_limit
from honeyguide.discovery.backlinks import edge_files
from honeyguide.discovery.backlinks.edge_list import EdgeList
from honeyguide.discovery.backlinks.keyed_file import KeyedFile, KeyedWriter
from honeyguide.discovery.backlinks.rationed import Rationed
from honeyguide.engine.clock import VirtualClock
from honeyguide.errors import TopicError

EDGES = [
    ("http://a.example/", "http://t.example/x"),
    ("HTTP://B.example", "http://t.example/x"),
    ("http://t.example/x", "http://t.example/x"),
    ("http://a.example/", "http://u.example/"),
    ("not an address", "http://t.example/x"),
]
FOUND = ["http://a.example/", "http://b.example/"]


def write(path: Path, separator: str, *, heading: bool = True) -> Path:
    lines = [f"target{separator}weight{separator}source"] if heading else []
    lines += [
        separator.join((target, "1", source) if heading else (source, target)) for source, target in EDGES
    ]
    text = "# a comment\n" + "\n".join(lines) + "\nalone\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


@pytest.mark.parametrize("name", ["e.csv", "e.tsv", "e.csv.gz", "e.tsv.gz"])
@pytest.mark.parametrize("heading", [True, False])
async def test_text_formats(tmp_path: Path, name: str, heading: bool) -> None:
    path = write(tmp_path / name, "," if "csv" in name else "\t", heading=heading)
    edges = EdgeList(str(path))
    assert list((await edges.parents("http://t.example/x", 10)).urls) == FOUND
    assert list((await edges.parents("http://t.example/x", 1)).urls) == FOUND[:1]
    assert (await edges.parents("http://nobody.example/", 10)).urls == ()


async def test_parquet(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = arrow.table({"target": [t for _, t in EDGES], "source": [s for s, _ in EDGES]})
    parquet.write_table(table, tmp_path / "e.parquet")
    edges = EdgeList(str(tmp_path / "e.parquet"), index=str(tmp_path / "elsewhere" / "index"))
    assert list((await edges.parents("http://t.example/x", 10)).urls) == FOUND
    assert (tmp_path / "elsewhere" / "index" / "edges.json").exists()


async def test_numbered_hosts_as_published_web_graphs_have_them(tmp_path: Path) -> None:
    (tmp_path / "v.txt.gz").write_bytes(gzip.compress(b"0\torg.example\n1\torg.example.www\n2\tcom.other\n"))
    (tmp_path / "e.txt.gz").write_bytes(gzip.compress(b"1\t0\n2\t0\n0\t2\n"))
    edges = EdgeList(
        str(tmp_path / "e.txt.gz"), level="host", vertices=str(tmp_path / "v.txt.gz"), reversed_hosts=True
    )
    found = await edges.parents("http://example.org/any/page", 10)
    assert found.urls == ("https://www.example.org/", "https://other.com/")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("e.tsv", "1\t2\n3\t4\n"),
        ("e.txt", "1 2\n3 4"),
        ("e.csv", "1,2\r\n3,4\r\n"),
        ("e.tsv", "# a comment\n1\t2\n\n3\t4\n"),
        ("e.tsv", "1\t2\talso this\n3\t4\n5\n"),
        ("e.tsv", "weight\ttarget\tsource\n9\t2\t1\n9\t4\t3\n"),
    ],
)
@pytest.mark.parametrize("piece", [3, 1000])
def test_numbers_at_once_are_numbers_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, piece: int
) -> None:
    monkeypatch.setattr(edge_files, "_PIECE", piece)
    (tmp_path / name).write_text(text)
    batches = list(edge_files.read_numbers(tmp_path / name, ("source", "target")))
    pairs = [pair for first, second in batches for pair in zip(first.tolist(), second.tolist(), strict=True)]
    assert pairs == [(1, 2), (3, 4)]


def test_the_index_is_made_once_and_again_when_the_file_changes(tmp_path: Path) -> None:
    path = write(tmp_path / "e.csv", ",")
    assert EdgeList(str(path)).build()
    assert not EdgeList(str(path)).build()
    with path.open("a") as file:
        file.write("http://t.example/x,1,http://c.example/\n")
    edges = EdgeList(str(path))
    assert edges.build()
    assert edges.lookup("http://t.example/x", 10) == [*FOUND, "http://c.example/"]
    (tmp_path / "e.csv.index" / "edges.json").write_bytes(b'{"format"')
    assert EdgeList(str(path)).build()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["e.csv", "e.csv.index"]


async def test_bad_files_are_a_note(tmp_path: Path) -> None:
    (tmp_path / "cut.tsv.gz").write_bytes(gzip.compress(b"a\tb\n" * 9999)[:-20])
    found = await EdgeList(str(tmp_path / "cut.tsv.gz")).parents("http://a.example/", 5)
    assert found.failed
    assert "repair it" in found.note
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 nonsense")
    found = await EdgeList(str(tmp_path / "bad.parquet")).parents("http://a.example/", 5)
    assert found.failed
    (tmp_path / "e.tsv").write_text("zero\tone\n")
    found = await EdgeList(str(tmp_path / "e.tsv"), vertices=str(tmp_path / "e.tsv")).parents(
        "http://a.example/", 5
    )
    assert "is not a vertex number" in found.note
    (tmp_path / "v.tsv").write_text("0\thttp://a.example/\n1\thttp://b.example/\n")
    (tmp_path / "e.tsv").write_text("zero\t1\n")
    found = await EdgeList(str(tmp_path / "e.tsv"), vertices=str(tmp_path / "v.tsv")).parents(
        "http://b.example/", 5
    )
    assert "'zero' is not a vertex number" in found.note
    with pytest.raises(TopicError, match="correct its path"):
        EdgeList(str(tmp_path / "none.csv"))


async def test_a_bad_file_is_read_once_and_then_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "cut.tsv.gz"
    path.write_bytes(gzip.compress(b"a\tb\n" * 9999)[:-20])
    edges = EdgeList(str(path))
    asked = Rationed(edges, VirtualClock())
    first = await asked.ask("http://a.example/", 5, patience=0)
    path.write_text("would be another note")
    answers = [await asked.ask(f"http://a.example/{i}", 5, patience=0) for i in range(4)]
    assert first.failed
    assert answers[0].note == first.note, "the file was not read again"
    assert asked.given_up


async def test_an_index_may_take_longer_than_a_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limit, "DEADLINE", 0.0)
    path = tmp_path / "e.tsv"
    path.write_text("".join(f"http://a.example/{i}\thttp://t.example/\n" for i in range(3000)))
    found = await Rationed(EdgeList(str(path)), VirtualClock()).ask("http://t.example/", 2, patience=0)
    assert found.urls == ("http://a.example/0", "http://a.example/1")


@pytest.mark.realtime
def test_stopping_the_crawl_stops_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_files, "BATCH", 1)
    path = tmp_path / "e.tsv"
    path.write_text("".join(f"http://a.example/{i}\thttp://t.example/\n" for i in range(50_000)))

    async def stopped() -> None:
        asked = asyncio.create_task(EdgeList(str(path)).parents("http://t.example/", 2))
        async with asyncio.timeout(60):
            while len(os.listdir(tmp_path)) < 2:  # noqa: ASYNC110, PTH208 - a thread writes it
                await asyncio.sleep(0.01)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked

    asyncio.run(stopped())  # waits for the thread
    assert [one.name for one in tmp_path.iterdir()] == ["e.tsv"], "no index, and nothing half done"


@settings(deadline=None, max_examples=30)
@given(pairs=st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.binary(max_size=5)), max_size=60))
def test_keyed_files_give_back_what_was_added(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[int, bytes]]
) -> None:
    folder = tmp_path_factory.mktemp("keyed") / "file"
    writer = KeyedWriter(folder)
    for start in range(0, len(pairs), 20):
        batch = pairs[start : start + 20]
        writer.add(np.array([key for key, _ in batch], dtype=np.int64), [value for _, value in batch])
    writer.finish()
    file = KeyedFile(folder)
    for key in {key for key, _ in pairs} | {0, 255}:
        assert file.get(key, 100) == [value for other, value in pairs if other == key]
        assert file.get(key, 1) == [value for other, value in pairs if other == key][:1]
