"""Search, browse and a page's own view, by mouse and keyboard, wide and narrow, light and dark."""

from __future__ import annotations

import re
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from crawls import TOPIC_NAME, WEB, finish, small_crawl
from playwright.sync_api import Browser, expect
from portals import RunningPortal, running_portal
from windows import Watched

from honeyguide.collection.collection import Collection
from honeyguide.job.crawl import run_here
from honeyguide.ui.metrics import NAMES

pytestmark = pytest.mark.realtime

WORD = WEB.keywords(TOPIC_NAME)[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("reading") / "collection"
    # Playwright has a loop of its own in this thread.
    run_here(lambda: finish(small_crawl(out, max_pages=150)))
    return out


@pytest.fixture(scope="module")
def portal(folder: Path) -> Iterator[RunningPortal]:
    with running_portal(folder) as running:
        yield running


def test_search_by_keyboard_then_why(watched: Watched, portal: RunningPortal, folder: Path) -> None:
    page = watched.page
    page.goto(portal.entrance)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.goto(f"{portal.url}/search")
    expect(page.locator("input[name=q]")).to_be_focused()
    page.keyboard.type(WORD)
    page.keyboard.press("Enter")
    # The best page is called so; its snippet may begin with another form of the word.
    expect(page.locator(".results .title").first).to_have_text(re.compile(WORD, re.IGNORECASE))
    expect(page.locator(".results mark").first).to_have_text(re.compile(WORD[:7], re.IGNORECASE))
    with Collection.open(folder) as collection:
        hits = collection.search(WORD, 20)
    assert [page.locator(".results .url").nth(place).inner_text() for place in range(3)] == [
        hit.url for hit in hits[:3]
    ]
    watched.shoot("search")
    page.locator(".results .title").first.click()
    expect(page.locator("h1")).to_have_text(hits[0].title)
    # Readable text with the word marked, beside the archived page in a frame without rights.
    expect(page.locator(".readable mark").first).to_have_text(re.compile(WORD[:7], re.IGNORECASE))
    expect(page.frame_locator("iframe").locator("body")).to_contain_text(re.compile(WORD, re.IGNORECASE))
    watched.problems.clear()  # the console tells what the frame was not allowed to load
    page.get_by_role("link", name="Why", exact=True).click()
    with Collection.open(folder) as collection:
        story = collection.why(hits[0].url)
    steps = page.locator(".story li > a")
    assert steps.all_inner_texts() == [step.url for step in story.path[:-1]]
    expect(page.locator(".reading")).to_contain_text(re.compile(WORD, re.IGNORECASE))
    watched.shoot("page")
    for tab, held in (
        ("Blocks", ".score"),
        ("Links in", "tbody tr"),
        ("Links out", "tbody tr"),
        ("Source", "#source"),
    ):
        page.get_by_role("link", name=tab, exact=True).click()
        expect(page.locator(f"main {held}").first).to_be_visible()
    assert "<html" in page.locator("#source").inner_text().lower()
    watched.check()


def test_filters(portal: RunningPortal, folder: Path) -> None:
    with Collection.open(folder) as collection:
        relevant = list(collection.pages())
        everything = list(collection.pages(relevant=None))
    host = relevant[0].url.split("/")[2]

    def count(query: str) -> int:
        found = re.search(r'id="count">([\d,]+) page', portal.get(f"/search?{query}").text)
        assert found is not None
        return int(found[1].replace(",", ""))

    shown = [page for page in everything if page.on_topic]
    hidden = len(shown) - count("")
    assert 0 <= hidden < 10, "only pages that asked for it are left out"
    assert count(f"host={host}") == sum(page.url.split("/")[2] == host for page in relevant) or hidden
    assert count("verdict=all") + hidden <= len(everything) <= count("verdict=all") + 20
    assert count("least=0.5&verdict=all") + count("most=0.4999999&verdict=all") == count("verdict=all")
    assert count("since=2001-09-09") == count("")
    assert count("until=2000-01-01") == 0
    assert count("language=xx") == 0
    best = re.findall(r"</svg> ([\d.]+)", portal.get("/search?sort=best&verdict=all").text)
    assert best == sorted(best, reverse=True)
    assert portal.get("/search?since=yesterday").status == 400
    assert portal.get("/search?least=much").status == 400
    words = portal.get(f"/search?q={WORD}&host={host}").text
    assert set(re.findall(r'class="url"><bdi>http://([^/<]+)', words)) <= {host}


def test_every_list_is_paged(portal: RunningPortal) -> None:
    first, second = portal.get("/search?verdict=all").text, portal.get("/search?verdict=all&page=2").text
    titles = [set(re.findall(r'href="(/page/\d+)"', text)) for text in (first, second)]
    assert len(titles[0]) == len(titles[1]) == 20
    assert not titles[0] & titles[1]
    assert 'rel="next"' in first
    assert portal.get("/search?page=999999999999").status == 200
    assert portal.get("/search?page=-1").status == 200
    waiting = portal.get("/urls?outcome=waiting").text
    assert waiting.count("<tr>") <= 51
    assert portal.get("/urls?outcome=waiting&page=2").text != waiting
    assert portal.get("/urls?outcome=nonsense").status == 400


def test_pages_that_are_not_there(portal: RunningPortal) -> None:
    assert portal.get("/page/99999999").status == 400
    assert portal.get("/page/0").status == 404
    assert portal.get("/page/99999999999999999999").status == 404
    assert "never met" in portal.get("/page?url=http://nowhere.example/").text
    with_url = portal.get("/page?url=HTTP://%2e/").status
    assert with_url == 400


def test_waiting_addresses_have_a_story_but_no_text(portal: RunningPortal) -> None:
    row = re.findall(r'href="(/page/\d+)"', portal.get("/urls?outcome=waiting").text)[0]
    page = portal.get(row)
    assert page.status == 200
    assert "Archived text" not in page.text
    assert portal.get(f"{row}/source").status == 404
    assert portal.get(f"{row}/links?way=in").status == 200


def test_source_is_never_a_page(portal: RunningPortal) -> None:
    row = re.findall(r'href="(/page/\d+)"', portal.get("/search").text)[0]
    plain = portal.get(f"{row}/source?plain=yes")
    assert plain.headers["content-type"] == "text/plain; charset=utf-8"
    assert plain.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in plain.headers["content-security-policy"]


def test_metrics(portal: RunningPortal, folder: Path) -> None:
    reply = portal.get("/metrics")
    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    with Collection.open(folder) as collection:
        status = collection.status()
    values = dict(line.rsplit(" ", 1) for line in reply.text.splitlines() if not line.startswith("#"))
    assert float(values["honeyguide_pages_total"]) == status.pages
    assert float(values["honeyguide_relevant_pages_total"]) == status.relevant
    assert float(values['honeyguide_ended_urls{outcome="fetched"}']) == status.outcomes["fetched"]
    assert float(values["honeyguide_waiting_urls"]) == status.waiting
    documented = (Path(__file__).parents[2] / "docs/portal.md").read_text()
    for name in NAMES:
        assert f"`{name}`" in documented


VIEWS = ("/", "/search", f"/search?q={WORD}", "/urls?outcome=waiting", "/urls?outcome=fetched")


def test_phone_width_and_dark(browser: Browser, portal: RunningPortal) -> None:
    row = re.findall(r'href="(/page/\d+)"', portal.get("/search").text)[0]
    grounds = []
    for scheme in ("light", "dark"):
        context = browser.new_context(
            viewport={"width": 390, "height": 800}, color_scheme="dark" if scheme == "dark" else "light"
        )
        watched = Watched(context)
        watched.page.goto(portal.entrance)
        for path in (*VIEWS, row, f"{row}/source", f"{row}/links"):
            watched.page.goto(portal.url + path)
            if path == "/":
                watched.until("document.body.dataset.ticks >= 1")
                watched.shoot(f"live-phone-{scheme}")
            wide = watched.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= 390, path
        grounds.append(watched.page.evaluate("getComputedStyle(document.body).backgroundColor"))
        watched.check()
        context.close()
    assert grounds[0] != grounds[1]


def test_many_readers_share_one_look(portal: RunningPortal) -> None:
    """Readers of the stream get the same message; the collection is looked at once a tick for all of them."""
    ask = (
        f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{portal.port}\r\n"
        "Authorization: Bearer test-token-0123456789\r\n\r\n"
    )
    readers = [socket.create_connection(("127.0.0.1", portal.port), timeout=60) for _ in range(20)]
    try:
        for reader in readers:
            reader.sendall(ask.encode())
        seen = []
        for reader in readers:
            got = b""
            while b"event: figures" not in got or not got.rstrip(b"\r\n").endswith(b"}"):
                got += reader.recv(1 << 16)
            seen.append(re.search(rb'"at":([\d.]+)', got))
        stamps = {match[1] for match in seen if match is not None}
        assert len(stamps) <= 3, "one look for many readers"
        assert "honeyguide_portal_readers 20" in portal.get("/metrics").text
    finally:
        for reader in readers:
            reader.close()


def test_a_damaged_index_is_told(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    for name in ("index.sqlite-wal", "index.sqlite-shm"):
        (copy / name).unlink(missing_ok=True)
    data = bytearray((copy / "index.sqlite").read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    (copy / "index.sqlite").write_bytes(bytes(data))
    with running_portal(copy) as damaged:
        reply = damaged.get(f"/search?q={WORD}")
        assert reply.status == 503
        assert "database" in reply.text
        assert damaged.get("/").status == 200
