"""Exports of one language, and without copies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from honeyguide.cli import main
from honeyguide.collection.collection import Collection
from honeyguide.errors import CollectionError
from honeyguide.store.state import State
from honeyguide.testing.made_collection import MadeCollection


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with MadeCollection(tmp_path / "c") as made:
        made.page("http://a.example/1", title="eins", text="a", language="de")
        made.page("http://a.example/2", title="zwei", text="a", language="de")  # repeats the first
        made.page("http://a.example/3", title="off", text="a", on_topic=False, language="de")
        made.page("http://a.example/4", title="vier", text="a", language="de")  # nearly repeats one off topic
        made.page("http://a.example/5", title="猫头鹰", text="a", language="zh")
    with State.open(tmp_path / "c" / "state.sqlite") as state:
        state.connection.execute("UPDATE page SET duplicate_of = 1 WHERE row = 2")
        state.connection.execute("UPDATE page SET near_duplicate_of = 3 WHERE row = 4")
        state.commit()
    return tmp_path / "c"


def test_pages_that_asked_not_to_be_indexed_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with MadeCollection(tmp_path / "c") as made:
        for number in range(6):
            made.page(f"http://a.example/{number}", on_topic=number < 4, noindex=number in (0, 5))
    for more, pages, left_out in ([], 3, 1), (["--all-pages"], 4, 2):
        assert main(["export", str(tmp_path / "c"), "--format", "csv", "--json", *more]) == 0
        told = json.loads(capsys.readouterr().out)
        assert (told["pages"], told["noindex"]) == (pages, left_out)


@pytest.mark.parametrize(
    ("asked", "pages"),
    [
        ({}, "1245"),
        ({"unique": True}, "145"),
        ({"unique": True, "relevant": False}, "135"),
        ({"language": "DE"}, "124"),
        ({"language": "zh", "unique": True}, "5"),
        ({"language": "fr"}, ""),
    ],
)
def test_pages_of_an_export(folder: Path, tmp_path: Path, asked: dict[str, object], pages: str) -> None:
    with Collection.open(folder) as collection:
        assert collection.export(tmp_path / "p.jsonl", **asked) == len(pages)  # type: ignore[arg-type]
    lines = (tmp_path / "p.jsonl").read_text(encoding="utf-8").splitlines()
    assert "".join(json.loads(line)["url"][-1] for line in lines) == pages


def test_a_datasheet_is_of_the_whole(folder: Path, tmp_path: Path) -> None:
    with Collection.open(folder) as collection, pytest.raises(CollectionError, match="leave --language"):
        collection.export(tmp_path / "d.md", format="datasheet", unique=True)


def test_markdown_lines_are_readable_and_name_what_a_page_repeats(folder: Path, tmp_path: Path) -> None:
    with Collection.open(folder) as collection:
        collection.export(tmp_path / "p.jsonl", format="markdown-jsonl")
    text = (tmp_path / "p.jsonl").read_text(encoding="utf-8")
    assert "猫头鹰" in text
    assert [json.loads(line)["duplicate_of"] for line in text.splitlines()] == [
        "", "http://a.example/1", "http://a.example/3", "",
    ]  # fmt: skip
