"""A crawl by shards, merged into one folder, goes on there as if it had always been one."""

from __future__ import annotations

from pathlib import Path

import pytest
from loopback import crawl_all, outcomes
from shards import recording_aside, sharded_config, write

from honeyguide.cluster.coordinator import ShardedCrawl
from honeyguide.collection.collection import Collection
from honeyguide.collection.merging import merge_into

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
