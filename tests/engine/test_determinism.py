from __future__ import annotations

from pathlib import Path

import pytest
from crawls import finish, small_crawl

from honeyguide.collection.collection import Collection
from honeyguide.engine.crawler import Crawler


def journal(folder: Path) -> bytes:
    with Collection.open(folder) as collection:
        collection.state.dump_journal(folder / "journal.jsonl")
    return (folder / "journal.jsonl").read_bytes()


RECIPES = ["breadth-first", "best-first", "pagerank", "shark-search", "ache-like", "opic", "scout"]


@pytest.mark.parametrize("recipe", RECIPES)
async def test_same_seed_same_journal_also_across_a_stop(tmp_path: Path, recipe: str) -> None:
    await finish(small_crawl(tmp_path / "once", recipe=recipe, max_pages=100))
    await finish(small_crawl(tmp_path / "again", recipe=recipe, max_pages=100))
    for pages in (30, 65, 100):
        await finish(small_crawl(tmp_path / "parts", recipe=recipe, max_pages=pages))
    whole = journal(tmp_path / "once")
    assert whole.count(b'"kind":"page"') == 100
    assert whole == journal(tmp_path / "again")
    assert whole == journal(tmp_path / "parts")


async def test_pauses_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """New priorities that come in many small portions make the same crawl."""
    await finish(small_crawl(tmp_path / "once", recipe="scout", max_pages=100))
    monkeypatch.setattr("honeyguide.engine.arrival.CHANGED_AT_ONCE", 5)
    monkeypatch.setattr("honeyguide.ordering.scout.SCORED_AT_ONCE", 16)
    pauses = 0
    finishing = Crawler._finish_slow

    async def counted(crawler: Crawler) -> None:
        nonlocal pauses
        pauses += crawler._slow is not None
        await finishing(crawler)

    monkeypatch.setattr(Crawler, "_finish_slow", counted)
    await finish(small_crawl(tmp_path / "paused", recipe="scout", max_pages=100))
    assert pauses > 20
    assert journal(tmp_path / "once") == journal(tmp_path / "paused")


async def test_archives_are_equal_too(tmp_path: Path) -> None:
    await finish(small_crawl(tmp_path / "once", max_pages=60))
    for pages in (25, 60):
        await finish(small_crawl(tmp_path / "parts", max_pages=pages))
    first, second = (next((tmp_path / name / "archive").iterdir()).read_bytes() for name in ("once", "parts"))
    assert first == second


async def test_another_random_seed_gives_another_crawl(tmp_path: Path) -> None:
    await finish(small_crawl(tmp_path / "one", recipe="random", max_pages=60))
    await finish(small_crawl(tmp_path / "two", recipe="random", max_pages=60, random_seed=7))
    assert journal(tmp_path / "one") != journal(tmp_path / "two")
