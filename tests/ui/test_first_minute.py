"""The home page, and a new topic: what would count is shown while one types."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from portals import RunningPortal, running_portal
from windows import Watched

from honeyguide.store.shards import new_manifest, save, shard_folder
from honeyguide.testing.made_collection import MadeCollection
from honeyguide.ui.home import ago, last_written
from honeyguide.ui.live import growth_picture

pytestmark = pytest.mark.realtime


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("home") / "collections"
    with MadeCollection(place / "owls") as made:
        for number in range(30):
            made.page(f"https://owls.example/{number}", host="owls.example", on_topic=number % 2 == 0)
    return place


@pytest.fixture(scope="module")
def portal(place: Path) -> Iterator[RunningPortal]:
    with running_portal(None, places=[place.parent, place]) as running:
        yield running


def test_collections_are_cards_with_their_growth(watched: Watched, portal: RunningPortal) -> None:
    page = watched.page
    page.goto(portal.entrance)
    card = page.locator(".shelf .card")
    expect(card).to_have_count(1)
    expect(card).to_contain_text("15 on topic of 30 pages")
    watched.until("document.querySelector('.growth').naturalWidth > 0")
    card.get_by_role("link").click()
    expect(page.locator("#doing")).to_contain_text("15 of 30 pages on topic")
    watched.check()


def test_a_collection_that_comes_later_gets_a_card(portal: RunningPortal, place: Path) -> None:
    assert portal.get("/").text.count('<li class="card">') == 1
    with MadeCollection(place / "later"):
        pass
    assert portal.get("/").text.count('<li class="card">') == 2


def test_what_would_count_is_shown_while_one_types(watched: Watched, portal: RunningPortal) -> None:
    page = watched.page
    page.goto(portal.entrance)
    page.get_by_role("link", name="New topic").click()
    page.fill("[name=name]", "Owls")
    page.locator("[name=pasted]").press_sequentially("barn owl, tawny owl")
    expect(page.locator("#seen #terms")).to_contain_text("owl")
    # An address that is being written is not asked for yet; once it stands, it is.
    page.locator("[name=pasted]").press_sequentially(", pellet http://127.0.0.1:9/ow")
    page.wait_for_timeout(1_000)
    expect(page.locator("#seen")).not_to_contain_text("127.0.0.1")
    expect(page.locator("#seen")).to_contain_text("looked at when a space or a new line follows")
    expect(page.locator("#seen #terms")).to_contain_text("pellet")  # words of its line count
    page.locator("[name=pasted]").press_sequentially("ls http://127.0.0.1:9/st")
    expect(page.locator("#seen")).to_contain_text("http://127.0.0.1:9/owls")
    expect(page.locator("#seen")).not_to_contain_text("127.0.0.1:9/st")
    expect(page.locator("#seen")).to_contain_text("None of these pages could be fetched")
    page.fill("[name=pasted]", "")
    page.locator("[name=pasted]").press_sequentially("http://127.0.0.1:9/alone")
    expect(page.locator("#seen")).to_contain_text("looked at when a space or a new line follows")
    watched.check()


def test_a_topic_that_cannot_begin_says_why(portal: RunningPortal) -> None:
    answer = portal.post("/new", action="begin", name="Owls", pasted="owl")
    assert answer.status == 400
    assert "add addresses to begin with" in answer.text
    assert "problem" in portal.post("/new/look", name="Owls", pasted="").text


def test_the_growth_of_nothing_is_a_picture_too() -> None:
    assert growth_picture([]).startswith("<svg")
    assert "NaN" not in growth_picture([(1, 0)])


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "just now"), (60, "1 minute ago"), (7_300, "2 hours ago"), (1e6, "11 days ago")],
)
def test_how_long_ago_in_words(seconds: float, words: str) -> None:
    assert ago(5.0, 5.0 + seconds) == words


def test_shards_were_at_work_when_they_wrote_not_when_somebody_looked(tmp_path: Path) -> None:
    manifest = new_manifest(2)
    save(tmp_path, manifest)
    shards = (shard_folder(tmp_path, one) for one in manifest.folders)
    for at, folder in enumerate((tmp_path / "merged", *shards)):
        folder.mkdir(parents=True)
        state = folder / "state.sqlite"
        state.touch()
        os.utime(state, (1e9 - at, 1e9 - at))
    assert last_written(tmp_path) == 1e9 - 1
    assert last_written(tmp_path / "none") == 0.0


def test_two_crawls_side_by_side(watched: Watched, portal: RunningPortal, place: Path) -> None:
    with MadeCollection(place / "owls-again") as made:
        for number in range(20):
            made.page(f"https://owls.example/{number + 20}", title=f"Owl {number + 20}")
    page = watched.page
    page.goto(portal.entrance)
    page.get_by_role("link", name="Compare two").click()
    expect(page.locator("[name=right]")).not_to_have_value(page.locator("[name=left]").input_value())
    page.select_option("[name=left]", "owls")
    page.select_option("[name=right]", "owls-again")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".doing")).to_contain_text("5 pages on topic in both")
    expect(page.locator(".both .stroke")).to_have_count(2)
    expect(page.locator(".grid")).to_contain_text("10 pages: 10 never met in the other")
    assert portal.get("/compare?left=owls&right=none").status == 400
    watched.check()
