"""Search without copies: the best of each group of pages that repeat each other."""

from __future__ import annotations

from pathlib import Path

import pytest
from portals import running_portal
from warm import run_command

from honeyguide.collection.collection import Collection
from honeyguide.testing.made_collection import MadeCollection

TEXT = "The owl hunts at night over meadows. "


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Thirty pages; every third repeats the one before, and the very first is repeated by a better one."""
    with MadeCollection(tmp_path / "owls") as made:
        rows = [
            made.page(
                f"http://a.example/{number}",
                title="Owl" if number == 29 else f"Page {number}",
                text=TEXT + "More. " * number,
            )
            for number in range(30)
        ]
        repeats = {rows[number]: rows[number - 1] for number in range(2, 29, 3)} | {rows[29]: rows[0]}
        for number, (row, first) in enumerate(repeats.items()):
            kind = "near_duplicate_of" if number % 2 else "duplicate_of"
            made.state.connection.execute(f"UPDATE page SET {kind} = ? WHERE row = ?", (first, row))
    return tmp_path / "owls"


def test_the_best_of_each_group_is_left(folder: Path) -> None:
    with Collection.open(folder) as collection:
        every = [hit.url for hit in collection.search("owl", 50)]
        assert len(every) == 30
        unique = [hit.url for hit in collection.search("owl", 50, unique=True)]
        assert len(unique) == 20
        assert unique[0] == "http://a.example/29"  # fetched last, and called so
        assert "http://a.example/0" not in unique  # which it repeats
        assert [url for url in every if url in unique] == unique
        pages = [collection.search("owl", 3, start, unique=True) for start in range(0, 24, 3)]
        assert [hit.url for page in pages for hit in page] == unique


def test_the_command_the_api_and_the_portal(folder: Path) -> None:
    done = run_command("search", str(folder), "owl", "--limit", "50", "--unique")
    assert len(done.stdout.splitlines()) == 21
    with running_portal(folder) as portal:
        asked = portal.get("/api/v1/collections/owls/search?q=owl&limit=50&copies=without").text
        assert asked.count('"url"') == 20
        shown = portal.get("/search?q=owl").text
        assert "30 pages match" in shown
        assert "leave out 10 copies" in shown
        assert '<a class="tag" href="/page/1/read">copy</a>' in shown
        shown = portal.get("/search?q=owl&copies=no").text
        assert "20 pages match" in shown
        assert "leave out" not in shown
