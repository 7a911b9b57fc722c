"""In real Chromium: what the live view says of crawls that have no page."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import msgspec
from playwright.sync_api import expect
from portals import running_portal
from spoilt import good_and_spoilt
from windows import Watched

from honeyguide.model import Outcome
from honeyguide.store.state import State
from honeyguide.testing.made_collection import MadeCollection


def test_a_crawl_that_could_fetch_nothing_says_why(watched: Watched, tmp_path: Path) -> None:
    with MadeCollection(tmp_path / "c") as made:
        made.dropped("http://shut.example/", outcome=Outcome.CLIENT_ERROR, reason="HTTP 403")
    with running_portal(tmp_path / "c") as portal:
        watched.page.goto(portal.entrance)
        said = "No page could be fetched: HTTP error 4xx (HTTP 403) at http://shut.example/. Name other"
        expect(watched.page.locator("#doing")).to_contain_text(said)
        watched.check()


def test_a_collection_without_pages_has_nothing_to_review_yet(watched: Watched, tmp_path: Path) -> None:
    with MadeCollection(tmp_path / "c") as made:
        made.address("http://later.example/", host="later.example")
    with running_portal(tmp_path / "c") as portal:
        watched.page.goto(portal.entrance)
        watched.page.goto(portal.url + "/review")
        expect(watched.page.locator("#card")).to_contain_text("There is no page yet.")
        watched.check()


def test_names_of_collections_may_have_any_letters(watched: Watched, tmp_path: Path) -> None:
    """Links and scripts of their pages once wrote such names in percent signs twice."""
    for name in ("eulen für 猫 100% & more", "plain"):
        with MadeCollection(tmp_path / name) as made:
            made.page("http://a.example/", host="a.example", title="An owl", text="An owl.", score=0.9)
    with running_portal(tmp_path) as portal:
        watched.page.goto(portal.entrance)
        card = watched.page.locator(".shelf .card", has=watched.page.get_by_text("eulen für"))
        card.get_by_role("link").click()
        watched.until("document.body.dataset.ticks >= 1")
        expect(watched.page.locator("#state")).to_contain_text("not running")
        for link in watched.page.locator("header nav a").all():
            path = link.get_attribute("href")
            assert path is not None
            assert portal.get(path).status == 200, path
        watched.check()


def test_a_damaged_collection_is_told_apart_on_the_home_page(watched: Watched, tmp_path: Path) -> None:
    good_and_spoilt(tmp_path)
    with running_portal(tmp_path) as portal:
        watched.page.goto(portal.entrance)
        card = watched.page.locator(".shelf .card", has=watched.page.get_by_text("spoilt"))
        expect(card).to_contain_text("cannot be read")
        expect(card).to_contain_text("restore the file from a copy")
        expect(card.locator("img")).to_have_count(0)  # which would be a broken one
        expect(watched.page.locator(".shelf .card img")).to_have_count(1)
        told = {one["name"]: one for one in json.loads(portal.get("/api/v1/collections").text)["items"]}
        assert told["good"]["problem"] == ""
        assert "malformed" in told["spoilt"]["problem"] or "not a database" in told["spoilt"]["problem"]
        assert portal.get("/api/v1/collections/spoilt").status == 503
        metrics = portal.get("/metrics").text
        assert 'honeyguide_pages_total{collection="good"} 1' in metrics
        assert 'honeyguide_collection_readable{collection="spoilt"} 0' in metrics
        reply = portal.get("/c/spoilt/")
        assert reply.status == 503
        assert 'href="/">all collections' in reply.text
        watched.check()


def test_the_curve_beside_stays_in_its_picture(watched: Watched, tmp_path: Path) -> None:
    with MadeCollection(tmp_path / "c") as made:
        made.page("http://a.example/", host="a.example", title="An owl", text="An owl.", score=0.9)
    with running_portal(tmp_path / "c") as portal:
        watched.page.goto(portal.entrance)
        top = watched.page.evaluate(
            """async () => {
              const { line } = await import("/static/charts.js");
              const box = document.createElement("div");
              document.body.append(box);
              const beside = { points: [[1, 0], [80, 95]] };
              const root = line(box, [[1, 0], [80, 32]], { label: "", x: String, beside });
              return root.querySelector(".beside").getBBox().y;
            }"""
        )
        assert top >= 0
        watched.check()


def test_a_crawl_that_waits_says_for_whom(watched: Watched, tmp_path: Path) -> None:
    with MadeCollection(tmp_path / "c") as made:
        made.address("http://busy.example/", host="busy.example")
    with State.open(tmp_path / "c" / "state.sqlite") as state, running_portal(tmp_path / "c") as portal:
        ((host, _),) = state.hosts()  # and this process holds the lock, as a crawl does
        state.save_hosts([(msgspec.structs.replace(host, ready_at=time.time() + 3600, failures=1), 0.0)])
        state.start_session(time.time(), version="test")
        state.commit()
        watched.page.goto(portal.entrance)
        said = re.compile(
            r"Waiting: busy\.example is left alone until .* UTC, after a failed request\. So far 0 of 0"
        )
        expect(watched.page.locator("#doing")).to_contain_text(said)
        watched.check()
