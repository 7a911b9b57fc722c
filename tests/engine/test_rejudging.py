from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest
from crawls import WEB, finish, small_crawl, small_topic

from honeyguide.collection.collection import Collection
from honeyguide.engine.clock import VirtualClock
from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.generated import GeneratedFetcher
from honeyguide.model import Outcome
from honeyguide.relevance import calibrated


def learned(folder: Path) -> list[dict[str, object]]:
    with Collection.open(folder) as collection:
        return [event.data for event in collection.state.events(kind="learned")]


def vague_crawl(out: Path, max_pages: int) -> Crawl:
    """A crawl whose one keyword says little, so that the line moves."""
    topic = msgspec.structs.replace(small_topic(), keywords=small_topic().keywords[1:2])
    clock = VirtualClock()
    fetcher = GeneratedFetcher(WEB, clock)
    return Crawl(topic, out=out, recipe="best-first", clock=clock, fetcher=fetcher, max_pages=max_pages)


async def test_waiting_urls_follow_pages_whose_verdict_has_turned(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    await finish(vague_crawl(out, 150))
    told = learned(out)
    assert sum(int(str(one["verdicts"])) for one in told) > 0
    assert sum(int(str(one["changed"])) for one in told) > 0
    with Collection.open(out) as collection:
        state = collection.state
        assert state.check() == []
        scores = [page.score for page in collection.pages(relevant=None)]
        columns = state.columns()
        waits = columns.status[1 : columns.size + 1] == Outcome.WAITING
        given = columns.priority[1 : columns.size + 1][waits]
    # Best first: nothing waits at a higher priority than the best page has, seeds apart.
    assert given[given < 1e3].max() <= max(scores) + 1e-6


async def test_pages_that_the_model_has_forgotten_are_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrated, "SAMPLE", 40)
    out = tmp_path / "crawl"
    await finish(vague_crawl(out, 150))
    told = learned(out)
    assert all(int(str(one["pages"])) <= 40 for one in told)
    assert sum(int(str(one["read_again"])) for one in told[3:]) > 0


async def test_two_runs_learn_the_same(tmp_path: Path) -> None:
    for name in ("one", "two"):
        await finish(small_crawl(tmp_path / name, max_pages=120))
    assert learned(tmp_path / "one") == learned(tmp_path / "two")
    scores = []
    for name in ("one", "two"):
        with Collection.open(tmp_path / name) as collection:
            scores.append(collection.verdicts()[1])
    first, second = scores
    assert np.array_equal(first, second)
