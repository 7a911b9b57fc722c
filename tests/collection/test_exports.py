"""Exports of a real crawl of the generated web: noindex pages, revisits and near duplicates are in it."""

from __future__ import annotations

import asyncio
import gzip
import json
import sqlite3
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from crawls import finish, small_crawl
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from surt import surt as reference_surt  # type: ignore[import-untyped]

from honeyguide.collection.collection import Collection
from honeyguide.collection.exports.cdxj import blocks, surt
from honeyguide.collection.exports.formats import FORMATS
from honeyguide.collection.exports.xml_text import attribute, content
from honeyguide.errors import CollectionError
from honeyguide.model import Outcome
from honeyguide.store.archive_reader import iterate, read_record
from honeyguide.store.reviews import add_review
from honeyguide.web.url import host_key

GEXF = "{http://gexf.net/1.3}"
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("exports") / "collection"
    asyncio.run(finish(small_crawl(path, max_pages=200)))
    return path


def wanted(folder: Path, *, relevant: bool) -> dict[str, int]:
    """URL and row of the pages that an export should hold, by another way than the exports'."""
    with Collection.open(folder) as collection:
        found = {}
        for page in collection.state.pages(on_topic=True if relevant else None):
            record = collection.state.url_by_row(page.row)
            if record is not None and record.status is not Outcome.NOINDEX:
                found[page.url] = page.row
        return found


def write(folder: Path, path: Path, form: str, *, relevant: bool = True, text: bool = False) -> int:
    with Collection.open(folder) as collection:
        return collection.export(path, format=form, relevant=relevant, text=text, clock=lambda: 1.7e9)


