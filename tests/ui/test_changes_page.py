"""The page of changes, its feed and its operation of the API, on a collection that was visited again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest
from axe_playwright_python.sync_playwright import Axe
from changing import SITE, Story
from openapi_answers import ask
from playwright.sync_api import Browser
from portals import RunningPortal, running_portal

pytestmark = pytest.mark.realtime

ONE = "/api/v1/collections/owls"


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    made = Story(tmp_path_factory.mktemp("changes") / "owls")
    asyncio.run(made.happen())
    return made


@pytest.fixture(scope="module")
def portal(story: Story) -> Iterator[RunningPortal]:
    with running_portal(story.out) as running:
        yield running


def test_page_and_feed(portal: RunningPortal) -> None:
    page = portal.get("/changes?since=never")
    assert page.status >= 400
    assert "is not a date" in page.text
    page = portal.get("/changes")
    assert page.status == 200
    assert "Nothing has changed" not in page.text
    feed = portal.get("/changes.atom")
    assert feed.headers["content-type"].startswith("application/atom+xml")
    root = ElementTree.fromstring(feed.text)
    assert len(list(root.iter("{http://www.w3.org/2005/Atom}entry"))) == 5


def test_pages_that_are_gone_or_changed_are_shown_as_such(portal: RunningPortal) -> None:
    assert "gone since 20" in portal.get("/search?q=ural").text
    page = portal.get(f"/page?url={SITE}/gone")
    view = portal.get(page.headers["location"]) if page.status in (302, 303, 307) else page
    assert "Gone since it was fetched" in view.text
    assert "was gone (HTTP 404)" in view.text
    page = portal.get(f"/page?url={SITE}/text")
    view = portal.get(page.headers["location"]) if page.status in (302, 303, 307) else page
    assert view.text.count("had changed; on topic") == 2


def test_api(portal: RunningPortal, story: Story) -> None:
    status, found = ask(portal, "GET", f"{ONE}/changes?since=1d&limit=2")
    assert (status, found["total"], len(found["items"])) == (200, 5, 2)
    status, found = ask(portal, "GET", f"{ONE}/changes?since=never")
    assert status >= 400
    assert "is not a date" in found["error"]["message"]
    status, found = ask(portal, "GET", f"{ONE}/search?q=pellets&as_of={iso(story.first)}")
    assert [item["url"] for item in found["items"]] == [f"{SITE}/text"]
    status, found = ask(portal, "GET", f"{ONE}/page?url={SITE}/text&include=versions")
    assert len(found["versions"]) == 3


def iso(at: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")


@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing(browser: Browser, portal: RunningPortal, story: Story, width: int) -> None:
    for scheme in ("light", "dark"):
        context = browser.new_context(
            viewport={"width": width, "height": 844},
            color_scheme=scheme,
            bypass_csp=True,
        )
        page = context.new_page()
        page.goto(portal.entrance)
        page.goto(f"{portal.url}/changes?since={iso(story.first)}")
        assert page.locator(".diff del", has_text="Pellets were here.").count() == 1
        assert page.locator(".diff ins", has_text="Claws at last.").count() == 1
        assert page.locator(".tag", has_text="Gone").count() == 1
        violations = Axe().run(page).response["violations"]
        assert [(one["id"], [node["target"] for node in one["nodes"]]) for one in violations] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        context.close()
