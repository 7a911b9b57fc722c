"""axe-core finds nothing on any page: desktop and phone, light and dark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser
from portals import RunningPortal, running_portal

from honeyguide.model import Outcome
from honeyguide.testing.made_collection import MadeCollection

pytestmark = pytest.mark.realtime

PAGES = (
    "/",
    "/review",
    "/review/decisions",
    "/search",
    "/search?q=owl",
    "/directory",
    "/links",
    "/exports",
    "/topic",
    "/urls?outcome=fetched",
    "/urls?outcome=client_error",
    "/page/1",
    "/page/1/read",
    "/page/1/links",
    "/no-such-page",
)


SHELF_PAGES = ("/", "/new", "/compare?left=made&right=again", "/c/made/", "/api/v1/docs", "/no-such-page")


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningPortal]:
    folder = tmp_path_factory.mktemp("axe") / "made"
    with MadeCollection(folder) as made:
        for number in range(60):
            made.page(
                f"https://made.example/{number}",
                host=f"h{number % 5}.example",
                title=f"Owl {number}",
                text="The owl is a bird of prey. " * 40,
                score=0.4 + number / 200,
                on_topic=number % 3 > 0,
                terms=(("owl", 0.5), ("bird", 0.2)),
            )
        made.dropped("https://made.example/gone", outcome=Outcome.CLIENT_ERROR, reason="HTTP 404")
        made.address("https://made.example/waiting")
    with running_portal(folder) as running:
        yield running


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningPortal]:
    place = tmp_path_factory.mktemp("axe-shelf")
    for name in ("made", "again"):
        with MadeCollection(place / name) as made:
            for number in range(20 if name == "made" else 30):
                made.page(f"https://made.example/{number}", title=f"Owl {number}", on_topic=number % 4 > 0)
    with running_portal(place) as running:
        yield running


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_axe_finds_nothing_on_the_home_page_and_around_it(
    browser: Browser, shelf: RunningPortal, scheme: Literal["light", "dark"], width: int
) -> None:
    examine(browser, shelf, SHELF_PAGES, scheme, width)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_axe_finds_nothing(
    browser: Browser, portal: RunningPortal, scheme: Literal["light", "dark"], width: int
) -> None:
    examine(browser, portal, PAGES, scheme, width)


def examine(
    browser: Browser,
    portal: RunningPortal,
    pages: Sequence[str],
    scheme: Literal["light", "dark"],
    width: int,
) -> None:
    """Run axe on each page; nothing may be wider than the window."""
    # axe is injected as a script, which the portal's policy rightly refuses.
    context = browser.new_context(
        viewport={"width": width, "height": 844}, color_scheme=scheme, bypass_csp=True
    )
    page = context.new_page()
    page.goto(portal.entrance)
    found = {}
    for path in pages:
        page.goto(portal.url + path)
        if page.locator("#curve").count():
            page.wait_for_function("Number(document.body.dataset.ticks || 0) > 0")
        violations = Axe().run(page).response["violations"]
        found[path] = [(one["id"], [node["target"] for node in one["nodes"]]) for one in violations]
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    context.close()
    assert not {path: problems for path, problems in found.items() if problems}


def test_figures_of_a_comparison_can_be_read_on_a_phone(browser: Browser, shelf: RunningPortal) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 780})
    page = context.new_page()
    page.goto(shelf.entrance)
    page.goto(f"{shelf.url}/compare?left=made&right=again")
    boxes = [entry.bounding_box() for entry in page.locator("svg.both .axis").all()]
    assert len(boxes) > 3
    for box in boxes:
        assert box is not None
        assert box["height"] >= 11
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
    context.close()


def test_all_entries_of_the_navigation_are_in_sight_on_a_phone(
    browser: Browser, portal: RunningPortal
) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 780})
    page = context.new_page()
    page.goto(portal.entrance)
    for entry in page.locator("header nav a").all():
        box = entry.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
    context.close()