@pytest.mark.parametrize("relevant", [True, False])
def test_warc_holds_the_pages_and_passes_warcio(folder: Path, tmp_path: Path, relevant: bool) -> None:
    path = tmp_path / "pages.warc.gz"
    pages = wanted(folder, relevant=relevant)
    assert write(folder, path, "warc", relevant=relevant) == len(pages)
    checked = subprocess.run(
        [BIN / "warcio", "check", "-v", path], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout
    assert "digest failed" not in checked.stdout
    answers = list(iterate(path))
    assert {answer.url for answer in answers} == pages.keys()
    whole = {answer.digest for answer in answers if answer.kind == "response"}
    revisits = [answer for answer in answers if answer.kind == "revisit"]
    assert revisits
    assert all(answer.digest in whole for answer in revisits)
    with Collection.open(folder) as collection:
        assert collection.layout is not None
        for answer in answers[:20]:
            page = collection.state.page_by_row(pages[answer.url])
            assert page is not None
            there = read_record(collection.layout.archive_folder, page.file, page.offset, page.length)
            assert (there.payload, there.head, there.at) == (answer.payload, answer.head, answer.at)


def test_a_revisit_brings_its_first_copy_along(folder: Path, tmp_path: Path) -> None:
    """The first copy is off topic here, so only the revisit asks for it."""
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", folder, copy], check=True)
    state = sqlite3.connect(copy / "state.sqlite")
    row, first = state.execute(
        "SELECT row, duplicate_of FROM page WHERE duplicate_of != 0 LIMIT 1"
    ).fetchone()
    state.execute("UPDATE page SET on_topic = (row = ?)", (row,))
    state.commit()
    state.close()
    assert write(copy, tmp_path / "one.warc.gz", "warc") == 1
    with Collection.open(copy) as collection:
        urls = [collection.state.url_text(first), collection.state.url_text(row)]
    assert [answer.url for answer in iterate(tmp_path / "one.warc.gz")] == urls
    # The page list of a WACZ names the page that was asked for only.
    assert write(copy, tmp_path / "one.wacz", "wacz") == 1


def test_wacz_is_valid_and_its_index_is_the_indexers(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "pages.wacz"
    count = write(folder, path, "wacz", text=True)
    checked = subprocess.run(
        [BIN / "wacz", "validate", "-f", path], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout
    assert "is valid" in checked.stdout
    with zipfile.ZipFile(path) as archive:
        assert archive.getinfo("archive/pages.warc.gz").compress_type == zipfile.ZIP_STORED
        archive.extract("archive/pages.warc.gz", tmp_path)
        index = gzip.decompress(archive.read("indexes/index.cdx.gz")).decode()
        head, *pages = (json.loads(line) for line in archive.read("pages/pages.jsonl").splitlines())
        package = json.loads(archive.read("datapackage.json"))
    warc = tmp_path / "archive" / "pages.warc.gz"
    made = subprocess.run([BIN / "cdxj-indexer", "-s", warc], capture_output=True, text=True, check=True)
    assert index == made.stdout
    assert head["hasText"] is True
    assert len(pages) == count == len(wanted(folder, relevant=True))
    assert {page["url"] for page in pages} == wanted(folder, relevant=True).keys()
    assert all(page["text"] for page in pages if page["title"])
    assert package["title"] == "beekeeping"


def test_long_indexes_are_cut_into_blocks_that_can_be_found() -> None:
    lines = [f"com,a)/{number:05d} 20200101000000 {{}}\n" for number in range(10)]
    made = list(blocks(lines, size=4))
    assert gzip.decompress(b"".join(block.data for block in made)).decode() == "".join(lines)
    places = [json.loads(block.entry.split(" ", 2)[2]) for block in made]
    assert [place["offset"] for place in places] == [0, len(made[0].data), sum(len(b.data) for b in made[:2])]
    assert made[1].entry.startswith("com,a)/00004 20200101000000 ")


@pytest.mark.parametrize(
    "url",
    [
        "http://www.example.com/",
        "http://example.com:8080/A/b?z=1&a=2",
        "https://example.com:443/x",
        "http://1.2.3.4/x",
        "https://xn--bcher-kva.example/%C3%A4?q",
        "http://www2.a.example/a//b",
        "http://a.example/x/",
        "http://a.example/x;v=1?b",
        "http://a.example/?x",
    ],
)
def test_surt_is_the_common_one(url: str) -> None:
    assert surt(url) == reference_surt(url)


@pytest.mark.parametrize("relevant", [True, False])
def test_gexf_is_the_graph_of_the_pages(folder: Path, tmp_path: Path, relevant: bool) -> None:
    path = tmp_path / "links.gexf"
    pages = wanted(folder, relevant=relevant)
    assert write(folder, path, "gexf", relevant=relevant) == len(pages)
    root = etree.parse(path).getroot()
    titles = {each.get("id"): each.get("title") for each in root.iter(f"{GEXF}attribute")}
    nodes = {}
    for node in root.iter(f"{GEXF}node"):
        values = {titles[value.get("for")]: value.get("value") for value in node.iter(f"{GEXF}attvalue")}
        nodes[node.get("id")] = values
        assert values["host"] == host_key(values["url"])
        assert 0.0 <= float(values["score"]) <= 1.0
        assert values["relevant"] == "true" or not relevant
    assert {values["url"] for values in nodes.values()} == pages.keys()
    edges = [(edge.get("source"), edge.get("target")) for edge in root.iter(f"{GEXF}edge")]
    assert len(edges) == len(set(edges)) > 20
    assert all(source in nodes and target in nodes and source != target for source, target in edges)
    with Collection.open(folder) as collection:
        links = {(row, int(to)) for row in pages.values() for to in collection.state.links_of(row)}
    known = set(pages.values())
    assert {(int(a), int(b)) for a, b in edges} == {(a, b) for a, b in links if b in known and a != b}


def test_opml_lists_pages_by_host(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "hosts.opml"
    pages = wanted(folder, relevant=True)
    assert write(folder, path, "opml") == len(pages)
    body = etree.parse(path).getroot().find("body")
    assert body is not None
    names = [outline.get("text") for outline in body]
    assert names == sorted(names)
    seen = {page.get("url"): outline.get("text") for outline in body for page in outline}
    assert seen == {url: host_key(url) for url in pages}


def test_datasheet_says_what_when_and_how(folder: Path, tmp_path: Path) -> None:
    assert write(folder, tmp_path / "sheet.md", "datasheet") == 200
    text = (tmp_path / "sheet.md").read_text()
    with Collection.open(folder) as collection:
        status = collection.status()
        noindex = status.outcomes["noindex"]
        copies = sum(page.duplicate_of > 0 for page in collection.pages(relevant=None))
    assert noindex > 0
    assert copies > 0
    for expected in (
        "# Datasheet of the collection “beekeeping”",
        "| recipe | best-first |",
        "| page model | calibrated |",
        "| link order | best-first |",
        "## How to cite it",
        "    @misc{beekeeping-",
        f"| relevant pages, by the model | {status.relevant} |",
        f"| pages that asked not to be indexed | {noindex} |",
        f"| pages with the bytes of an earlier one | {copies} |",
        "| sites that ask for a delay | 2 |",
        "budget of 200 pages is spent",
        "2001-09-09 01:46:40 UTC",
        "    max_pages_per_domain = 500",
    ):
        assert expected in text
    write(folder, tmp_path / "sheet.html", "datasheet-html")
    page = (tmp_path / "sheet.html").read_text()
    assert "<td>best-first</td>" in page
    assert "<script" not in page


@pytest.mark.parametrize("form", [*FORMATS])
def test_every_format_tells_progress_and_leaves_one_file(folder: Path, tmp_path: Path, form: str) -> None:
    told: list[tuple[int, int]] = []
    with Collection.open(folder) as collection:
        count = collection.export(
            tmp_path / "out", format=form, progress=lambda done, total: told.append((done, total))
        )
    assert count
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert told[-1][0] == told[-1][1] > 0


def damaged_copy(folder: Path, tmp_path: Path, place: str) -> tuple[Path, str]:
    """A copy whose third page is damaged, and the page's address."""
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", folder, copy], check=True)
    with Collection.open(copy) as collection:
        urls = wanted(copy, relevant=True)
        page = next(page for page in list(collection.state.pages(on_topic=True))[2:] if page.url in urls)
    (archive,) = (copy / "archive").glob("*.warc.gz")
    data = bytearray(archive.read_bytes())
    at = {
        "head": page.offset + 12,
        "body": page.offset + page.length - 40,
        "request": page.offset + page.length + 12,
    }
    data[at[place] : at[place] + 20] = bytes(20)
    archive.write_bytes(data)
    return copy, page.url


@pytest.mark.parametrize("place", ["head", "body", "request"])
@pytest.mark.parametrize("form", ["warc", "wacz"])
def test_a_damaged_record_is_left_out_and_nothing_else(
    folder: Path, tmp_path: Path, form: str, place: str
) -> None:
    copy, url = damaged_copy(folder, tmp_path, place)
    told: list[tuple[str, str]] = []
    out = tmp_path / f"out.{form}"
    with Collection.open(copy) as collection:
        collection.export(out, format=form, trouble=lambda page, why: told.append((page, why)))
    assert {page for page, _ in told} >= {url}
    assert "restore" in told[0][1]
    if form == "wacz":
        with zipfile.ZipFile(out) as package:
            package.extract("archive/pages.warc.gz", tmp_path)
            listed = [json.loads(line) for line in package.read("pages/pages.jsonl").splitlines()[1:]]
        held = {each["url"] for each in listed}
    else:
        held = {each.url for each in iterate(out)}
    missing = set() if place == "request" else {page for page, _ in told}
    assert held >= set(wanted(copy, relevant=True)) - missing
    assert not held & missing
    whole = out if form == "warc" else tmp_path / "archive/pages.warc.gz"
    subprocess.run([BIN / "warcio", "check", whole], check=True, capture_output=True)


def test_the_command_says_what_is_missing(folder: Path, tmp_path: Path) -> None:
    copy, url = damaged_copy(folder, tmp_path, "body")
    command = [str(BIN / "honeyguide"), "export", str(copy), "--format", "warc"]
    command += ["--out", str(tmp_path / "out.warc.gz")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert url in done.stderr
    assert "is written, but without damaged records of" in done.stderr
    assert "left out, since their records are damaged\t1" in done.stdout
    assert len(list(iterate(tmp_path / "out.warc.gz"))) > 10


def test_markdown_goes_on_past_a_damaged_record(folder: Path, tmp_path: Path) -> None:
    copy, url = damaged_copy(folder, tmp_path, "body")
    told: list[str] = []
    with Collection.open(copy) as collection:
        collection.export(
            tmp_path / "out", format="markdown-jsonl", trouble=lambda page, _: told.append(page)
        )
    lines = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert {line["url"] for line in lines} == set(wanted(copy, relevant=True))
    assert url in told
    assert {line["url"] for line in lines if not line["markdown"]} >= {url}
    assert sum(bool(line["markdown"]) for line in lines) >= len(lines) - len(told) - 3


@pytest.mark.parametrize("form", ["warc", "wacz"])
def test_an_archive_of_which_nothing_is_left_leaves_no_half_file(
    folder: Path, tmp_path: Path, form: str
) -> None:
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", folder, copy], check=True)
    (archive,) = (copy / "archive").glob("*.warc.gz")
    archive.write_bytes(bytes(archive.stat().st_size))
    target = tmp_path / "out"
    target.mkdir()
    (target / "pages").write_text("before")
    with pytest.raises(CollectionError, match=r"restore|check"):
        write(copy, target / "pages", form)
    assert [path.name for path in target.iterdir()] == ["pages"]
    assert (target / "pages").read_text() == "before"


def test_a_state_that_names_another_file_is_refused(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", folder, copy], check=True)
    state = sqlite3.connect(copy / "state.sqlite")
    state.execute("UPDATE page SET file = '../../etc/passwd'")
    state.commit()
    state.close()
    with pytest.raises(CollectionError, match="is not an archive file"):
        write(copy, tmp_path / "out.warc.gz", "warc")


def test_what_cannot_be_exported_is_said(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(CollectionError, match="use one of jsonl"):
        write(folder, tmp_path / "x", "docx")
    with pytest.raises(CollectionError, match="hold no texts"):
        write(folder, tmp_path / "x", "gexf", text=True)


@given(st.text(st.characters(codec=None), max_size=60))
def test_any_text_survives_xml(text: str) -> None:
    root = etree.fromstring(f"<a b={attribute(text)}>{content(text)}</a>".encode("utf-8", "surrogatepass"))
    assert root.get("b") is not None
    shown = "".join(letter if letter in "\t\n\r" or _is_xml(letter) else "\ufffd" for letter in text)
    assert root.get("b") == shown


def _is_xml(letter: str) -> bool:
    code = ord(letter)
    return 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000


def test_a_reviewers_word_counts_more_than_the_models(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", folder, copy], check=True)
    with Collection.open(copy) as collection:
        off = next(page for page in collection.pages(relevant=None) if not page.on_topic)
        on, other, *_ = [page for page in collection.pages() if page.url in wanted(folder, relevant=True)]
    host = host_key(other.url)
    add_review(copy, "accept", at=1.0, url=off.url, on_topic=False, score=off.score)
    add_review(copy, "accept", at=1.0, url=other.url)
    add_review(copy, "reject", at=2.0, host=host, upto=200)
    add_review(copy, "reject", at=3.0, url=on.url, drawn="random", on_topic=True, score=on.score)
    expected = {url for url in wanted(folder, relevant=True) if host_key(url) != host} - {on.url} | {off.url}
    write(copy, tmp_path / "out.jsonl", "jsonl")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert {row["url"] for row in rows} == expected
    assert [(row["url"], row["on_topic"]) for row in rows if row["review"]] == [(off.url, False)]
    assert write(copy, tmp_path / "out.warc.gz", "warc") >= len(expected)
    add_review(copy, "accept", at=4.0, url=other.url)
    write(copy, tmp_path / "sheet.md", "datasheet")
    text = (tmp_path / "sheet.md").read_text()
    assert "| pages accepted | 2 |" in text
    assert "| hosts accepted or rejected as a whole | 1 |" in text
    assert "1 reviews" in text
    write(copy, tmp_path / "all.jsonl", "jsonl", relevant=False)
    rows = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert {row["url"]: row["review"] for row in rows}[other.url] == "accept"


async def test_exports_beside_a_running_crawl(tmp_path: Path) -> None:
    """A reader sees what is committed; records of pages after that are not in the way."""
    seen = 0
    async for event in small_crawl(tmp_path / "c", max_pages=150).run():
        if event.kind != "page" or event.data["number"] not in (70, 140):
            continue
        seen += 1
        count = write(tmp_path / "c", tmp_path / f"{seen}.warc.gz", "warc", relevant=False)
        assert count == len(wanted(tmp_path / "c", relevant=False)) > 60
        assert len(list(iterate(tmp_path / f"{seen}.warc.gz"))) == count
        write(tmp_path / "c", tmp_path / f"{seen}.md", "datasheet")
        assert "running or broken off" in (tmp_path / f"{seen}.md").read_text()
    assert seen == 2
