from __future__ import annotations

import csv
import json
import sys
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from honeyguide.collection.exports.tables import PAGE_COLUMNS, TEXT_COLUMN, Column, export
from honeyguide.errors import CollectionError, MissingExtra

ROW: dict[str, object] = {
    "url": "http://a.example/",
    "title": 'An "owl", 神\nline',
    "language": "en",
    "score": 0.25,
    "on_topic": True,
    "fetched_at": "2026-01-01T00:00:00Z",
    "depth": 2,
    "status": 200,
    "content_type": "text/html",
    "bytes": 1234,
    "digest": "sha1:X",
    "warc_file": "A-00001.warc.gz",
    "warc_offset": 99,
}
SMALL = (
    Column("name", str, ""),
    Column("number", int, ""),
    Column("share", float, ""),
    Column("yes", bool, ""),
)


def read_back(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
    if path.suffix == ".parquet":
        rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
        return rows
    assert path.read_bytes().startswith(BOM_UTF8)  # Excel would take it for Latin-1
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_pages_have_fixed_columns(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"pages.{form}"
    rows = (ROW | {"depth": number} for number in range(25))
    assert export(rows, path, batch=10) == 25
    back = read_back(path)
    assert len(back) == 25
    assert list(back[0]) == [column.name for column in PAGE_COLUMNS]
    assert back[7]["title"] == ROW["title"]
    assert str(back[7]["depth"]) == "7"
    assert back[7]["duplicate_of"] in (None, "")
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_no_rows(tmp_path: Path, form: str) -> None:
    path = tmp_path / "empty.out"
    assert export([], path, form=form) == 0
    assert path.is_file()


def test_parquet_has_types_and_row_groups(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    export([{"name": "a", "number": 1, "share": 1, "yes": 0}] * 25, path, columns=SMALL, batch=10)
    file = parquet.ParquetFile(path)
    assert [str(kind) for kind in file.schema_arrow.types] == ["string", "int64", "double", "bool"]
    assert file.num_row_groups == 3
    assert file.read().to_pylist()[0] == {"name": "a", "number": 1, "share": 1.0, "yes": False}


@pytest.mark.parametrize("title", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx", "  =1", "\uff1d1"])
def test_formulas_become_text_in_csv_only(tmp_path: Path, title: str) -> None:
    rows = [{"name": title, "number": -5, "share": -0.5}]
    export(rows, tmp_path / "x.csv", columns=SMALL)
    assert read_back(tmp_path / "x.csv") == [
        {"name": "'" + title, "number": "-5", "share": "-0.5", "yes": ""}
    ]
    for form in ("jsonl", "parquet"):
        export(rows, tmp_path / f"x.{form}", columns=SMALL)
        assert read_back(tmp_path / f"x.{form}")[0]["name"] == title


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\uff1d"])
@pytest.mark.parametrize("between", [";", "; ", "\t", ";\t", '"; "', "\n", "\r\n", ";;"])
def test_formulas_after_another_separator_become_text(tmp_path: Path, start: str, between: str) -> None:
    export([{"name": f"owls{between}{start}cmd|' /C calc'!A0"}], tmp_path / "x.csv", columns=SMALL)
    text = (tmp_path / "x.csv").read_text()
    for separator in (";", "\t"):  # read as a spreadsheet set to these would
        cells = [cell.strip(' "') for line in text.splitlines() for cell in line.split(separator)]
        assert not [cell for cell in cells if cell.startswith(start)]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(), max_size=30), number=st.integers(-(2**63), 2**63 - 1))
def test_any_text_is_one_row(tmp_path: Path, text: str, number: int) -> None:
    wanted = text.encode("utf-8", "replace").decode()
    for form in ("jsonl", "csv", "parquet"):
        path = tmp_path / f"any.{form}"
        export([{"name": text, "number": number}], path, columns=SMALL)
        (row,) = read_back(path)
        assert int(row["number"]) == number
        if form == "csv":
            assert row["name"].replace("'", "") == wanted.replace("\0", "").replace("'", "")
        else:
            assert row["name"] == wanted


def test_text_is_optional(tmp_path: Path) -> None:
    export([ROW | {"text": "words"}], tmp_path / "t.jsonl", columns=(*PAGE_COLUMNS, TEXT_COLUMN))
    assert list(read_back(tmp_path / "t.jsonl")[0])[-1] == "text"


def broken() -> Iterator[dict[str, object]]:
    yield ROW
    raise RuntimeError("the database went away")


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_an_interrupted_export_leaves_the_old_file(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"x.{form}"
    path.write_text("old")
    with pytest.raises(RuntimeError):
        export(broken(), path)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "row",
    [
        {"nmae": "x"},
        {"name": 5},
        {"number": "5"},
        {"number": True},
        {"number": 1.5},
        {"yes": "true"},
        {"share": "1"},
    ],
)
def test_wrong_rows_are_mistakes(tmp_path: Path, row: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="column"):
        export([row], tmp_path / "x.jsonl", columns=SMALL)
    assert not list(tmp_path.iterdir())


def test_unknown_form_and_missing_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CollectionError, match="jsonl"):
        export([], tmp_path / "x.xlsx")
    with pytest.raises(CollectionError, match="check the folder"):
        export([], tmp_path / "no" / "x.csv")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match="tables"):
        export([], tmp_path / "x.parquet")
    assert not list(tmp_path.iterdir())
