"""Exports, directory and links of the portal, over HTTP and in a real browser."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import pytest
from crawls import finish, small_crawl
from payloads import PAYLOADS
from playwright.sync_api import Browser
from portals import RunningPortal, running_portal
from windows import Watched

from honeyguide.collection.collection import Collection
from honeyguide.collection.directory import Directory
from honeyguide.testing.made_collection import MadeCollection
from honeyguide.ui.export_files import OFFERED, media_types

pytestmark = pytest.mark.realtime

BIN = Path(sys.executable).parent
XSS = '<img src=x onerror=alert(1)> "quoted" {{ 7*7 }} </script><script>alert(2)</script>'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("portal") / "beekeeping"
    with ThreadPoolExecutor() as threads:  # Playwright runs a loop of its own in this one
        threads.submit(lambda: asyncio.run(finish(small_crawl(path, max_pages=200)))).result()
    return path


@pytest.fixture(scope="module")
def portal(folder: Path) -> Iterator[RunningPortal]:
    with running_portal(folder) as running:
        yield running


def wait_for(portal: RunningPortal, name: str) -> None:
    for _ in range(1200):
        reply = portal.get(f"/jobs/{name}")
        if '"state":"done"' in reply.text:
            return
        assert '"failed"' not in reply.text, reply.text
        time.sleep(0.05)
    raise AssertionError(f"{name} did not end")


def test_exports_are_made_and_downloaded_in_a_browser(
    watched: Watched, portal: RunningPortal, tmp_path: Path
) -> None:
    shown = watched
    page = shown.page
    page.goto(portal.entrance)
    page.goto(f"{portal.url}/exports")
    for form in OFFERED:
        page.locator(f"#{form.name}").get_by_role("button", name="Make").click()
    for form in OFFERED:
        link = page.locator(f"#{form.name} .files a", has_text=form.file)
        link.wait_for(timeout=60_000)
    watched.until("!document.querySelector('[data-job]')", seconds=60)
    for form in OFFERED:
        with page.expect_download() as download:
            page.locator(f"#{form.name} .files a", has_text=form.file).click()
        assert download.value.suggested_filename == form.file
        download.value.save_as(tmp_path / form.file)
    page.locator("#warc").get_by_label("also pages off topic").check()
    page.locator("#warc").get_by_role("button", name="Make").click()
    page.locator("#warc .files a", has_text="all-pages.warc.gz").wait_for(timeout=60_000)
    shown.shoot("exports")
    shown.check()
    commands: list[list[str | Path]] = [
        [BIN / "wacz", "validate", "-f", tmp_path / "pages.wacz"],
        [BIN / "warcio", "check", tmp_path / "pages.warc.gz"],
    ]
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
    with zipfile.ZipFile(tmp_path / "directory.zip") as site:
        assert "directory/index.html" in site.namelist()
        assert all(name.startswith("directory/") and ".." not in name for name in site.namelist())


def test_the_datasheet_is_written_and_shown(watched: Watched, portal: RunningPortal) -> None:
    shown = watched
    page = shown.page
    page.goto(portal.entrance)
    page.goto(f"{portal.url}/datasheet")
    page.locator("main button").click()
    page.get_by_role("heading", name="Robots").wait_for(timeout=60_000)
    assert page.get_by_role("heading", level=1).inner_text() == "Datasheet of the collection “beekeeping”"
    rows = page.locator("tr", has=page.locator("td", has_text="best-first"))
    assert [row.split() for row in rows.all_inner_texts()] == [
        ["recipe", "best-first"],
        ["link", "order", "best-first"],
    ]
    shown.shoot("datasheet")
    shown.check()


def test_the_directory_is_made_browsed_and_paged(watched: Watched, portal: RunningPortal) -> None:
    shown = watched
    page = shown.page
    page.goto(portal.entrance)
    page.goto(f"{portal.url}/directory")
    if page.get_by_role("button", name="Make the directory").count():
        page.get_by_role("button", name="Make the directory").click()
    page.locator(".subject").first.wait_for(timeout=60_000)
    shown.shoot("directory")
    page.locator(".subject h2 a").first.click()
    assert page.locator(".entries > li").count() > 5
    page.locator(".entries a", has_text="details").first.click()
    assert "/page/" in page.url
    page.goto(f"{portal.url}/directory/hosts?order=name&q=fen")
    names = page.locator("tbody a").all_inner_texts()
    assert names == sorted(names)
    assert names
    page.locator("tbody a").first.click()
    assert page.get_by_role("heading", level=1).inner_text() == names[0]
    shown.check()


def test_links_rank_hubs_authorities_and_groups(watched: Watched, portal: RunningPortal) -> None:
    shown = watched
    page = shown.page
    page.goto(portal.entrance)
    for view, expected in (("hubs", 50), ("authorities", 50)):
        page.goto(f"{portal.url}/links?view={view}")
        page.locator("tbody tr .title").first.wait_for(timeout=60_000)
        assert 1 < page.locator("tbody tr").count() <= expected
    page.get_by_role("link", name="Next").click()
    assert "Page 2" in page.locator(".pager").inner_text()
    page.get_by_role("link", name="Near duplicates").click()
    groups = page.locator("main section").count()
    assert groups > 1
    assert "the same bytes" in page.locator("main section").first.inner_text()
    page.get_by_label("also pages off topic").check()
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**/links?*all*")
    page.locator("main section").nth(groups - 1).wait_for(timeout=60_000)  # found by a job
    shown.shoot("links-duplicates")
    shown.check()


@pytest.mark.parametrize(
    "name",
    ["..%2fstate.sqlite", "state.sqlite", "%2e%2e/topic.toml", "datasheet.json", "x", "pages.jsonl%00", ".."],
)
def test_only_exports_leave_the_folder(portal: RunningPortal, name: str) -> None:
    assert portal.get(f"/exports/{name}").status == 404


def test_links_out_of_the_folder_of_exports_are_not_followed(tmp_path: Path) -> None:
    with MadeCollection(tmp_path / "c") as made:
        made.page("http://a.example/", title="x", text="y")
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "c" / "exports").mkdir()
    (tmp_path / "c" / "exports" / "pages.csv").symlink_to(tmp_path / "secret")
    with running_portal(tmp_path / "c") as portal:
        assert portal.get("/exports/pages.csv").status == 404
        assert portal.post("/exports", format="docx").status == 400
        assert portal.post("/exports", format="warc").status == 303
        for _ in range(1200):
            if '"failed"' in portal.get("/jobs/export-warc").text:
                break
            time.sleep(0.05)
        assert "is the state of another collection?" in portal.get("/exports").text
        assert portal.post("/exports", format="csv").status == 303
        while '"failed"' not in (told := portal.get("/jobs/export-csv").text):
            time.sleep(0.05)
        assert "is not a regular file" in told
        assert portal.get("/exports/pages.csv").status == 404
    assert (tmp_path / "secret").read_text() == "secret"


def test_hostile_texts_are_text_on_every_page(watched: Watched, shared_data: Path, tmp_path: Path) -> None:
    """All naughty strings and payloads as titles, addresses and texts, on all pages of this file."""
    naughty = json.loads((shared_data / "conformance/naughty-strings/blns.json").read_text())
    strings: list[str] = [*naughty, *PAYLOADS]
    assert len(strings) >= 615
    rows: list[int] = []
    with MadeCollection(tmp_path / "c") as made:
        for number, text in enumerate(strings):
            host = f"h{number % 40}.example"
            url = text if ":" in text[:15] else f"http://{host}/{number}?{text}"
            rows.append(made.page(url, host=host, title=text, text=f"{text} owls", links=rows[-3:]))
        made.page("javascript:alert(3)", host="<b>evil", title=XSS, text="owls", links=rows)
    with running_portal(tmp_path / "c") as portal:
        assert portal.post("/directory").status == 303
        wait_for(portal, "directory")
        assert portal.post("/exports", format="datasheet").status == 303
        wait_for(portal, "export-datasheet")
        portal.get("/links")
        wait_for(portal, "links")
        page = watched.page
        page.goto(portal.entrance)
        paths = [
            "/directory",
            "/directory/hosts?q=<b>",
            "/directory/host?name=<b>evil",
            "/datasheet",
            "/exports",
        ]
        for view, last in (("hubs", 13), ("authorities", 3)):
            paths += (f"/links?view={view}&page={number}" for number in range(1, last))
        with Collection.open(tmp_path / "c") as collection:
            made_of = Directory.load(collection.layout.directory_file) if collection.layout else None
        assert made_of is not None
        for number, subject in enumerate(made_of.subjects, 1):
            paths += (
                f"/directory/subject/{number}?page={part}" for part in range(1, len(subject.rows) // 50 + 2)
            )
        entries = 0
        for path in paths:
            page.goto(portal.url + path)
            foreign = "main :is(img, script, iframe, object, style, [onerror], [onload], a[href^=javascript])"
            assert not page.locator(foreign).count(), path
            entries += page.locator(".entries > li").count()
        assert entries == made_of.listed + 1 == len(strings) + 2
        watched.check()


def phone(browser: Browser, *, dark: bool) -> Watched:
    scheme: Literal["dark", "light"] = "dark" if dark else "light"
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    return Watched(context)


@pytest.mark.parametrize("dark", [False, True])
def test_pages_fit_a_phone(browser: Browser, portal: RunningPortal, dark: bool) -> None:
    portal.post("/directory")
    wait_for(portal, "directory")
    shown = phone(browser, dark=dark)
    shown.page.goto(portal.entrance)
    for path in (
        "/exports",
        "/directory",
        "/directory/hosts",
        "/links",
        "/links?view=duplicates",
        "/datasheet",
    ):
        shown.page.goto(portal.url + path)
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= 360, path
        for title in shown.page.locator("td .title").all()[:5]:  # not squeezed to a few letters a line
            assert title.evaluate("cell => cell.closest('td').getBoundingClientRect().width") > 120, path
    shown.check()


def test_every_path_asks_for_the_token(portal: RunningPortal) -> None:
    for path in (
        "/exports",
        "/exports/pages.csv",
        "/datasheet",
        "/directory",
        "/directory/hosts",
        "/links",
        "/jobs/x",
    ):
        assert portal.get(path, token=None).status == 401
    for path in ("/exports", "/directory"):
        assert portal.ask("POST", path, fields={"format": "csv"}, token=None).status == 401


def test_names_of_files_cannot_be_confused() -> None:
    assert len(media_types()) == len(set(media_types()))
    assert all("/" not in name and not name.startswith(".") for name in media_types())
    assert {form.file for form in OFFERED} <= media_types().keys()


def test_a_folder_without_a_collection_says_so(tmp_path: Path) -> None:
    with running_portal(tmp_path) as portal:
        for path in ("/exports", "/directory", "/links", "/datasheet"):
            assert portal.get(path).status == 404
        assert portal.post("/directory").status == 404
