from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

import pytest
from payloads import PAYLOADS
from playwright.sync_api import Browser
from selectolax.lexbor import LexborHTMLParser
from windows import Watched

from honeyguide.collection.collection import Collection
from honeyguide.errors import CollectionError
from honeyguide.testing.made_collection import MadeCollection
from honeyguide.ui.static_directory import write_static_directory

pytestmark = pytest.mark.realtime

HOSTILE = (
    "<script>document.title='owned'</script>",
    '"><img src=x onerror="alert(1)">',
    "{{ 7 * 7 }} {% raw %}",
    "</title></head><body onload=alert(1)>",
    "\u202eevil\u0000 \ud800 \x1b[31m",
    "javascript:alert(1)",
)


def made_folder(folder: Path, titles: list[str], *, each: int = 1) -> Path:
    with MadeCollection(folder) as made:
        for number, title in enumerate(titles * each):
            host = f"host{number % 7}.example"
            url = f"http://{host}/{number}?q=<b>'\"&x"
            made.page(url, host=host, title=title, text=f"{title} owls and trains number {number}")
        made.page("javascript:alert(document.domain)", host="evil.example", title="script", text="owls and x")
    return folder


def write(folder: Path, out: Path, title: str = "Owls & <b>trains</b>") -> int:
    with Collection.open(folder) as collection:
        return write_static_directory(collection, collection.directory(), out, title=title, at=1.7e9)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("static")
    folder = made_folder(root / "c", [*HOSTILE, "A quiet page"], each=40)
    write(folder, root / "site")
    return root / "site"


def pages_of(site: Path) -> dict[str, LexborHTMLParser]:
    return {path.name: LexborHTMLParser(path.read_text()) for path in site.glob("*.html")}


def test_every_link_leads_to_a_file_or_to_the_web(site: Path) -> None:
    pages = pages_of(site)
    reached = {"index.html"}
    for name, page in pages.items():
        for link in page.css("[href], [src]"):
            target = link.attributes.get("href") or link.attributes.get("src") or ""
            split = urlsplit(target)
            if split.scheme:
                assert split.scheme in ("http", "https")
                assert link.attributes.get("rel") == "noopener noreferrer nofollow external"
                continue
            file = unquote(split.path) or name
            assert "/" not in file
            assert (site / file).is_file()
            reached.add(file)
            if split.fragment and file in pages:
                assert pages[file].css_first(f"[id='{split.fragment}']") is not None
    assert reached == {path.name for path in site.iterdir()} - {"directory.json"}


def test_titles_of_the_web_stay_text_and_lists_are_paged(site: Path) -> None:
    pages = pages_of(site)
    shown = " ".join(page.body.text() for page in pages.values() if page.body)
    for title in (*HOSTILE[:4], "javascript:alert(document.domain)"):
        assert re.sub(r"\s+", " ", title) in re.sub(r"\s+", " ", shown)
    for page in pages.values():
        assert len(page.css("script")) == 1
        assert not page.css("img, iframe, b, [onerror], [onload], [style]")
        assert len(page.css(".entries > li")) <= 100
    assert any(name.startswith("by-host-page-") for name in pages)
    made = json.loads((site / "directory.json").read_text())
    listed = [
        link
        for name, page in pages.items()
        if name.startswith("subject-")
        for link in page.css(".entries > li")
    ]
    assert len(listed) == made["listed"] == 281


def test_it_opens_from_the_disk_and_filters(watched: Watched, site: Path) -> None:
    shown = watched
    page = shown.page
    page.goto((site / "index.html").as_uri())
    assert page.title() == "Owls & <b>trains</b>"
    assert page.locator("h1").inner_text() == "Owls & <b>trains</b>"
    assert page.evaluate("getComputedStyle(document.querySelector('.card')).borderRadius") == "10px"
    page.locator(".subject h2 a").first.click()
    assert page.locator(".entries > li").count() > 1
    page.goto((site / "by-host.html").as_uri())
    entries = page.locator(".entries > li:visible")
    before = entries.count()
    page.get_by_label("Filter this list").fill("<script>")
    assert 0 < entries.count() < before
    assert "<script>document.title='owned'</script>" in entries.first.inner_text()
    assert page.locator("output").inner_text() == f"{entries.count()} of {before}"
    page.goto((site / "hosts.html").as_uri())
    page.locator(".columns a").nth(2).click()
    assert "by-host" in page.url
    shown.check()


def test_all_naughty_strings_stay_text(watched: Watched, shared_data: Path, tmp_path: Path) -> None:
    file = shared_data / "conformance" / "naughty-strings" / "blns.json"
    titles: list[str] = json.loads(file.read_text(encoding="utf-8"))
    assert len(titles) == 515
    titles += PAYLOADS
    write(made_folder(tmp_path / "c", titles), tmp_path / "site", title=titles[-1])
    shown = watched
    entries = 0
    for path in sorted((tmp_path / "site").glob("*.html")):
        shown.page.goto(path.as_uri())
        assert shown.page.locator("script").count() == 1
        assert not shown.page.locator("main :is(img, iframe, svg, object, input[onfocus], [onerror])").count()
        entries += shown.page.locator(".entries > li").count()
    assert entries == 2 * (len(titles) + 1)
    shown.check()


@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_a_phone(browser: Browser, site: Path, dark: bool) -> None:
    scheme: Literal["dark", "light"] = "dark" if dark else "light"
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    shown = Watched(context)
    for name in ("index.html", "subject-1.html", "hosts.html", "by-host.html"):
        shown.page.goto((site / name).as_uri())
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= 360
    shown.shoot(f"static-directory-phone-{'dark' if dark else 'light'}")
    shown.check()


def test_only_its_own_folder_is_replaced(tmp_path: Path) -> None:
    folder = made_folder(tmp_path / "c", ["A", "B", "C"])
    write(folder, tmp_path / "site")
    (tmp_path / "site" / "stale.html").write_text("old")
    write(folder, tmp_path / "site")
    assert not (tmp_path / "site" / "stale.html").exists()
    other = tmp_path / "precious"
    other.mkdir()
    (other / "thesis.txt").write_text("years")
    for target in (other, folder, other / "thesis.txt"):
        with pytest.raises(CollectionError, match="choose"):
            write(folder, target)
    assert (other / "thesis.txt").read_text() == "years"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "precious", "site"]
