"""Crawls by several shards on a local Ray: the same pages as one crawl's, whatever happens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback import crawl_all, outcomes, recording
from proxies import proxying
from shards import all_ends, asked, check_shards, ends, sharded_config, write

from honeyguide.cluster.assignment import Assignment
from honeyguide.cluster.coordinator import ShardedCrawl
from honeyguide.cluster.ray_cluster import Connection
from honeyguide.collection.collection import Collection
from honeyguide.config.load import changed, freeze
from honeyguide.errors import CollectionError
from honeyguide.job.changed_topic import settled_over
from honeyguide.job.progress import Progress
from honeyguide.model import Outcome
from honeyguide.store.layout import Layout
from honeyguide.store.shards import load, shard_folder

pytestmark = [pytest.mark.realtime, pytest.mark.filterwarnings("ignore::ResourceWarning")]


@pytest.fixture(scope="module", autouse=True)
def one_ray() -> Iterator[None]:
    """One local Ray for all tests of this file."""
    connection = Connection("")
    yield
    connection.close()


async def finish(job: ShardedCrawl) -> list[Progress]:
    return [progress async for progress in job.run()]


async def test_same_ends_as_one_crawl(tmp_path: Path) -> None:
    async with recording(write) as server:
        config = sharded_config(server.connect_to)
        await crawl_all(config, tmp_path / "one")
        single = asked(server.urls)
        server.urls.clear()
        job = ShardedCrawl(config, out=tmp_path / "many", shards=2)
        await finish(job)
        assert asked(server.urls) == single
    assert job.reason == "nothing left to fetch"
    assert all_ends(tmp_path / "many") == outcomes(tmp_path / "one")
    assert {one.reason for one in job.ended.values()} == {"nothing left to fetch"}
    check_shards(tmp_path / "many")


async def test_shards_ask_through_a_proxy(tmp_path: Path) -> None:
    async with recording(write) as server, proxying(server.port) as proxy:
        network: dict[str, object] = {"proxy": proxy.url}
        config = sharded_config({}, network=network, politeness={"ip_delay": 0.01})
        await crawl_all(config, tmp_path / "one")
        single = asked(server.urls)
        server.urls.clear()
        proxy.lines.clear()
        await finish(ShardedCrawl(config, out=tmp_path / "many", shards=2))
        assert asked(server.urls) == single
        assert len(single) > 50
        assert len(proxy.lines) >= len(single), "nobody goes past it"
    assert all_ends(tmp_path / "many") == outcomes(tmp_path / "one")


@pytest.mark.slow
async def test_budget_is_exact_and_a_stopped_crawl_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "many"
    async with recording(write) as server:
        config = sharded_config(server.connect_to)
        await crawl_all(config, tmp_path / "one")
        server.urls.clear()
        job = ShardedCrawl(config, out=out, shards=3, max_pages=31)
        await finish(job)
        assert (job.reason, job.tally.pages) == ("budget of 31 pages is spent", 31)
        job = ShardedCrawl(config, out=out)
        async for progress in job.run():
            if progress.pages > 40:
                job.stop("interrupted")
        assert job.reason == "interrupted"
        job = ShardedCrawl(config, out=out)
        await finish(job)
        assert max(asked(server.urls).values()) == 1
    assert all_ends(out) == outcomes(tmp_path / "one")
    check_shards(out)
    with pytest.raises(CollectionError, match="has 3 shards, not 4"):
        ShardedCrawl(config, out=out, shards=4)
    with pytest.raises(CollectionError, match="without shards"):
        ShardedCrawl(config, out=tmp_path / "one", shards=2)


@pytest.mark.slow
async def test_shards_join_while_crawling_and_take_only_their_hosts(tmp_path: Path) -> None:
    out = tmp_path / "many"
    async with recording(write) as server:
        await crawl_all(sharded_config(server.connect_to), tmp_path / "one")
        server.urls.clear()
        config = sharded_config(server.connect_to, politeness={"delay": 0.2})
        job = ShardedCrawl(config, out=out, shards=2)
        grown = False
        async for progress in job.run():
            if progress.pages > 30 and not grown:
                grown = True
                job.add_shards(1)
        assert job.reason == "nothing left to fetch"
        assert job.manifest.shards == ("00", "01", "02")
        assert max(asked(server.urls).values()) == 1
    assert all_ends(out, moved=True) == outcomes(tmp_path / "one")
    check_shards(out)
    before, after = Assignment(("00", "01")), Assignment(("00", "01", "02"))
    new = {url for url, outcome in ends(shard_folder(out, "02")).items() if outcome is Outcome.FETCHED}
    assert new
    assert {after.of_url(url) for url in new} == {"02"}
    for shard in ("00", "01"):
        for url in ends(shard_folder(out, shard)):
            assert before.of_url(url) == shard, "a host moved that no new shard won"


@pytest.mark.slow
async def test_more_shards_at_a_resume(tmp_path: Path) -> None:
    out = tmp_path / "many"
    async with recording(write) as server:
        config = sharded_config(server.connect_to)
        await crawl_all(config, tmp_path / "one")
        server.urls.clear()
        await finish(ShardedCrawl(config, out=out, shards=1, max_pages=30))
        job = ShardedCrawl(config, out=out, add_shards=2)
        await finish(job)
        assert max(asked(server.urls).values()) == 1
    assert len(load(out).shards) == 3
    assert all_ends(out, moved=True) == outcomes(tmp_path / "one")
    check_shards(out)


@pytest.mark.slow
async def test_shards_leave_while_crawling_and_only_their_hosts_move(tmp_path: Path) -> None:
    out = tmp_path / "many"
    async with recording(write) as server:
        await crawl_all(sharded_config(server.connect_to), tmp_path / "one")
        server.urls.clear()
        config = sharded_config(server.connect_to, politeness={"delay": 0.2})
        job = ShardedCrawl(config, out=out, shards=4)
        shrunk = False
        async for progress in job.run():
            if progress.pages > 30 and not shrunk:
                shrunk = True
                job.remove_shards(2)
                with pytest.raises(CollectionError, match="at least one must stay"):
                    job.remove_shards(2)
        assert job.reason == "nothing left to fetch"
        assert job.tally.pages == sum(one is Outcome.FETCHED for one in all_ends(out, moved=True).values())
        assert max(asked(server.urls).values()) == 1
    assert load(out).shards == ("00", "01")
    assert sorted(load(out).retired) == ["02", "03"]
    assert not load(out).leaving
    assert all_ends(out, moved=True) == outcomes(tmp_path / "one")
    check_shards(out)
    before, after = Assignment(("00", "01", "02", "03")), Assignment(("00", "01"))
    left = 0
    for shard in load(out).folders:
        for url, outcome in ends(shard_folder(out, shard)).items():
            left += shard in {"02", "03"}
            if shard in {"02", "03"}:
                assert before.of_url(url) == shard
                assert outcome is not Outcome.WAITING
            else:
                assert after.of_url(url) == shard
                assert before.of_url(url) in {shard, "02", "03"}, "a host moved that no shard gave up"
    assert left
    with Collection.open(out) as collection:
        assert collection.status().pages == job.tally.pages
        assert collection.status().waiting == 0


@pytest.mark.slow
async def test_shards_leave_and_join_between_sessions(tmp_path: Path) -> None:
    out = tmp_path / "many"
    async with recording(write) as server:
        config = sharded_config(server.connect_to)
        await crawl_all(config, tmp_path / "one")
        server.urls.clear()
        await finish(ShardedCrawl(config, out=out, shards=3, max_pages=20))
        await finish(ShardedCrawl(config, out=out, add_shards=1, max_pages=40))
        job = ShardedCrawl(config, out=out, remove_shards=2, max_pages=40)
        await finish(job)
        assert job.tally.pages == 40
        assert not load(out).leaving, "the budget was spent before they left"
        job = ShardedCrawl(config, out=out, remove_shards=1, max_pages=60)
        await finish(job)
        assert job.tally.pages == 60
        job = ShardedCrawl(config, out=out, add_shards=1)
        await finish(job)
        assert max(asked(server.urls).values()) == 1
    assert load(out).shards == ("00", "04")
    assert sorted(load(out).retired) == ["01", "02", "03"]
    assert all_ends(out, moved=True) == outcomes(tmp_path / "one")
    check_shards(out)


@pytest.mark.slow
async def test_all_shards_judge_their_pages_by_a_new_topic(tmp_path: Path) -> None:
    out = tmp_path / "many"
    async with recording(write) as server:
        config = sharded_config(server.connect_to, crawl={"max_pages": 60})
        await finish(ShardedCrawl(config, out=out, shards=2))
        with Collection.open(out) as found:
            before = {page.url: page.score for page in found.pages(relevant=None)}
        asked_before = len(server.urls)
        other = changed(config, {"topic": {"keywords": ["owl 3"]}})
        with pytest.raises(CollectionError, match="was crawled for another topic"):
            ShardedCrawl(other, out=out)
        job = ShardedCrawl(other, out=out, on_change="rejudge")
        await finish(job)
        assert (job.tally.pages, len(server.urls)) == (60, asked_before)
        with Collection.open(out) as found:
            after = {page.url: page.score for page in found.pages(relevant=None)}
            assert found.state.check() == []
        assert after.keys() == before.keys()
        assert after != before
        for name in load(out).shards:
            with Collection.open(shard_folder(out, name)) as shard:
                assert list(shard.state.events(kind="learned"))
        await finish(ShardedCrawl(other, out=out))  # it is the collection's topic by now
    check_shards(out)


def test_a_change_of_topic_that_was_broken_off_is_said(tmp_path: Path) -> None:
    config = sharded_config({})
    other = changed(config, {"topic": {"keywords": ["owl 3"]}})
    for name, one in (("00", other), ("01", config)):
        Layout.create(shard_folder(tmp_path / "many", name), software="", topic=freeze(one), reach=())
    folders = [shard_folder(tmp_path / "many", name) for name in ("00", "01")]
    with pytest.raises(CollectionError, match=r"a change of topic was broken off; go on with .* --rejudge"):
        settled_over(folders, config, "keep")
    assert settled_over(folders, other, "rejudge") == other
