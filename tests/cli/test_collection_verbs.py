"""`export`, `links` and `directory` as the program runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from honeyguide.cli import main
from honeyguide.collection.exports.formats import FORMATS
from honeyguide.testing.made_collection import MadeCollection

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("verbs") / "owls"
    with MadeCollection(path, archive=True) as made:
        for number in range(1, 21):
            made.page(
                f"http://h{number % 4}.example/{number}",
                host=f"h{number % 4}.example",
                title=f"=owl {number}",
                text=f"owls {'nest' if number % 2 else 'flight'} night {number}",
                on_topic=number != 20,
                links=[number % 19 + 1, 1],
                head=HEAD,
                body=b'<a rel="license" href="http://cc.example/by">' + str(number).encode(),
            )
    return path


@pytest.mark.parametrize("form", [*FORMATS])
def test_every_format(folder: Path, tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "out"
    assert main(["export", str(folder), "--format", form, "--output", str(target), "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert written == {"file": str(target), "pages": 20 if form.startswith("datasheet") else 19}
    assert target.stat().st_size > 100
    if form == "datasheet":
        assert "| http://cc.example/by | 19 |" in target.read_text()
    if form == "csv":
        assert "'=owl 1," in target.read_text()


def test_exports_that_cannot_be_made(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(folder), "--format", "opml", "--text"]) == 2
    assert "use one of jsonl" in capsys.readouterr().err
    assert main(["export", str(folder), "--format", "docx"]) == 2
    assert main(["export", str(folder), "--output", str(folder / "no" / "x.jsonl")]) == 2
    assert "check the folder" in capsys.readouterr().err


def test_links(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["links", str(folder), "--limit", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["kind", *["hub"] * 3, "kind", *["authority"] * 3]
    assert lines[5].endswith("http://h1.example/1")
    assert main(["links", str(folder), "--json", "--offset", "2", "--limit", "2", "--all-pages"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["hubs"]) == len(found["authorities"]) == 2
    assert main(["links", str(folder), "--duplicates"]) == 0
    assert capsys.readouterr().out == "group\tkind\ttitle\turl\n"


def test_directory(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["directory", str(folder), "--subjects", "2"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    assert (
        main(["directory", str(folder), "--output", str(tmp_path / "site"), "--title", "Owls", "--json"]) == 0
    )
    facts = json.loads(capsys.readouterr().out)
    assert facts["pages"] == 19
    assert facts["files"] == len(list((tmp_path / "site").iterdir()))
    assert "<title>Owls</title>" in Path(facts["open"]).read_text()
    assert main(["directory", str(folder), "--output", str(folder)]) == 2
    assert "choose an empty folder" in capsys.readouterr().err


def test_export_to_standard_output(folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["export", str(folder), "--format", "jsonl", "--out", "-"]) == 0
    lines = capfdbinary.readouterr().out.splitlines()
    assert len(lines) == 19
    assert all(json.loads(line)["url"] for line in lines)
    assert main(["export", str(folder), "--format", "markdown", "--to", "-"]) == 2
    assert b"markdown-jsonl" in capfdbinary.readouterr().err
