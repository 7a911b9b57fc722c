"""`lab run sharded`: several shards in step."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pytest

from honeyguide.engine.arrival import Arrival
from honeyguide.engine.neighbours import Neighbours
from honeyguide.job import assemble
from honeyguide.lab.experiments import sharded
from honeyguide.lab.experiments.sharded import ShardedOptions
from honeyguide.lab.runner import sharded_crawl as sharded_crawl_runner
from honeyguide.lab.runner.hosts_split import joined, split
from honeyguide.lab.runner.recorded_world import open_world
from honeyguide.lab.runner.sharded_crawl import Course, Sharing, sharded_crawl
from honeyguide.lab.runner.situation import Situation
from honeyguide.lab.runner.study import DataFinder
from honeyguide.lab.runner.world import World
from honeyguide.model import Examples, Page, Verdict
from honeyguide.store.outbox import Traveller

WEB = "generated:3:300"


@pytest.fixture(scope="module")
def place() -> tuple[World, Situation]:
    world = open_world(WEB)
    return world, sharded._generated(WEB, world, ShardedOptions(most_topics=1))[0]


def crawl(place: tuple[World, Situation], shards: int, pages: int, **sharing: bool) -> Course:
    world, there = place
    examples = Examples(keywords=there.task.keywords)
    return sharded_crawl(
        world, there, examples, recipe="best-first", pages=pages, shards=shards, sharing=Sharing(**sharing)
    )


def test_shards_crawl_much_as_one_does(place: tuple[World, Situation]) -> None:
    alone, shared = crawl(place, 1, 120), crawl(place, 3, 120)
    assert len(set(shared.urls)) == len(shared.urls) == len(alone.urls) == 120
    assert len(set(shared.urls) & set(alone.urls)) > 60
    assert alone.links_sent == 0 < shared.links_sent
    assert sum(shared.pages) == len(shared.urls)
    assert min(shared.pages) > 0


def test_shards_tell_what_the_words_of_a_page_said(
    place: tuple[World, Situation], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what its links had promised, scout would take its own word for what came of it."""
    said: dict[str, Verdict] = {}
    sent: dict[str, float] = {}

    class Watched(Arrival):
        def think(self, page: Page) -> Any:
            found = super().think(page)
            said[page.url] = found[0]
            return found

    class Watching(Neighbours):
        def send(self, link: Traveller, host: str) -> None:
            if link.score >= 0:
                sent[link.parent] = link.score
            super().send(link, host)

    monkeypatch.setattr(assemble, "Arrival", Watched)
    monkeypatch.setattr(sharded_crawl_runner, "Neighbours", Watching)
    world, there = place
    examples = Examples(keywords=there.task.keywords)
    sharded_crawl(world, there, examples, recipe="scout", pages=220, shards=3, sharing=Sharing())
    assert any(abs(verdict.score - verdict.by_text) > 0.01 for url, verdict in said.items() if url in sent)
    assert {url: said[url].by_text for url in sent} == sent


def test_equal_runs_are_equal_and_keep_the_budget(place: tuple[World, Situation]) -> None:
    first, second = crawl(place, 4, 90), crawl(place, 4, 90)
    assert first == second
    assert len(first.urls) == 90


def test_hosts_can_be_given_to_shards_in_several_ways(place: tuple[World, Situation]) -> None:
    world, there = place
    examples = Examples(keywords=there.task.keywords)

    def shared(cut: int) -> Course:
        sharing = Sharing(cut=cut)
        return sharded_crawl(world, there, examples, recipe="best-first", pages=60, shards=3, sharing=sharing)

    assert shared(1) == shared(1)
    assert shared(1).pages != shared(0).pages


def test_folders_stand_in_for_hosts(place: tuple[World, Situation]) -> None:
    found = crawl(place, 3, 40, split=True)
    assert len(set(found.urls)) == 40
    assert not any("//x" in url for url in found.urls)
    assert min(found.pages) > 0
    url = "https://a.example/b/c?d=/e"
    assert joined(split(url)) == url
    assert (
        split("https://a.example/b/x").partition("/b/")[0]
        == split("https://a.example/b/y").partition("/b/")[0]
    )


async def test_a_shard_that_rests_shows_its_urls_at_what_they_are_worth_now(
    place: tuple[World, Situation],
) -> None:
    world, there = place
    examples = Examples(keywords=there.task.keywords)
    with ExitStack() as stack:
        shards = sharded_crawl_runner._make(
            world, there, examples, recipe="scout", shards=3, sharing=Sharing(), stack=stack
        )
        fetched: list[str] = []
        for _ in range(3):  # all of them have begun, and know of each other's hosts
            await sharded_crawl_runner._fetch(shards, {shard.name: 4 for shard in shards}, fetched)
            for shard in shards:
                shard.crawler.settle()
            sharded_crawl_runner._deliver(shards)
            for shard in shards:
                shard.crawler.settle()
        sharded_crawl_runner.share_learning(shards, weigh=True)
        resting = max(shards, key=lambda shard: shard.crawler.waiting)
        before = sorted(resting.crawler.best_waiting()[0])
        others = {shard.name: 20 * (shard is not resting) for shard in shards}
        await sharded_crawl_runner._fetch(shards, others, fetched)
        assert sorted(resting.crawler.best_waiting()[0]) == before != []
        sharded_crawl_runner.share_learning(shards, weigh=True)
        assert sorted(resting.crawler.best_waiting()[0]) != pytest.approx(before, abs=1e-3)


def test_the_study(place: tuple[World, Situation]) -> None:
    options: dict[str, object] = {
        "experiments": [],
        "own_hosts": [],
        "generated": [WEB],
        "recipes": ["best-first"],
        "whole_graph": ["pagerank"],
        "unmerged": ["best-first"],
        "shards": [1, 2],
        "most_topics": 1,
        "budget": 40,
    }
    steps: list[str] = []
    found = sharded.run(options, data=DataFinder(()), progress=steps.append, jobs=1)
    summary, detail = found.tables
    assert [row[:4] for row in summary.rows] == [
        (WEB, "best-first", "merged", 1),
        (WEB, "best-first", "apart", 1),
        (WEB, "pagerank", "merged", 1),
    ]
    assert all(len(row) == len(summary.columns) for row in summary.rows)
    assert len(detail.rows) == 5
    assert len(steps) == 1
