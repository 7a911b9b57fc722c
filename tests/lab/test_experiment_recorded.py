"""Experiments on a recorded web: sites, services, and recipes that try to look ahead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from honeyguide import ordering
from honeyguide.engine.clock import VirtualClock
from honeyguide.errors import HoneyguideError
from honeyguide.lab.runner.crawl_cell import bench, texts
from honeyguide.lab.runner.load import Loaded, check_experiment
from honeyguide.lab.runner.recorded_world import open_world
from honeyguide.lab.runner.runner import cells_of, run_cells
from honeyguide.lab.runner.world import Asks
from honeyguide.lab.webs.recorded import open_web
from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.breadth_first import BreadthFirst
from honeyguide.store.archive import ArchiveWriter, Exchange

SITES = ("a", "b")


def pages(site: str) -> dict[str, str]:
    root = f"http://{site}.example"
    found = {
        f"{root}/": "<title>Root</title><p>start " + "".join(f'<a href="/p{n}">n{n}</a> ' for n in range(4))
    }
    for n in range(4):
        links = "".join(f'<a href="/p{n}/owl{k}">an owl</a> ' for k in range(3))
        found[f"{root}/p{n}"] = (
            f"<title>Page {n}</title><p>words about trains {links}<a href='http://b.example/'>b</a>"
        )
        for k in range(3):
            found[f"{root}/p{n}/owl{k}"] = f"<title>Owl {k}</title><p>the owl is a night bird number {n} {k}"
    return found


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("web")
    patch = pytest.MonkeyPatch()
    patch.setenv("HONEYGUIDE_HOME", str(folder / "home"))
    writer = ArchiveWriter(folder, prefix="owls", software="test", clock=lambda: 0.0, seed="t")
    rows = ["url\tsite\tlabel"]
    for site in SITES:
        for url, html in pages(site).items():
            head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
            writer.write_exchange(Exchange(url, 1.0, head, html.encode()))
            rows.append(f"{url}\t{site}\t{'birds/owls' if 'owl' in url else 'other'}")
    writer.close()
    (folder / "owls-00001.warc.gz").rename(folder / "owls.warc.gz")
    (folder / "owls.labels.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    yield str(folder / "owls.warc.gz")
    patch.undo()
    for cached in (open_world, bench, texts):
        cached.cache_clear()


def experiment(web: str, recipes: Sequence[dict[str, Any]], **more: Any) -> Loaded:
    values: dict[str, Any] = {
        "title": "Owls",
        "webs": [web],
        "sites": [{"name": site, "seeds": [f"http://{site}.example/"]} for site in SITES],
        "topics": [{"name": "owls", "labels": ["birds"], "keywords": ["owl"], "sites": list(SITES)}],
        "recipes": list(recipes),
        **more,
    }
    return Loaded("owls", "owls.toml", check_experiment(values))


def test_crawls_are_kept_in_their_site_and_find_what_is_there(web: str, tmp_path: Path) -> None:
    loaded = experiment(web, [{"name": "breadth-first"}, {"name": "best-first"}])
    run = run_cells(loaded, tmp_path)
    assert len(run.cells) == 6
    for cell, result in run.cells:
        assert result.record.reachable == 12
        assert result.pages_in_reach == result.budget == 17
        assert int(result.record.hits()[-1]) == 12, cell
        assert result.nearest_target == 2


def test_text_of_other_sites_leaves_the_crawled_one_out(web: str) -> None:
    assert len(texts(web, "other sites", "a", limit=100, seed=0)) == 17
    assert all(
        one.url.startswith("http://b.example/") for one in texts(web, "other sites", "a", limit=100, seed=0)
    )
    assert not any(one.label for one in texts(web, "other sites", "a", limit=100, seed=0))
    assert len(texts(web, "same site", "a", limit=5, seed=0)) == 5


def test_examples_of_other_sites_cost_no_targets(web: str, tmp_path: Path) -> None:
    given = {"examples": 2, "negatives": 2, "examples_from": "other sites"}
    loaded = experiment(web, [{"name": "best-first"}], given=given)
    cells, _ = cells_of(loaded)
    there = bench(loaded.experiment.model_dump_json(), cells[0].task, 0).situation
    assert len(there.targets) == 12
    assert all(url.startswith("http://b.example/") for url in (*there.examples, *there.negatives))


class Peeking(BreadthFirst):
    """A cheat: opens the recording and reads where its links lead."""

    web = ""

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        recorded = open_web(self.web)
        for link in links:
            recorded.page(link.id)
        return super().rank(page, verdict, links)


def test_a_recipe_that_reads_ahead_is_stopped(
    web: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Peeking.web = web
    monkeypatch.setitem(ordering.BUILT_IN, "peeking", f"{__name__}:Peeking")
    loaded = experiment(web, [{"name": "breadth-first", "label": "cheat", "ordering": {"order": "peeking"}}])
    with pytest.raises(HoneyguideError, match=r"cheat.*not fetched"):
        run_cells(loaded, tmp_path)
    # The recording is open again afterwards.
    assert open_web(web).page("http://a.example/") is not None


def test_services_are_given_only_as_far_as_the_experiment_says(web: str) -> None:
    world = open_world(web)
    assert world.replay(VirtualClock(), site="a", blocks=False, asks=Asks()).services == {}
    replay = world.replay(VirtualClock(), site="a", blocks=False, asks=Asks(backlinks=1.0))
    service: Any = replay.services["web"]
    assert service.backlinks("http://a.example/p0/owl1") == ("http://a.example/p0",)
    with pytest.raises(HoneyguideError, match="search = true"):
        service.search("owl")
    replay = world.replay(VirtualClock(), site="a", blocks=False, asks=Asks(search=True))
    service = replay.services["web"]
    assert all(hit.url.startswith("http://a.example/") for hit in service.search("owl", 5))
    with pytest.raises(HoneyguideError, match="gives no backlinks"):
        service.backlinks("http://a.example/p0")
