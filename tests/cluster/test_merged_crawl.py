"""A crawl by shards, merged into one folder, goes on there as if it had always been one."""

from __future__ import annotations

from pathlib import Path

import pytest
from loopback import crawl_all, outcomes
from shards import asked, recording_aside, sharded_config, write

from honeyguide.cluster.coordinator import ShardedCrawl
from honeyguide.collection.collection import Collection
from honeyguide.collection.merging import merge_into
from honeyguide.config.load import changed
from honeyguide.engine.revisits import NOTHING_DUE
from honeyguide.job.assemble import SOFTWARE
from honeyguide.job.crawl import Crawl
from honeyguide.model import Outcome
from honeyguide.store.shards import load

pytestmark = [
    pytest.mark.slow,
    pytest.mark.realtime,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


async def test_a_merged_collection_is_resumed_to_the_same_end(tmp_path: Path) -> None:
    with recording_aside(write) as server:
        config = sharded_config(server.connect_to)
        await crawl_all(config, tmp_path / "one")
        job = ShardedCrawl(config, out=tmp_path / "many", shards=3, max_pages=60)
        async for _ in job.run():
            with_pages = job.tally.pages
        assert with_pages == 60
        with Collection.open(tmp_path / "many") as found:
            status = found.status()
            assert (status.pages, status.running, status.sessions) == (60, False, 1)
            assert found.state.check() == []
            assert len(found.search("owl", limit=100)) == status.relevant
        merge_into(tmp_path / "many", tmp_path / "merged")
        await crawl_all(config, tmp_path / "merged")
    assert outcomes(tmp_path / "merged") == outcomes(tmp_path / "one")
    with Collection.open(tmp_path / "merged") as found:
        assert found.state.check() == []
        assert found.page("http://site1.example/1").text()


async def test_a_merged_collection_is_visited_and_judged_again_also_what_moved(tmp_path: Path) -> None:
    with recording_aside(write) as server:
        config = sharded_config(server.connect_to)
        async for _ in ShardedCrawl(config, out=tmp_path / "many", shards=3, max_pages=50).run():
            pass
        job = ShardedCrawl(config, out=tmp_path / "many", remove_shards=2, max_pages="unlimited")
        async for _ in job.run():  # a budget might be spent before both have handed all over
            if len(job.manifest.retired) == 2:
                job.stop()
        assert len(load(tmp_path / "many").retired) == 2
        count = job.tally.pages
        merge_into(tmp_path / "many", tmp_path / "merged", software=SOFTWARE)
        server.urls.clear()
        crawl = Crawl(config, out=tmp_path / "merged")
        async for _ in crawl.recrawl(all_pages=True, share=1.0):
            pass
        assert crawl.reason == NOTHING_DUE
        pages = [url for url, outcome in outcomes(tmp_path / "merged").items() if outcome is Outcome.FETCHED]
        assert len(pages) == count >= 50
        assert set(asked(server.urls)) == set(pages)
        other = changed(config, {"topic": {"keywords": ["owl 3"]}, "crawl": {"max_pages": count}})
        crawl = Crawl(other, out=tmp_path / "merged", on_change="rejudge")
        told = [event async for event in crawl.run() if event.kind == "learned"]
        assert told
    with Collection.open(tmp_path / "merged") as found:
        assert found.status().pages == count
        assert found.state.check() == []
