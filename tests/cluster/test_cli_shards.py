"""The command line with shards: Ctrl-C, pausing, reviews, and every verb on what is there."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest
from consistency import page_facts
from loopback import outcomes
from shards import all_ends, check_shards, command, recording_aside, topic_file, write

from honeyguide.cluster.coordinator import ShardedCrawl
from honeyguide.cluster.ray_cluster import Connection
from honeyguide.collection.collection import Collection
from honeyguide.config.load import load
from honeyguide.engine import control
from honeyguide.job.crawl import Crawl
from honeyguide.store.reviews import add_review
from honeyguide.store.shards import shard_folder

pytestmark = [pytest.mark.slow, pytest.mark.realtime, pytest.mark.filterwarnings("ignore::ResourceWarning")]


def test_ctrl_c_stops_all_in_order_and_resume_ends_it(tmp_path: Path) -> None:
    out = tmp_path / "many"
    with recording_aside(write) as server:
        file = topic_file(tmp_path, server.port)
        process = command("crawl", str(file), "--trust", "--out", str(out), "--shards", "2", "--quiet")
        until = time.monotonic() + 120
        while len(server.urls) < 30 and time.monotonic() < until and process.poll() is None:
            time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)
        said, _ = process.communicate(timeout=120)
        assert f"interrupted; go on with: honeyguide resume {out}" in said, said
        for shard in ("00", "01"):
            with Collection.open(shard_folder(out, shard)) as collection:
                (session,) = collection.state.sessions()
                assert session.reason == "interrupted"
        process = command("resume", str(out), "--quiet", "--json")
        said, _ = process.communicate(timeout=240)
        assert '"stopped": "nothing left to fetch"' in said
        asyncio.run(_one(file, tmp_path / "one"))
    assert all_ends(out) == outcomes(tmp_path / "one")
    check_shards(out)
    for words in (("status",), ("report",), ("search", "owl"), ("why", "http://site0.example/1")):
        process = command(words[0], str(out), *words[1:])
        said, _ = process.communicate(timeout=120)
        assert process.returncode == 0, said
    merged = tmp_path / "merged"
    process = command("merge", str(out), str(merged))
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert {one[0] for one in page_facts(merged)} == {one[0] for one in page_facts(tmp_path / "one")}


async def _one(file: Path, out: Path) -> None:
    async for _ in Crawl(file, out=out).run():
        pass


async def test_pausing_new_limits_and_reviews_reach_every_shard(tmp_path: Path) -> None:
    out = tmp_path / "many"
    connection = Connection("")
    with recording_aside(write) as server:
        file = topic_file(tmp_path, server.port, recipe="scout", delay=0.1)
        job = ShardedCrawl(load(file), out=out, shards=2)
        paused_at, since = 0, 0.0
        async for progress in job.run():
            now = time.monotonic()
            if not since and progress.pages >= 15:
                since = now
                control.ask(out, session=1, paused=True)
            elif since and not paused_at and now - since > 3.0:
                paused_at = progress.pages
            elif paused_at and now - since > 6.0 and progress.pages == paused_at:
                add_review(out, "reject", url="http://site0.example/", at=time.time())
                control.ask(out, session=1, paused=False, budget={"max_pages": 60}, reviews=1)
        assert paused_at
        assert (job.reason, job.tally.pages) == ("budget of 60 pages is spent", 60)
    connection.close()
    for shard in ("00", "01"):
        assert b"site0.example" in (shard_folder(out, shard) / "reviews.jsonl").read_bytes()
