"""Shards leave: the others stand where they last said, and a crawl whose budget ends first lets them go."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from crawls import finish, small_crawl, small_topic

from honeyguide.cluster import coordinator
from honeyguide.cluster.coordinator import ShardedCrawl
from honeyguide.cluster.learning import Learned
from honeyguide.cluster.shard import Ended
from honeyguide.engine.budget import Budget
from honeyguide.engine.neighbours import Standing
from honeyguide.store.shards import Manifest, load, shard_folder, with_retired

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


SPENT = Standing(pages=10, spent=10, limit=10, waiting=3, open=True, best=[1.0, 1.0, 1.0], ready=3)
REST = Standing(idle=True, open=True, moves=7)


class Leaving(ShardedCrawl):
    """Two shards whose budget is spent; the second leaves, and needs some rounds to hand its hosts over."""

    def __init__(self, out: Path) -> None:
        super().__init__(small_topic(), out=out, shards=2, max_pages=10)
        self.manifest = Manifest(1, ("00",), leaving=("01",))
        self._make_folder()
        self._lay_out()
        self.actors = dict.fromkeys(self.manifest.at_work)
        self.rounds = 0

    async def _round(self, names: Sequence[str] = ()) -> bool:
        self.rounds += not names
        self._opened = set(self.actors)
        said = {"00": SPENT, "01": MOVING if self.rounds < 3 else REST}
        self._standings = {name: said[name] for name in self.actors}
        return True

    async def _retire(self, _connection: Any, name: str) -> None:
        del self.actors[name], self._standings[name]
        self.manifest = with_retired(self.manifest, name)

    async def finish(self) -> list[int]:
        """Go on to the end; what the first shard might have had after each round."""
        self._budget = Budget(max_pages=10)
        ray = SimpleNamespace(exceptions=SimpleNamespace(RayActorError=OSError))
        connection: Any = SimpleNamespace(ray=ray)
        return [self._limits["00"] async for _ in self._rounds(connection)]


async def test_shards_that_leave_have_left_when_a_crawl_ends_with_its_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coordinator, "ROUNDS", (0.0, 0.0))
    monkeypatch.setattr(coordinator, "FIRST_ROUNDS", 0.0)
    job = Leaving(tmp_path / "out")
    limits = await job.finish()
    assert job.manifest.retired == ("01",), "it would leave only with a crawl that has a larger budget"
    assert job._stop == "budget of 10 pages is spent"
    assert set(limits) == {SPENT.spent}, "the others were dealt pages meanwhile"


async def test_they_are_not_waited_for_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinator, "REMOVAL", -1.0)
    job = Leaving(tmp_path / "out")
    await job.finish()
    assert job.manifest.leaving == ("01",)
    assert job._stop == "budget of 10 pages is spent"
