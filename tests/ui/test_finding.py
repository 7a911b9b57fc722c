"""Search with facets and saved searches, reading beside the archived page, and a page's story."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from portals import RunningPortal, running_portal
from windows import Watched

from honeyguide.collection.collection import Collection
from honeyguide.store.reviews import read_reviews
from honeyguide.testing.made_collection import MadeCollection

pytestmark = pytest.mark.realtime

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
OWL = "Welcome to this site. The barn owl hunts mice at night. Contact us here."
EVIL = b"<html><body onload=\"document.title='run'\"><p>The owl</p><script>top.x = 1</script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finding") / "owls"
    with MadeCollection(folder, archive=True) as made:
        seed = made.page("https://a.example/", host="a.example", title="Start", text="Animals of the wood.")
        made.page(
            "https://a.example/owl", host="a.example", title="Barn owl", text=OWL, score=0.95,
            terms=(("owl", 0.6), ("hunt", 0.3)), parent=seed, anchor="owls", head=HEAD, body=EVIL,
        )  # fmt: skip
        for number in range(12):
            made.page(
                f"https://b.example/{number}", host="b.example", title=f"Eule {number}",
                text="Die Eule heisst auf Englisch owl.", language="de", score=0.55, at=1_600_000_000.0,
                on_topic=number < 9,
            )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def portal(folder: Path) -> Iterator[RunningPortal]:
    with running_portal(folder) as running:
        yield running


@pytest.fixture(scope="module")
def owl(folder: Path) -> int:
    with Collection.open(folder) as collection:
        return next(page.row for page in collection.pages() if page.title == "Barn owl")


def test_a_search_is_narrowed_by_its_facets(watched: Watched, portal: RunningPortal) -> None:
    page = watched.page
    page.goto(portal.entrance)
    page.goto(f"{portal.url}/search?q=owl")
    expect(page.locator("#count")).to_contain_text("10 pages match")
    expect(page.locator(".results .title").first).to_have_text("Barn owl")
    for name, value, left in (("Language", "German", 9), ("Host", "a.example", 1), ("Score", "0.9 and", 1)):
        page.goto(f"{portal.url}/search?q=owl")
        facet = page.locator(".facets section", has_text=name)
        facet.get_by_role("link", name=value).click()
        expect(page.locator("#count")).to_contain_text(f"{left} page")
        page.locator(".chosen a").click()
        expect(page.locator("#count")).to_contain_text("10 pages match")
    watched.check()


def test_best_first_and_on_topic_first(portal: RunningPortal) -> None:
    text = portal.get("/search?verdict=all").text
    assert text.index("Barn owl") < text.index("Eule 0")
    assert text.index("Eule 8") < text.index("Eule 9")


def test_a_search_is_saved_and_deleted(watched: Watched, portal: RunningPortal) -> None:
    page = watched.page
    page.goto(portal.entrance)
    page.goto(f"{portal.url}/search?q=owl&language=de")
    page.get_by_label("Save this search as").fill("German owls")
    page.get_by_role("button", name="Save", exact=True).click()
    page.goto(f"{portal.url}/search")
    page.get_by_role("link", name="German owls").click()
    expect(page.locator("#count")).to_contain_text("9 pages match")
    page.get_by_role("button", name="Delete the search German owls").click()
    expect(page.locator(".kept")).to_contain_text("none yet")
    watched.check()
    assert portal.post("/search/saved", name="", query="q=owl").status == 400


def test_a_result_is_read_beside_the_archived_page(watched: Watched, portal: RunningPortal, owl: int) -> None:
    page = watched.page
    page.goto(portal.entrance)
    page.goto(f"{portal.url}/page/{owl}/read?q=owl")
    expect(page.locator(".readable mark")).to_have_text("owl")
    expect(page.frame_locator("iframe").locator("p")).to_have_text("The owl")
    assert page.evaluate("window.x") is None
    assert page.frames[1].title() != "run"


def test_the_archived_page_has_no_rights(portal: RunningPortal, owl: int) -> None:
    reply = portal.get(f"/page/{owl}/archived")
    policy = reply.headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'")
    assert "frame-ancestors 'self'" in policy
    assert reply.headers["x-frame-options"] == "SAMEORIGIN"
    around = portal.get(f"/page/{owl}/read").headers["content-security-policy"]
    assert around.endswith("frame-src 'self'")
    assert "script-src 'self'" in around
    assert "frame-src" not in portal.get("/search").headers["content-security-policy"]
    assert portal.get(f"/page/{owl}/archived", token=None).status == 401


def test_a_page_tells_its_story(portal: RunningPortal, owl: int) -> None:
    text = unescape(re.sub(r"<[^>]+>", "", portal.get(f"/page/{owl}").text))
    assert "The barn owl hunts mice at night." in text
    assert "hunts" in text, "whole words, not stems"
    assert "by a link: “owls”" in text
    assert "found on" in text
    assert "fetched as page number 2" in text
    told = portal.get(f"/page/{owl}/why.json").text
    assert '"The barn owl hunts mice at night."' in told


def test_review_marks_what_decided_and_says_why_it_asks(portal: RunningPortal) -> None:
    text = portal.get("/review").text
    assert "Asked because:" in text
    assert re.search(r"stands for \d+ others? with about the same score", text)


def test_ten_decisions_in_a_minute_on_a_phone(browser: Browser, portal: RunningPortal, folder: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 780}, has_touch=True)
    page = context.new_page()
    page.goto(portal.entrance)
    page.goto(f"{portal.url}/review")
    started = time.monotonic()
    for number in range(10):
        name = "Accept" if number % 2 else "Reject"
        button = page.get_by_role("button", name=name, exact=False).first
        box = button.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 780, "under the thumb without scrolling"
        assert box["height"] >= 44
        with page.expect_navigation():
            button.tap()
    assert time.monotonic() - started < 60
    held = read_reviews(folder)
    assert len(held.standing) == 10
    with page.expect_navigation():
        page.get_by_role("button", name="Undo").tap()
    assert len(read_reviews(folder).standing) == 9
    context.close()
