"""The pictures of the guides are there and show something; `make screenshots` takes them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PIL import Image
from portals import running_portal
from screenshots import SHOTS, Shot, broken, chromium, shoot

from honeyguide.testing.made_collection import MadeCollection

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("shot", SHOTS, ids=[shot.name for shot in SHOTS])
def test_the_pictures_of_the_guides_show_something(shot: Shot) -> None:
    path = DOCS / "images" / f"{shot.name}.png"
    assert broken(path) == ""
    with Image.open(path) as picture:
        assert picture.size == (shot.width, shot.height)


def test_every_picture_of_the_portal_is_in_a_guide() -> None:
    text = "".join(path.read_text() for path in DOCS.glob("*.md"))
    named = set(re.findall(r"images/([\w-]+)\.png", text))
    assert {shot.name for shot in SHOTS} <= named


def test_a_blank_page_is_noticed(tmp_path: Path) -> None:
    Image.new("RGB", (400, 300), "#fbfaf7").save(tmp_path / "blank.png")
    assert "blank" in broken(tmp_path / "blank.png")


@pytest.mark.realtime
def test_the_command_notices_broken_pages(tmp_path: Path) -> None:
    with MadeCollection(tmp_path / "shelf" / "beekeeping") as made:
        for number in range(12):
            made.page(f"https://bees.example/{number}", title=f"Honey {number}", text="Honey of the queen.")
    with chromium() as browser, running_portal(tmp_path / "shelf") as portal:
        for shot in (Shot("home", "/"), Shot("search", "/c/beekeeping/search?q=honey", 390, 700, "dark")):
            assert shoot(browser, portal, shot, tmp_path) == []
            assert broken(tmp_path / f"{shot.name}.png") == ""
        assert shoot(browser, portal, Shot("gone", "/c/none/"), tmp_path) == ["gone: status 404"]
