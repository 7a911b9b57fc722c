"""The Context Focused Crawler in the lab: set-up by the recorded web's own links, coverage, measures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from context_measures import rank_correlation
from honeyguide.lab.runner.crawl_cell import bench, texts
from honeyguide.lab.runner.load import Loaded, check_experiment, load_experiment
from honeyguide.lab.runner.recorded_world import open_world
from honeyguide.lab.runner.run import run_experiment
from honeyguide.lab.runner.runner import run_cells
from honeyguide.store.archive import ArchiveWriter, Exchange

ROOT = "http://uni.example"
OWL = "the barn owl hunts mice at night and nests in old barns with feather and egg"


def pages() -> dict[str, str]:
    """A root, departments, staff lists that lead to owls, and long ways that lead to nothing."""
    found = {f"{ROOT}/": "university portal " + "".join(f'<a href="/d{n}">d{n}</a> ' for n in range(6))}
    for n in range(6):
        word = "barn night old staff" if n < 2 else "trains timetable station"
        links = "".join(f'<a href="/d{n}/{k}">x{k}</a> ' for k in range(5))
        found[f"{ROOT}/d{n}"] = f"department {word} list {links}"
        for k in range(5):
            found[f"{ROOT}/d{n}/{k}"] = f"{OWL} {n} {k}" if n < 2 else f"train number {n} {k}"
    return {url: f"<title>{url[-4:]}</title><p>{text}" for url, text in found.items()}


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("web")
    patch = pytest.MonkeyPatch()
    patch.setenv("HONEYGUIDE_HOME", str(folder / "home"))
    writer = ArchiveWriter(folder, prefix="uni", software="test", clock=lambda: 0.0, seed="t")
    rows = ["url\tsite\tlabel"]
    for url, html in pages().items():
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
        writer.write_exchange(Exchange(url, 1.0, head, html.encode()))
        rows.append(f"{url}\tuni\t{'owls' if 'barn owl' in html else 'other'}")
    writer.close()
    (folder / "uni-00001.warc.gz").rename(folder / "uni.warc.gz")
    (folder / "uni.labels.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    yield str(folder / "uni.warc.gz")
    patch.undo()
    for cached in (open_world, bench, texts):
        cached.cache_clear()


def test_rows_of_the_experiment(web: str, tmp_path: Path) -> None:
    measures = [f"context_measures:{name}" for name in ("set_up", "backlink_mode", "layers")]
    unknown = {"source": "backlinks", "service": {"kind": "web", "coverage": 0.0}}
    values: dict[str, Any] = {
        "title": "Owls",
        "webs": [web],
        "budget": 20,
        "extra_measures": measures,
        "given": {"keywords": False, "examples": 3, "backlinks": 1.0},
        "sites": [{"name": "uni", "seeds": [f"{ROOT}/"]}],
        "topics": [{"name": "owls", "labels": ["owls"], "keywords": ["owl"], "sites": ["uni"]}],
        "recipes": [
            {"name": "cfc", "relevance": {"least_features": 2}},
            {"name": "cfc", "label": "no index", "discovery": [unknown]},
            {"name": "cfc-backlinks", "relevance": {"least_features": 2}},
            {"name": "cfc-bootstrap", "given": {"backlinks": 0.0}},
        ],
    }  # fmt: skip
    run = run_cells(Loaded("owls", "owls.toml", check_experiment(values)), tmp_path)
    extras = {cell.row: result.extras for cell, result in run.cells}
    pages_read = {row: facts.get("setup_pages") for row, facts in extras.items()}
    # Three examples, above them their departments and the root.
    assert pages_read["cfc"] in (2.0, 3.0)
    assert pages_read["no index"] == pages_read["cfc-bootstrap"] == 0.0
    assert extras["cfc"]["setup_places"] >= 3 + 3 + 3
    assert extras["cfc-backlinks"]["backlink_questions"] > 0
    assert extras["cfc"]["backlink_questions"] == 0
    assert extras["cfc"]["layer_distance_correlation"] > 0.0
    # Of the root, six departments and thirty pages, two departments are one link from an owl.
    assert extras["cfc"]["one_link_away"] == pytest.approx(2 / 37)
    hits = {cell.row: int(result.record.hits()[-1]) for cell, result in run.cells}
    assert hits["cfc"] == hits["oracle"] == 7, "seven owls are left; the way in was learned"


def test_correlation_of_ranks() -> None:
    assert rank_correlation([(0.0, 0), (1.0, 1), (5.0, 9)]) == pytest.approx(1.0)
    assert rank_correlation([(0.0, 3), (1.0, 2), (5.0, 1)]) == pytest.approx(-1.0)
    assert rank_correlation([(0.0, 1), (0.0, 2)]) == rank_correlation([]) == 0.0


def test_gains_by_topic_and_curves_by_group(web: str, tmp_path: Path) -> None:
    topics = "".join(
        f'[[topics]]\nname = "{name}"\nlabels = ["owls"]\nsites = ["uni"]\ngroup = "{name}"\n'
        for name in ("night owls", "owls")
    )
    recipes = "".join(f'[[recipes]]\nname = "{name}"\n' for name in ("breadth-first", "url-keywords"))
    (tmp_path / "owls.toml").write_text(
        f"""title = "Owls"
webs = ["{web}"]
budget = 12
sites = [{{name = "uni", seeds = ["{ROOT}/"]}}]
{topics}{recipes}[report]
baseline = "breadth-first"
harvest = "so far"
by_group = true
by_topic = ["url-keywords"]
"""
    )
    written = run_experiment(str(tmp_path / "owls.toml"), out=tmp_path / "out")
    table = next(one for one in written.tables if one.title == "Targets found, by topic")
    assert table.columns == ("topic", "links to the nearest", "targets", "breadth-first", "url-keywords")
    hits = {row.recipe: round((row.measures["recall"] or 0) * row.reachable) for row in written.results.rows}
    gain = hits["url-keywords"] / hits["breadth-first"] - 1
    first = (
        "night owls @ uni",
        "2",
        "10",
        f"{hits['breadth-first']}",
        f"{hits['url-keywords']} ({gain:+.0%})",
    )
    assert table.rows[0] == first
    assert ("mean gain, owls", "", "", "", f"{gain:+.0%}") in table.rows
    assert {"curves.svg", "curves-night-owls.svg", "curves-owls.png"} <= {
        one.name for one in (tmp_path / "out").iterdir()
    }


def test_the_experiment_that_comes_with_honeyguide_is_valid() -> None:
    experiment = load_experiment("studies/context-graph.toml").experiment
    assert {"schools", "webkb"} == set(experiment.webs)
    assert {"breadth-first", "best-first", "CFC", "CFC backlink mode", "CFC bootstrapped"} <= {
        entry.row for entry in experiment.recipes
    }
