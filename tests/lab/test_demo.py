"""The demo, and its claim that focused recipes need at most half of breadth-first's downloads."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from figures import RecordProperty

from honeyguide.collection.collection import Collection
from honeyguide.engine.clock import VirtualClock
from honeyguide.errors import TopicError
from honeyguide.job.crawl import Crawl
from honeyguide.lab import demo
from honeyguide.lab.measures import downloads_to
from honeyguide.lab.webs.generated import GeneratedFetcher, GeneratedWeb, WebSpec, reachable, seeds

SMALL = WebSpec(seed=1, hosts=30, pages=700, topics=5)


async def downloads(web: GeneratedWeb, recipe: str, max_pages: int) -> int | None:
    """Pages that a recipe fetches until it has 80 % of the topic's; None when the budget ends before."""
    topic = web.topics[0]
    clock = VirtualClock()
    config = demo.demo_config(web, topic, 1, recipe)
    job = Crawl(
        config, clock=clock, fetcher=GeneratedFetcher(web, clock), max_seconds=100_000, max_pages=max_pages
    )
    async for _ in job.run():
        pass
    targets = reachable(web, topic, seeds(web, topic, distance=demo.START_DISTANCE))
    return downloads_to(demo.as_record(Collection.of(job.state), recipe, targets, web), 0.8)


async def test_focused_recipes_need_fewer_downloads() -> None:
    """On a small web, where there is less to leave out: two thirds."""
    web = GeneratedWeb(SMALL)
    broad = await downloads(web, "breadth-first", 700)
    assert broad is not None
    for recipe in demo.RECIPES[1:]:
        assert await downloads(web, recipe, broad * 2 // 3), recipe


@pytest.mark.slow
async def test_half_of_the_downloads_are_enough(record_property: RecordProperty) -> None:
    """The demo's own claim, on the demo's own web."""
    web = GeneratedWeb(demo.SPEC)
    assert len(web.hosts()) >= 30
    assert demo.SPEC.pages >= 3_000
    assert len(web.topics) >= 5
    broad = await downloads(web, "breadth-first", 3300)
    assert broad is not None
    for recipe in demo.RECIPES[1:]:
        best = await downloads(web, recipe, broad // 2)
        told = f"demo: downloads to 80 % of the targets, breadth-first {broad}, {recipe} {best}"
        record_property("figure", told)
        assert best is not None


@pytest.mark.realtime
def test_the_demo_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over real HTTP, on a smaller web."""
    monkeypatch.setattr(
        demo, "SPEC", WebSpec(seed=3, hosts=20, pages=240, topics=5, slow=0.0, crawl_delay=0.0)
    )
    said: list[str] = []
    result = demo.run_demo(tmp_path / "out", say=said.append)
    assert [row["recipe"] for row in result.rows] == list(demo.RECIPES)
    assert all(isinstance(row["found"], int) and row["found"] > 0 for row in result.rows)
    assert result.plot is not None
    assert result.plot.read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "out" / "demo.svg").exists()
    assert any("can be reached" in line for line in said)
    assert len(result.next_steps) >= 3


@pytest.mark.realtime
def test_a_base_install_goes_without_a_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "SPEC", WebSpec(seed=3, hosts=10, pages=120, topics=5, slow=0.0))
    monkeypatch.setattr(demo, "RECIPES", ("breadth-first",))
    for name in [
        name
        for name in sys.modules
        if name.startswith(("honeyguide.plots", "honeyguide.lab.measures.curves"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    said: list[str] = []
    result = demo.run_demo(tmp_path / "out", say=said.append)
    assert result.plot is None
    assert any("plots" in line for line in said)


def test_a_folder_of_something_else_is_not_emptied(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(TopicError, match="choose another folder"):
        demo.run_demo(tmp_path)
    assert (tmp_path / "thesis.txt").exists()
