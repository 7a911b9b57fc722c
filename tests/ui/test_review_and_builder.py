"""In real Chromium: a topic built and started, its crawl paused and reviewed with the keyboard."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from crawls import SPEC, TOPIC_NAME, WEB, small_topic
from playwright.sync_api import expect
from portals import RunningPortal, running_portal
from windows import Watched

from honeyguide.collection.collection import Collection
from honeyguide.config.load import check_values, load
from honeyguide.job.crawl import crawl
from honeyguide.lab.webs.serve import start_server
from honeyguide.store.reviews import add_review, read_reviews
from honeyguide.testing.made_collection import MadeCollection

pytestmark = pytest.mark.realtime

AGENT = "honeyguide-test/0.1 (+https://example.org/)"
MORE = """
[network]
connect_to = {{ "*" = "127.0.0.1:{port}" }}
"""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with start_server(SPEC) as server:
        yield server.port


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("built") / "collection"


@pytest.fixture(scope="module")
def portal(folder: Path) -> Iterator[RunningPortal]:
    with running_portal(folder) as running:
        yield running


def frontier(watched: Watched) -> list[str]:
    return watched.page.locator("#frontier bdi").all_inner_texts()


def taken_in(watched: Watched) -> None:
    watched.until(
        "(p => p.dataset.written === p.dataset.taken && p.textContent.includes('priorities changed'))"
        "(document.getElementById('taken'))",
        seconds=120,
    )


def press(watched: Watched, key: str) -> None:
    """One key, and the page that follows."""
    with watched.page.expect_navigation():
        watched.page.keyboard.press(key)


def test_build_a_topic_start_its_crawl_and_review_it(
    watched: Watched, portal: RunningPortal, folder: Path, port: int
) -> None:
    page = watched.page
    page.set_default_timeout(90_000)
    expect.set_options(timeout=90_000)
    page.goto(f"{portal.url}/topic?token={portal.entrance.partition('token=')[2]}")
    # Build: words are shown as what the model learned.
    page.fill("[name=name]", TOPIC_NAME)
    page.fill("[name=pasted]", ", ".join(small_topic().keywords))
    page.fill("[name=seeds]", "\n".join(small_topic().seeds))
    page.fill("[name=max_pages]", "5000")
    page.click("#build")
    expect(page.locator("#terms .tag").first).to_be_visible()
    # Edit and test a page of the web, fetched for it.
    text = page.locator("[name=topic]").input_value().replace("delay = 1.0", "delay = 0.15\nip_delay = 0.01")
    text = re.sub(r"# user_agent = .*", f'user_agent = "{AGENT}"', text)
    page.fill("[name=topic]", text + MORE.format(port=port))
    page.fill("[name=test]", next(iter(sorted(WEB.targets(TOPIC_NAME)))))
    page.click("#look")
    expect(page.locator("#tested-card .tag").first).to_have_text("on topic")
    watched.shoot("builder", whole=True)
    # Start it.
    page.click("#start")
    expect(page).to_have_title(re.compile("^Live"))
    watched.problems.clear()  # until the first commit there is no collection, and the console tells of a 404
    watched.until(
        "Number((document.querySelector('[data-of=pages]')?.firstChild?.data || '0').replace(',', '')) > 50",
        seconds=120,
    )
    page.locator("button[value=pause]").click()
    expect(page.locator("#state")).to_contain_text("paused")
    # Review with the keyboard: decisions are kept, the model is trained again, the frontier's order changes.
    page.goto(f"{portal.url}/review")
    expect(page.locator("#card h2")).to_be_visible()
    before = frontier(watched)
    asked = page.locator("#card").get_attribute("data-url")
    for key in "rrarr":
        press(watched, key)
    assert page.locator("#card").get_attribute("data-url") != asked
    held = read_reviews(folder)
    assert [one.said for one in held.standing] == ["reject", "reject", "accept", "reject", "reject"]
    assert held.standing[0].url == asked
    taken_in(watched)
    # Five decisions need not reorder the twelve URLs on top, which depend on when the crawl was paused.
    assert len(before) == len(frontier(watched)) == 12
    expect(page.locator("#taken")).to_contain_text(re.compile(r"[1-9][\d,]* priorities changed"))
    # What the decisions changed, in numbers.
    expect(page.locator("#taken")).to_contain_text(re.compile(r"\d+ → \d+ on topic|Still \d+ on topic"))
    expect(page.locator("#rejected")).to_have_text("4")
    expect(page.locator("#precision")).to_contain_text("to")
    watched.shoot("review", whole=True)
    # Skip shows another page; undo takes back the last decision.
    shown = page.locator("#card").get_attribute("data-url")
    press(watched, "s")
    assert page.locator("#card").get_attribute("data-url") != shown
    press(watched, "u")
    expect(page.locator("#rejected")).to_have_text("3")
    taken_in(watched)
    # A whole host at once.
    host = (page.locator("#card").get_attribute("data-url") or "").split("/")[2]
    press(watched, "Shift+R")
    assert read_reviews(folder).hosts[host].said == "reject"
    taken_in(watched)
    assert all(url.split("/")[2] != host for url in frontier(watched))
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    watched.shoot("review-phone")
    watched.check()


@pytest.fixture
def stopped(tmp_path: Path, port: int) -> Path:
    """A collection whose crawl has stopped, with a decision that waits to be taken in."""
    folder, topic = tmp_path / "collection", small_topic()
    values: dict[str, object] = {
        "topic": {"name": TOPIC_NAME, "keywords": list(topic.keywords)},
        "crawl": {"seeds": list(topic.seeds), "max_pages": 60},
        "politeness": {"delay": 0.05, "ip_delay": 0.0},
        "identity": {"user_agent": AGENT},
        "network": {"connect_to": {"*": f"127.0.0.1:{port}"}},
    }
    crawl(check_values(values), out=folder, progress=False).close()
    with Collection.open(folder) as collection:
        add_review(folder, "reject", url=next(iter(collection.pages())).url, at=time.time())
    return folder


def test_decisions_on_a_stopped_crawl_are_taken_in_beside_the_portal(watched: Watched, stopped: Path) -> None:
    with running_portal(stopped) as portal:
        decide_and_judge_again(watched, portal, stopped)


def decide_and_judge_again(watched: Watched, portal: RunningPortal, folder: Path) -> None:
    page = watched.page
    page.set_default_timeout(90_000)
    expect.set_options(timeout=90_000)
    page.goto(portal.entrance)
    expect(page.locator("#state")).to_contain_text("not running")
    with Collection.open(folder) as collection:
        before = len(list(collection.state.events(kind="learned")))
    page.goto(f"{portal.url}/review/decisions")
    with page.expect_navigation():
        page.locator("button[value=undo]").first.click()
    page.goto(f"{portal.url}/review")
    press(watched, "r")
    taken_in(watched)
    with Collection.open(folder) as collection:
        assert len(list(collection.state.events(kind="learned"))) > before
        assert collection.state.check() == []
    # Another topic: all pages are judged again, and the crawl goes on.
    page.goto(f"{portal.url}/topic")
    page.locator("details summary", has_text="Topic file").click()
    text = page.locator("[name=topic]").input_value()
    text = text.replace("max_pages = 60", "max_pages = 5000")
    page.fill("[name=topic]", re.sub(r'keywords = \["[^"]*", ', "keywords = [", text))
    expect(page.locator("#start")).to_have_text("Judge all pages again")
    page.click("#start")
    expect(page).to_have_title(re.compile("^Live"))
    expect(page.locator("#state")).to_contain_text("crawling")
    page.locator("button[value=stop]").click()
    expect(page.locator("#state")).to_contain_text("not running")
    assert load(folder / "topic.toml").topic.keywords == small_topic().keywords[1:]
    with Collection.open(folder) as collection:
        assert collection.state.setting("judge_again") is False
    watched.check()


def test_what_makes_no_topic_is_said(tmp_path: Path) -> None:
    with running_portal(tmp_path / "collection") as portal:
        for fields, message in (
            ({"action": "build", "name": "", "pasted": "owl"}, "no name"),
            ({"action": "build", "name": "owls", "pasted": ""}, "no words and no addresses"),
            ({"action": "look", "topic": "[topic"}, "topic.toml"),
            (
                {
                    "action": "look",
                    "topic": '[topic]\nname="x"\nexamples=["/etc/passwd"]\n[crawl]\nseeds=["http://a.example/"]',
                },
                "not a valid URL",
            ),
        ):
            answer = portal.post("/topic", **fields)
            assert answer.status == 400
            assert message in answer.text


def test_what_is_no_review_is_said(tmp_path: Path) -> None:
    with MadeCollection(tmp_path / "collection") as made:
        made.page("http://a.example/", title="A", text="a")
    with running_portal(tmp_path / "collection") as portal:
        assert portal.post("/review", said="maybe", url="http://a.example/").status == 400
        assert portal.post("/review", said="accept", url="https://nowhere.example/").status == 400
    assert not read_reviews(tmp_path / "collection").standing
