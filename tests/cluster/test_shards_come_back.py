"""Pages of a collection of shards are visited again, each by the shard that owns its host."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback import outcomes
from shards import all_ends, asked, check_shards, recording_aside, sharded_config, write

from honeyguide.cluster.coordinator import ShardedCrawl
from honeyguide.cluster.ray_cluster import Connection
from honeyguide.cluster.recrawls import FILE
from honeyguide.cluster.scripts import recrawl
from honeyguide.collection.collection import Collection
from honeyguide.engine.revisits import NOTHING_DUE
from honeyguide.job.crawl import run_here
from honeyguide.lab.webs.served import Served
from honeyguide.model import Outcome
from honeyguide.store.shards import load, shard_folder
from honeyguide.store.state import State

pytestmark = [pytest.mark.slow, pytest.mark.realtime, pytest.mark.filterwarnings("ignore::ResourceWarning")]


@pytest.fixture(scope="module", autouse=True)
def one_ray() -> Iterator[None]:
    connection = Connection("")
    yield
    connection.close()


class Web:
    """The written web; later on each page says something else."""

    def __init__(self) -> None:
        self.later = False

    def __call__(self, url: str) -> Served | None:
        found = write(url)
        if found is None or not self.later or found.status != 200:
            return found
        return Served(200, found.headers, found.body.replace(b"owl ", b"owl barn again "))


def visits(out: Path) -> Counter[str]:
    """How often pages were visited after the first time, by their addresses."""
    found: Counter[str] = Counter()
    for shard in load(out).folders:
        with State.open(shard_folder(out, shard) / "state.sqlite", read_only=True) as state:
            rows = state.connection.execute(
                "SELECT u.url FROM visit AS v JOIN url AS u ON u.row = v.row WHERE v.what"
            )
            found.update(url for (url,) in rows)
    return found


async def test_every_page_once_and_an_interrupted_one_goes_on(tmp_path: Path) -> None:
    out, web = tmp_path / "many", Web()
    with recording_aside(web) as server:
        config = sharded_config(server.connect_to)
        async for _ in ShardedCrawl(config, out=out, shards=3).run():
            pass
        pages = {url for url, outcome in all_ends(out).items() if outcome is Outcome.FETCHED}
        server.urls.clear()
        web.later = True
        job = ShardedCrawl(config, out=out)
        async for _ in job.recrawl(all_pages=True, budget=25):
            pass
        assert job.reason == "budget of 25 visits is spent"
        assert sum(visits(out).values()) == 25 == len(asked(server.urls))
        job = ShardedCrawl(
            sharded_config(server.connect_to, politeness={"delay": 0.3}), out=out, on_change="keep"
        )
        async for _ in job.recrawl(all_pages=True):
            if (out / FILE).exists() and len(server.urls) > 45:
                job.stop("interrupted")
        assert job.reason == "interrupted"
        assert (out / FILE).exists()
        before = visits(out)
        assert 25 < sum(before.values()) < 25 + len(pages)
        job = ShardedCrawl(config, out=out)
        async for _ in job.recrawl(all_pages=True):
            pass
        assert job.reason == NOTHING_DUE
        assert not (out / FILE).exists()
    # One round of 25, and one of all.
    assert set(visits(out)) == pages
    assert sum(visits(out).values()) == 25 + len(pages)
    with Collection.open(out) as collection:
        status = collection.status()
        assert status.pages == len(pages)
        (changed,) = collection.state.connection.execute("SELECT count(*) FROM version").fetchone()
        assert changed == len(pages), "each page has its older version"
    check_shards(out)


async def test_a_crawl_that_keeps_its_pages_fresh(tmp_path: Path) -> None:
    out = tmp_path / "many"
    with recording_aside(write) as server:
        config = sharded_config(server.connect_to, crawl={"max_pages": 40})
        async for _ in ShardedCrawl(config, out=out, shards=2).run():
            pass
        for shard in load(out).shards:  # no page is visited again within an hour
            with State.open(shard_folder(out, shard) / "state.sqlite") as state:
                state.connection.execute("UPDATE page SET at = at - 86400")
                state.commit()
        server.urls.clear()
        fresh: dict[str, object] = {"keep_fresh": True, "fresh_every": 10.0, "max_pages": 45}
        job = ShardedCrawl(sharded_config(server.connect_to, crawl=fresh), out=out, on_change="keep")
        until = time.monotonic() + 90
        async for progress in job.run():
            if (progress.pages == 45 and len(asked(server.urls)) > 30) or time.monotonic() > until:
                job.stop("enough")
        assert (job.reason, job.tally.pages) == ("enough", 45)
    found = visits(out)
    assert len(found) >= 15
    assert set(found) <= {url for url, outcome in all_ends(out).items() if outcome is Outcome.FETCHED}


async def test_what_moved_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "many"
    with recording_aside(write) as server:
        config = sharded_config(server.connect_to)
        async for _ in ShardedCrawl(config, out=out, shards=3).run():
            pass
        server.urls.clear()
        job = ShardedCrawl(config, out=out, remove_shards=1)
        async for _ in job.recrawl(all_pages=True):
            pass
        assert job.reason == NOTHING_DUE
    assert load(out).retired == ("02",)
    stayed = {
        url
        for shard in ("00", "01")
        for url, outcome in outcomes(shard_folder(out, shard)).items()
        if outcome is Outcome.FETCHED
    }
    assert set(asked(server.urls)) == stayed


def test_scripts_visit_again_what_shards_have(tmp_path: Path) -> None:
    out = tmp_path / "many"
    with recording_aside(write) as server:
        config = sharded_config(server.connect_to, crawl={"max_pages": 20})

        async def crawl() -> None:
            async for _ in ShardedCrawl(config, out=out, shards=2).run():
                pass

        run_here(crawl)
        with recrawl(out, all_pages=True, share=1.0) as found:
            assert found.status().pages == 20
    assert sum(visits(out).values()) == 20
