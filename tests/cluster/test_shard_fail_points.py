"""A shard dies at each fail point of what it owes the others: nothing is lost, the pages are one crawl's."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback import crawl_all, outcomes
from shards import (
    all_ends,
    asked,
    check_shards,
    command,
    recording_aside,
    sharded_config,
    topic_file,
    write,
)

from honeyguide import failpoint
from honeyguide.cluster.coordinator import ShardedCrawl
from honeyguide.cluster.ray_cluster import Connection
from honeyguide.store.shards import load

pytestmark = [pytest.mark.slow, pytest.mark.realtime, pytest.mark.filterwarnings("ignore::ResourceWarning")]

POINTS = [name for name in failpoint.NAMES if name.startswith(("outbox.", "post.", "inbox.", "snapshot."))]
"""Of links on their way, with snapshots."""


@pytest.fixture(scope="module", autouse=True)
def one_ray() -> Iterator[None]:
    connection = Connection("")
    yield
    connection.close()


@pytest.fixture(scope="module")
def one_crawl(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What becomes of every URL in one crawl."""
    folder = tmp_path_factory.mktemp("one") / "one"
    with recording_aside(write) as server:
        asyncio.run(crawl_all(sharded_config(server.connect_to), folder))
    return dict(outcomes(folder))


async def crawl(
    out: Path,
    monkeypatch: pytest.MonkeyPatch,
    fail_at: str,
    *,
    before: int = 0,
    add: int = 0,
    remove: int = 0,
) -> tuple[ShardedCrawl, int]:
    """Crawl to the end with one shard that dies; the most often that a page was asked for.

    Args:
        out: The collection's folder; store and working folders are beside it.
        monkeypatch: For the environment.
        fail_at: As `HONEYGUIDE_FAIL_AT`.
        before: Pages of an earlier session, in which nobody dies.
        add: Shards that join for the second.
        remove: Shards that leave for the second.
    """
    monkeypatch.setenv("HONEYGUIDE_TESTS", "1")
    with recording_aside(write) as server:
        config = sharded_config(server.connect_to)

        def job(work: str, **options: Any) -> ShardedCrawl:
            store, place = str(out.with_name("store")), out.with_name(work)
            return ShardedCrawl(config, out=out, store=store, work=place, snapshot_seconds=0.5, **options)

        if before:
            async for _ in job("first", shards=1 if add else 2 + remove, max_pages=before).run():
                pass
        monkeypatch.setenv(failpoint.VARIABLE, fail_at)
        last = job("second", shards=None if before else 2, add_shards=add, remove_shards=remove)
        async for _ in last.run():
            pass
        return last, max(asked(server.urls).values())


def check(out: Path, one_crawl: dict[str, object], job: ShardedCrawl, *, moved: bool = False) -> None:
    """It died, and all is there."""
    assert job.restarts >= 1, "the fail point was not reached"
    assert job.reason == "nothing left to fetch"
    assert all_ends(out, moved=moved) == one_crawl
    check_shards(out)


@pytest.mark.parametrize("name", POINTS)
async def test_a_shard_dies_over_its_links(
    name: str, tmp_path: Path, one_crawl: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    job, most = await crawl(tmp_path / "many", monkeypatch, f"{name}:2@01")
    check(tmp_path / "many", one_crawl, job)
    assert most <= 2


async def test_a_shard_dies_when_it_is_restored(
    tmp_path: Path, one_crawl: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    job, most = await crawl(tmp_path / "many", monkeypatch, "restore.claimed@01", before=30)
    check(tmp_path / "many", one_crawl, job)
    assert most == 1


async def test_a_shard_dies_handing_hosts_over(
    tmp_path: Path, one_crawl: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    job, most = await crawl(tmp_path / "many", monkeypatch, "handover.written@00", before=30, add=1)
    check(tmp_path / "many", one_crawl, job, moved=True)
    assert most <= 2


@pytest.mark.parametrize(
    "fail_at",
    [
        "handover.written@03",
        "outbox.committed@03",
        "post.sent@03",
        "post.answered@03",
        "outbox.cleared@03",
        "inbox.received@00",
        "inbox.entered:2@00",
        "snapshot.taken@00",
        "snapshot.taken@03",
    ],
)
async def test_a_shard_dies_when_others_leave(
    fail_at: str, tmp_path: Path, one_crawl: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    job, most = await crawl(tmp_path / "many", monkeypatch, fail_at, before=30, remove=2)
    check(tmp_path / "many", one_crawl, job, moved=True)
    assert len(load(tmp_path / "many").shards) == 2
    assert sorted(load(tmp_path / "many").retired) == ["02", "03"]
    assert most <= 2


def test_the_coordinator_dies_when_a_shard_has_left(
    tmp_path: Path, one_crawl: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "many"
    with recording_aside(write) as server:
        file = topic_file(tmp_path, server.port, delay=0.0)
        first = ("crawl", str(file), "--trust", "--out", str(out), "--shards", "3", "--max-pages", "30")
        assert command(*first, "--quiet").wait(240) == 0
        monkeypatch.setenv("HONEYGUIDE_TESTS", "1")
        monkeypatch.setenv(failpoint.VARIABLE, "retire.home")
        words = ("resume", str(out), "--max-pages", "unlimited", "--quiet")
        assert command(*words, "--remove-shards", "2").wait(240) == -signal.SIGKILL
        assert len(load(out).leaving) == 2
        monkeypatch.delenv(failpoint.VARIABLE)
        process = command(*words)
        said, _ = process.communicate(timeout=240)
        assert process.returncode == 0, said
        assert max(asked(server.urls).values()) <= 2  # what was under way is asked for again
    assert load(out).shards == ("00",)
    assert sorted(load(out).retired) == ["01", "02"]
    one = {url: outcome for url, outcome in one_crawl.items() if "outside.test" not in url}
    found = all_ends(out, moved=True)
    assert {url: outcome for url, outcome in found.items() if "outside.test" not in url} == one
    check_shards(out)
