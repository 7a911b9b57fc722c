"""A shard has left: those at work stand where they last said, not where their folders stood before."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from crawls import finish, small_crawl, small_topic

from honeyguide.cluster.coordinator import ShardedCrawl
from honeyguide.cluster.learning import Learned
from honeyguide.cluster.shard import Ended
from honeyguide.engine.neighbours import Standing
from honeyguide.store.shards import Manifest, load, shard_folder

MOVING = Standing(pages=5, spent=5, limit=5, open=True, moving=["00"])
"""Has not handed all of its hosts over."""
WAITS = Standing(pages=5, spent=5, limit=5, waiting=3, open=True, best=[1.0, 1.0, 1.0], ready=3)
"""Could go on."""


async def test_nobody_asks_hosts_that_are_being_handed_over_when_another_shard_has_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "many"
    job = ShardedCrawl(small_topic(), out=out, shards=4)
    job.manifest = Manifest(1, ("00", "01"), leaving=("02", "03"))
    job._make_folder()
    job._lay_out()
    for name in job.manifest.at_work:  # as an earlier session left them
        await finish(small_crawl(shard_folder(out, name), max_pages=5))
    actor = SimpleNamespace(learned=SimpleNamespace(remote=Learned))
    job.actors = dict.fromkeys(job.manifest.at_work, actor)
    job._opened = set(job.actors)
    job._standings = {"00": WAITS, "01": WAITS, "02": Standing(pages=5, idle=True, open=True), "03": MOVING}

    async def said(answer: Any) -> Any:
        return answer

    async def end(_connection: Any, actors: dict[str, Any], _reason: str) -> None:
        job.ended |= dict.fromkeys(actors, Ended())

    monkeypatch.setattr(job, "_ask", said)
    monkeypatch.setattr(job, "_end", end)
    ray = SimpleNamespace(kill=lambda _: None, exceptions=SimpleNamespace(RayActorError=OSError))
    await job._retire(SimpleNamespace(ray=ray), "02")  # type: ignore[arg-type]
    assert load(out).retired == ("02",)
    assert job.tally.pages == 4 * 5
    # Shard 03 is lost in this moment, and says nothing for a while; the others do.
    job._standings |= {"00": WAITS, "01": WAITS}
    job._deal()
    assert job._limits["01"] > WAITS.spent
    assert job._limits["00"] == WAITS.spent, "it was dealt pages of hosts that 03 has not handed over"
