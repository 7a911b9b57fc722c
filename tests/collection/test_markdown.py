"""Clean text out of the archive: of one page, as files, as lines; a hostile page costs seconds, no more."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest
from crawls import finish, small_crawl

from honeyguide.collection.collection import Collection
from honeyguide.collection.markdown import MarkdownMaker
from honeyguide.errors import CollectionError
from honeyguide.parse.markdown import to_markdown
from honeyguide.testing.made_collection import MadeCollection

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
ARTICLE = b"""<!doctype html><html><head><title>Owls</title></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/shop">Shop</a></li></ul></nav>
<article><h1>Owls of Europe</h1>
<p>The barn owl is a bird of open country; see <a href="/strix">the tawny owl</a> for one of the woods.</p>
<h2>Species</h2><ul><li>Barn owl, pale and silent</li><li>Tawny owl, brown and loud</li></ul>
<table><tr><th>Name</th><th>Length</th></tr><tr><td>Barn owl</td><td>33 cm</td></tr></table>
<pre><code>def hoot():
    return "hoo"
</code></pre>
<p>Both hunt at night and nest in holes, and neither migrates in the mild winters of the west.</p></article>
<footer>All rights reserved by the owl company</footer></body></html>"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with MadeCollection(tmp_path / "made", archive=True) as made:
        made.page("https://example.org/owls", title='The "owl": a --- b', text="x", head=HEAD, body=ARTICLE)
        made.page("https://example.org/bare", title="No copy", text="nothing archived")
    return tmp_path / "made"


def test_structure_stays_and_boilerplate_goes(folder: Path) -> None:
    with Collection.open(folder) as collection:
        markdown = collection.page("https://EXAMPLE.org/owls").markdown()
    for kept in (
        "# Owls of Europe",
        "## Species",
        "- Barn owl, pale and silent",
        "[the tawny owl](https://example.org/strix)",
        "| Barn owl | 33 cm |",
        '    return "hoo"',
    ):
        assert kept in markdown
    assert "Shop" not in markdown
    assert "All rights reserved" not in markdown


@pytest.mark.parametrize(
    ("head", "link", "target"),
    [
        ("", "../index/birds.htm", "https://example.org/wp/index/birds.htm"),
        ("", "Barn_Owl.htm#food", "https://example.org/wp/o/Barn_Owl.htm#food"),
        ("", "?page=2", "https://example.org/wp/o/Owl.htm?page=2"),
        ("", "//other.example/a", "https://other.example/a"),
        ('<base href="/there/">', "a.htm", "https://example.org/there/a.htm"),
    ],
)
def test_links_are_resolved_against_the_page(head: str, link: str, target: str) -> None:
    body = f"""<html><head>{head}<title>Owls</title></head><body><article><h1>Owls</h1>
    <p>The barn owl is a bird of open country; see <a href="{link}">the others</a> for those of the woods.</p>
    </article></body></html>"""
    made = to_markdown(body.encode(), url="https://example.org/wp/o/Owl.htm")
    assert f"[the others]({target})" in made


@pytest.mark.parametrize("before", ["", "<a name=place></a>", "<p></p>", "&#32;<!-- nothing -->"])
def test_a_list_in_an_item_that_has_nothing_else_keeps_its_items(before: str) -> None:
    """Indented four spaces under nothing, they would be code; behind an empty anchor, they went as a menu."""
    prose = "<p>" + "The barn owl hunts at night over fields and nests in barns. " * 6 + "</p>"
    inner = f"<ul><li>{before}<ul><li>pale and silent</li><li>brown and loud</li></ul></li></ul>"
    last = "<li>Said of <a href='/x'>eagle owls</a><ol><li>large</li></ol></li>"
    page = f"<article><h1>Owls</h1>{prose}<ul><li>{before}{inner}</li>{last}</ul>{prose}</article>"
    made = to_markdown(page.encode(), url="https://example.org/")
    link = "[eagle owls](https://example.org/x)"
    assert f"\n\n- pale and silent\n- brown and loud\n- Said of {link}\n  1. large\n" in made


def test_a_page_says_what_it_is(folder: Path) -> None:
    with Collection.open(folder) as collection:
        page = collection.page("https://example.org/owls")
        assert (page.title, page.on_topic, page.versions()[0].status) == ('The "owl": a --- b', True, 200)
        assert page.text() == "x"
        assert page.why().outcome == "fetched"
        with pytest.raises(CollectionError, match="not in the archive"):
            collection.page("https://example.org/bare").markdown()
        with pytest.raises(CollectionError, match="never met"):
            collection.page("https://example.org/other")


def test_a_folder_of_files_with_front_matter(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with Collection.open(folder) as collection:
        assert collection.export(out, format="markdown") == 2
        assert collection.export(out, format="markdown") == 2  # its own earlier folder is replaced
    names = sorted(path.name for path in out.iterdir())
    assert names == ["000001-the-owl-a-b.md", "000002-no-copy.md", "pages.jsonl"]
    text = (out / names[0]).read_text()
    assert text.startswith('---\nurl: "https://example.org/owls"\ntitle: "The \\"owl\\": a --- b"\n')
    assert "\n---\n\n# Owls of Europe" in text
    (out / "mine.txt").write_text("not to be lost")
    (out / "pages.jsonl").unlink()
    with (
        Collection.open(folder) as collection,
        pytest.raises(CollectionError, match="holds other files"),
    ):
        collection.export(out, format="markdown")
    assert (out / "mine.txt").exists()


def test_lines_hold_the_same(folder: Path, tmp_path: Path) -> None:
    with Collection.open(folder) as collection:
        collection.export(tmp_path / "out.jsonl", format="markdown-jsonl")
    first, second = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
    assert first["url"] == "https://example.org/owls"
    assert first["markdown"].startswith("# Owls of Europe")
    assert second["markdown"] == ""


def test_every_page_of_a_crawl_comes_out(tmp_path: Path) -> None:
    asyncio.run(finish(small_crawl(tmp_path / "collection", max_pages=20)))
    with Collection.open(tmp_path / "collection") as collection:
        count = collection.export(tmp_path / "out.jsonl", format="markdown-jsonl", relevant=False)
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert count == len(lines) > 10
    assert all(line["markdown"] for line in lines)


def test_a_page_that_takes_too_long_has_no_markdown_and_the_next_one_has() -> None:
    bomb = b"<html><body>" + b"<p><a href=x>yy</a> word</p>" * 14_000
    with MarkdownMaker(deadline=0.3) as maker:
        maker.make(ARTICLE, url="https://example.org/")  # started
        begun = time.monotonic()
        assert maker.make(bomb, url="https://example.org/") == ""
        assert time.monotonic() - begun < 5
        maker.deadline = 30.0
        assert maker.make(ARTICLE, url="https://example.org/").startswith("# Owls")


def test_text_that_is_no_html_is_shown_as_it_is() -> None:
    made = to_markdown(b"# not a heading *at all*", url="https://example.org/", content_type="text/plain")
    assert made == "\\# not a heading \\*at all\\*"


@pytest.mark.parametrize("name", ["/dev/null", "link", "pipe", "folder"])
def test_only_regular_files_are_replaced(folder: Path, tmp_path: Path, name: str) -> None:
    import os

    target = Path(name) if name.startswith("/") else tmp_path / name
    if name == "link":
        target.symlink_to(tmp_path / "file")
    elif name == "pipe":
        os.mkfifo(target)
    elif name == "folder":
        target.mkdir()
    before = target.lstat()
    with Collection.open(folder) as collection, pytest.raises(CollectionError, match="not a regular file"):
        collection.export(target)
    assert target.lstat().st_ino == before.st_ino
