"""A crawl in another process, watched and steered in real Chromium from before its start to its end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from crawls import SPEC, TOPIC_NAME, small_topic
from playwright.sync_api import expect
from portals import RunningPortal, running_portal
from windows import Watched

from honeyguide.lab.webs.serve import start_server

pytestmark = pytest.mark.realtime

TOPIC = """
[topic]
name = {name!r}
keywords = {keywords}
[crawl]
seeds = {seeds}
recipe = "best-first"
max_pages = "unlimited"
concurrency = 3
parse_workers = 1
[identity]
user_agent = "honeyguide-test/0.1 (+https://example.org/)"
[politeness]
delay = 0.2
ip_delay = 0.02
slow_factor = 0.0
[network]
connect_to = {{ "*" = "127.0.0.1:{port}" }}
"""


@pytest.fixture(scope="module")
def topic_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A topic of a web that is served on loopback."""
    topic = small_topic()
    with start_server(SPEC) as server:
        path = tmp_path_factory.mktemp("live") / "topic.toml"
        path.write_text(
            TOPIC.format(
                name=TOPIC_NAME, keywords=list(topic.keywords), seeds=list(topic.seeds), port=server.port
            )
        )
        yield path


@pytest.fixture(scope="module")
def portal(topic_file: Path) -> Iterator[RunningPortal]:
    with running_portal(topic_file.parent / "collection") as running:
        yield running


def pages(watched: Watched) -> int:
    text = watched.page.locator("[data-of=pages]").inner_text()
    return int(text.split()[0].replace(",", ""))


def fetched(portal: RunningPortal) -> int:
    return int(portal.get("/metrics").text.split("\nhoneyguide_pages_total ")[1].split()[0])


def until_pages(watched: Watched, number: int) -> None:
    """Wait until the window shows more pages than `number`."""
    text = "document.querySelector('[data-of=pages]').firstChild.data.replace(',', '')"
    watched.until(f"Number({text}) > {number}")


def test_a_crawl_from_start_to_end(watched: Watched, portal: RunningPortal, topic_file: Path) -> None:
    page = watched.page
    page.set_default_timeout(30_000)
    expect.set_options(timeout=30_000)
    page.goto(portal.entrance)
    expect(page.locator("main")).to_contain_text("No pages yet")
    watched.problems.clear()  # the console tells of the 404

    folder = topic_file.parent / "collection"
    command = [
        sys.executable,
        "-m",
        "honeyguide",
        "crawl",
        str(topic_file),
        "--trust",
        "--out",
        str(folder),
        "--quiet",
    ]
    crawl = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        page.goto(portal.url)
        while not page.locator("#state").count():  # until the crawl has written its collection
            page.wait_for_timeout(100)
            page.goto(portal.url)
        watched.problems.clear()
        expect(page.locator("#state")).to_contain_text("crawling")
        watched.until("document.querySelector('[data-of=pages]').textContent !== '0'")
        before = pages(watched)
        until_pages(watched, before + 8)
        expect(page.locator("#curve path.stroke")).to_be_visible()
        expect(page.locator("#hosts tbody tr").first).to_be_visible()
        expect(page.locator("#outcomes tbody tr").first).to_contain_text("Fetched")
        expect(page.locator("#pages tr").first).to_be_visible()
        watched.shoot("live-crawling", whole=True)

        page.get_by_role("button", name="Pause").press("Enter")
        page.wait_for_url("**/#steer")
        expect(page.locator("#state")).to_contain_text("paused")
        expect(page.get_by_role("button", name="Go on")).to_be_visible()
        page.keyboard.press("Tab")  # the keyboard is where it was, and not at the top of the page
        assert page.evaluate("document.activeElement.textContent") == "Go on"
        resting = fetched(portal)
        for _ in range(20):  # what was under way comes home
            page.wait_for_timeout(1_200)
            before, resting = resting, fetched(portal)
            if before == resting:
                break
        page.wait_for_timeout(1_500)
        assert fetched(portal) == resting
        assert pages(watched) == resting
        assert "honeyguide_crawl_paused 1" in portal.get("/metrics").text

        limit = resting + 12
        page.get_by_label("Pages at most", exact=True).fill(str(limit))
        page.get_by_role("button", name="Change budget").click()
        expect(page.get_by_label("Pages at most", exact=True)).to_have_value(str(limit))
        page.get_by_role("button", name="Go on").click()
        expect(page.locator("#state")).to_contain_text(f"budget of {limit} pages is spent")
        assert crawl.wait(20) == 0
        assert pages(watched) == limit
        watched.check()
    finally:
        crawl.kill()
        crawl.wait()


def test_a_finished_crawl_is_continued_and_stopped(watched: Watched, portal: RunningPortal) -> None:
    page = watched.page
    page.set_default_timeout(30_000)
    page.goto(portal.entrance)
    expect(page.locator("#state")).to_contain_text("not running")
    had = pages(watched)
    page.get_by_label("Pages at most", exact=True).fill("not a number")
    page.get_by_role("button", name="Continue the crawl").click()
    expect(page.locator(".message")).to_contain_text("is not a number; write it in digits")
    watched.problems.clear()  # the console tells of the 400
    page.goto(portal.url)
    page.get_by_label("Pages at most", exact=True).fill("5,000")
    page.get_by_role("button", name="Continue the crawl").click()
    expect(page.locator("#state")).to_contain_text("crawling")
    until_pages(watched, had + 2)
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#state")).to_contain_text("stopped from the portal")
    watched.check()
