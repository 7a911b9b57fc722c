"""Interrupted or damaged collections: what can be made again is made again, and nothing is silent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from consistency import check_consistent, page_facts
from crawls import finish, small_crawl

from honeyguide.cli import main
from honeyguide.collection.collection import Collection
from honeyguide.engine.clock import VirtualClock
from honeyguide.errors import CollectionError, HoneyguideError
from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.generated import GeneratedFetcher
from honeyguide.lab.webs.served import Served
from honeyguide.model import Outcome, Topic


async def resumed(folder: Path, pages: int = 40, **options: Any) -> None:
    await finish(small_crawl(folder, max_pages=pages, **options))


@pytest.mark.parametrize("recipe", ["best-first", "ache-like"])
@pytest.mark.parametrize("damage", ["lost", "cut", "empty", "noise", "all"])
async def test_a_damaged_checkpoint_does_not_end_a_crawl(tmp_path: Path, damage: str, recipe: str) -> None:
    folder = tmp_path / "crawl"
    await resumed(folder, 25, recipe=recipe)
    await resumed(folder, 30, recipe=recipe)
    for file in (folder / "models").glob("*-30.npz" if damage != "all" else "*.npz"):
        whole = file.read_bytes()
        match damage:
            case "lost" | "all":
                file.unlink()
            case "cut":
                file.write_bytes(whole[: len(whole) // 2])
            case "empty":
                file.write_bytes(b"")
            case "noise":
                file.write_bytes(bytes(byte ^ 0x55 for byte in whole))
    await resumed(folder, 40, recipe=recipe)
    check_consistent(folder, warcio=False)
    assert len(page_facts(folder)) == 40


@pytest.mark.parametrize("damage", ["deleted", "noise", "cut", "empty"])
async def test_an_index_that_was_deleted_or_damaged_is_built_anew(tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "crawl"
    await resumed(folder, 40)
    index = folder / "index.sqlite"
    whole = index.read_bytes()
    if damage == "deleted":
        index.unlink()
    else:
        spoilt = {"noise": b"x" * len(whole), "cut": whole[: len(whole) // 3], "empty": b""}[damage]
        index.write_bytes(spoilt)
    await resumed(folder, 45)
    check_consistent(folder, warcio=False)


@pytest.mark.parametrize("damage", ["empty", "deleted"])
async def test_an_empty_state_is_not_taken_for_a_new_crawl(tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "crawl"
    await resumed(folder, 20)
    (folder / "state.sqlite").unlink()
    if damage == "empty":
        (folder / "state.sqlite").write_bytes(b"")
    for end in ("-wal", "-shm"):
        (folder / f"state.sqlite{end}").unlink(missing_ok=True)
    with pytest.raises(CollectionError, match="is empty, but there are pages"):
        await resumed(folder, 25)


@pytest.mark.parametrize("name", ["examples.json", "prepared.json"])
async def test_torn_examples_are_gathered_again(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "crawl"
    await resumed(folder, 10)
    (folder / name).write_bytes(b'{"keywords": ["ow')
    await resumed(folder, 15)
    check_consistent(folder, warcio=False)


async def test_a_crawl_killed_before_its_marker_is_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Everything that `resume` needs is there before the marker."""
    folder = tmp_path / "crawl"
    await resumed(folder, 5)
    for entry in folder.iterdir():
        if entry.name not in ("topic.toml", "archive", "models"):
            entry.unlink()
    for entry in (*(folder / "archive").iterdir(), *(folder / "models").iterdir()):
        entry.unlink()
    # The web is gone: nothing can be fetched, but the folder is a collection again, and says so.
    main(["resume", str(folder), "--max-seconds", "1", "--quiet"])
    assert "not a collection" not in capsys.readouterr().err
    with Collection.open(folder) as collection:
        assert collection.status().sessions == 1


class Chain:
    """Pages that all look alike and lead to the next one only."""

    def __init__(self, pages: int, *, topical: bool = True, query: bool = False) -> None:
        self.pages, self.topical, self.query = pages, topical, query

    def url(self, number: int) -> str:
        return f"http://long.example/p?n={number}" if self.query else f"http://long.example/p/{number}.html"

    def get(self, url: str) -> Served:
        if url.endswith("robots.txt"):
            return Served(404)
        number = int(url.rpartition("=" if self.query else "/")[2].partition(".")[0])
        if number >= self.pages:
            return Served(404)
        words = "barn owl nest box " * 20 if self.topical else "brass screw zinc bolt " * 20
        title, after = ("Nest box" if self.topical else "Bolt"), self.url(number + 1)
        text = f"<title>{title} {number}</title><p>{words} number {number}</p><a href='{after}'>on</a>"
        return Served(200, (("Content-Type", "text/html"),), text.encode())


async def chained(web: Chain, seeds: int, **options: Any) -> tuple[int, dict[Outcome, int]]:
    clock = VirtualClock()
    topic = Topic("owls", keywords=("barn owl", "nest box"), seeds=tuple(web.url(n) for n in range(seeds)))
    fetcher = GeneratedFetcher(web, clock)
    crawl = Crawl(topic, clock=clock, fetcher=fetcher, max_pages=1000, recipe="breadth-first", **options)
    await finish(crawl)
    assert crawl.state is not None
    return crawl.tally.pages, crawl.state.counts()


@pytest.mark.parametrize("topical", [True, False])
async def test_seeds_are_always_fetched(topical: bool) -> None:
    pages, counts = await chained(Chain(50, topical=topical), 50)
    assert pages == 50
    assert counts.get(Outcome.TRAP, 0) <= 1


@pytest.mark.parametrize("query", [True, False])
async def test_a_site_of_similar_pages_on_topic_is_read_to_its_end(query: bool) -> None:
    pages, counts = await chained(Chain(180, query=query), 1)
    assert pages == 180
    assert Outcome.TRAP not in counts or counts[Outcome.TRAP] == 0


async def test_the_rules_for_zones_can_be_changed() -> None:
    off_topic = Chain(120, topical=False)
    closed, _ = await chained(off_topic, 1)
    assert closed < 40
    assert (await chained(off_topic, 1, trap_zones=False))[0] == 120
    assert closed < (await chained(off_topic, 1, trap_pages=30))[0] < 120
    assert (await chained(off_topic, 1, trap_sample=1))[0] == 120


async def test_a_clock_before_1970_is_said_not_waited_for(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    early = small_crawl(folder, max_pages=5)
    early.clock = VirtualClock(-1e6)
    with pytest.raises(HoneyguideError, match="before 1970"):
        await finish(early)
    assert not folder.exists()
    await resumed(folder, 5)
    assert len(page_facts(folder)) == 5
