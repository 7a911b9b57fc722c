"""The demo's claim, checked on its own web: its recipe needs at most half of breadth-first's downloads."""

from __future__ import annotations

from pathlib import Path

import pytest
from figures import RecordProperty

from honeyguide.collection.collection import Collection
from honeyguide.engine.clock import VirtualClock
from honeyguide.errors import TopicError
from honeyguide.job.crawl import Crawl
from honeyguide.lab import demo
from honeyguide.lab.measures import CrawlRecord, downloads_to
from honeyguide.lab.webs.generated import GeneratedFetcher, GeneratedWeb, WebSpec, reachable, seeds


async def crawled(web: GeneratedWeb, topic: str, recipe: str) -> CrawlRecord:
    clock = VirtualClock()
    config = demo.demo_config(web, topic, 1, recipe)
    job = Crawl(
        config, clock=clock, fetcher=GeneratedFetcher(web, clock), max_seconds=100_000, max_pages=3300
    )
    async for _ in job.run():
        pass
    targets = reachable(web, topic, seeds(web, topic, distance=demo.START_DISTANCE))
    return demo.as_record(Collection.of(job.state), recipe, targets, web)


async def test_half_of_the_downloads_are_enough(record_property: RecordProperty) -> None:
    web = GeneratedWeb(demo.SPEC)
    assert len(web.hosts()) >= 30
    assert demo.SPEC.pages >= 3_000
    assert len(web.topics) >= 5
    topic = web.topics[0]
    broad = downloads_to(await crawled(web, topic, "breadth-first"), 0.8)
    assert broad is not None
    for recipe in ("best-first", "cbp-slc"):
        best = downloads_to(await crawled(web, topic, recipe), 0.8)
        told = f"demo: downloads to 80 % of the targets, breadth-first {broad}, {recipe} {best}"
        record_property("figure", told)
        assert best is not None
        assert best <= broad / 2


def test_the_demo_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over real HTTP, on a smaller web."""
    monkeypatch.setattr(
        demo, "SPEC", WebSpec(seed=3, hosts=30, pages=500, topics=5, slow=0.0, crawl_delay=0.0)
    )
    said: list[str] = []
    result = demo.run_demo(tmp_path / "out", say=said.append)
    assert [row["recipe"] for row in result.rows] == list(demo.RECIPES)
    assert all(isinstance(row["found"], int) and row["found"] > 0 for row in result.rows)
    assert result.plot.read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "out" / "demo.svg").exists()
    assert any("can be reached" in line for line in said)
    assert len(result.next_steps) >= 3


def test_a_folder_of_something_else_is_not_emptied(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(TopicError, match="choose another folder"):
        demo.run_demo(tmp_path)
    assert (tmp_path / "thesis.txt").exists()
