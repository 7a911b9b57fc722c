from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from honeyguide.errors import HoneyguideError
from honeyguide.lab.runner.cells import ORACLE, read_cell
from honeyguide.lab.runner.compare import compare, read_results
from honeyguide.lab.runner.crawl_cell import bench
from honeyguide.lab.runner.load import Loaded, check_experiment, experiment_names, load_experiment
from honeyguide.lab.runner.results import MEASURES, Results, joined
from honeyguide.lab.runner.run import run_experiment
from honeyguide.lab.runner.runner import Progress, cells_of, run_cells
from honeyguide.lab.runner.world import has_label

SMALL = """
title = "Small"
webs = ["generated:5:300"]
budget = 60
extra_measures = ["judged", "topic_tokens_in_urls", "hosts_reached"]

[[generate]]
levels = 1
count = 2
minimum = 8
seeds = {distance = 2}

[[recipes]]
name = "breadth-first"
[[recipes]]
name = "random"
[[recipes]]
name = "best-first"
label = "best with examples"
given = {examples = 3, keywords = false}
[[recipes]]
name = "pagerank"
ordering = {reorder_every = 20}

[[tables]]
title = "Precision"
columns = ["precision_at_0.1", "judged_precision"]

[[reference]]
title = "As published"
columns = ["", "A"]
rows = [["P", 0.5]]

[report]
paragraph = "By hand <b>."
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("experiment") / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture(scope="module")
def outcome(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("first")
    run_experiment(str(small), out=folder)
    return folder


def test_two_runs_give_the_same_bytes_also_in_other_processes(
    small: Path, outcome: Path, tmp_path: Path
) -> None:
    run_experiment(str(small), out=tmp_path, jobs=2)
    assert (tmp_path / "results.json").read_bytes() == (outcome / "results.json").read_bytes()
    assert (tmp_path / "results.md").read_bytes() == (outcome / "results.md").read_bytes()
    assert (tmp_path / "curves.svg").read_bytes() == (outcome / "curves.svg").read_bytes()


def test_times_are_kept_out_of_the_results(outcome: Path) -> None:
    assert "seconds" not in (outcome / "results.json").read_text()
    times = json.loads((outcome / "timing.json").read_text())
    assert times["pagerank"]["ordering_ms_per_page"] > 0


def test_finished_cells_are_not_run_again(small: Path, outcome: Path) -> None:
    told: list[Progress] = []
    loaded = load_experiment(str(small))
    run = run_cells(loaded, outcome / "cells", progress=told.append)
    assert told == [Progress(10, 10, 10)]
    cell = run.cells[1][0]
    path = outcome / "cells" / f"{cell.key}.cell"
    whole = path.read_bytes()
    path.write_bytes(whole[:50])
    again = run_cells(loaded, outcome / "cells")
    assert again.cells[1][1].record.fetched == run.cells[1][1].record.fetched
    assert read_cell(outcome / "cells", cell.key) is not None


def test_every_measure_is_there_and_the_oracle_is_the_upper_end(outcome: Path) -> None:
    results = read_results(outcome / "results.json")
    for row in results.rows:
        assert set(MEASURES) <= set(row.measures)
        assert row.measures["area_of_oracle"] is not None
    oracles = {row.pair: row for row in results.rows if row.recipe == ORACLE}
    for row in results.rows:
        best = oracles[row.pair].measures
        assert row.reachable == oracles[row.pair].reachable
        assert (row.measures["recall"] or 0) <= (best["recall"] or 0)
        assert (row.measures["requests"] or 0) >= (row.measures["pages"] or 0)
        assert (row.measures["area_by_requests"] or 0) <= (row.measures["area_of_oracle"] or 0)
    names = {row.recipe for row in results.rows}
    assert names == {"oracle", "breadth-first", "random", "best with examples", "pagerank"}
    assert "labels and graph (upper bound)" in {row.given for row in results.rows}
    assert "3 examples" in {row.given for row in results.rows}


def test_examples_are_targets_for_nobody(small: Path) -> None:
    loaded = load_experiment(str(small))
    without = loaded.experiment.model_copy(
        update={"recipes": tuple(one for one in loaded.experiment.recipes if not one.given)}
    )
    cells, _ = cells_of(loaded)
    shown = bench(loaded.experiment.model_dump_json(), cells[0].task, 0).situation
    plain = bench(without.model_dump_json(), cells[0].task, 0).situation
    assert len(shown.examples) == 3
    assert not set(shown.examples) & shown.targets
    assert len(plain.targets) > len(shown.targets)


def test_report_is_one_safe_page(outcome: Path) -> None:
    page = (outcome / "report.html").read_text()
    assert "By hand &lt;b&gt;." in page
    assert "oracle (upper bound)" in page
    assert "data:image/png;base64," in page
    assert "http://" not in page
    assert "src='data:" in page
    assert "As published" in (outcome / "results.md").read_text()


def test_only_some_recipes(small: Path, tmp_path: Path) -> None:
    loaded = load_experiment(str(small))
    run = run_cells(loaded, tmp_path, only=("random",))
    assert {cell.row for cell, _ in run.cells} == {"oracle", "random"}
    with pytest.raises(HoneyguideError, match="has no recipe 'randm'; did you mean 'random'"):
        run_cells(loaded, tmp_path, only=("randm",))


def test_compare_pairs_topics(outcome: Path) -> None:
    results = read_results(outcome / "results.json")
    same = compare(results, results)
    assert {one.test.difference for one in same} == {0.0}
    assert {one.better for one in same} == {""}
    other = compare(results, results, recipes=("best with examples", "breadth-first"))[0]
    assert other.test.topics == 2
    assert other.first - other.second == pytest.approx(other.test.difference, abs=1e-5)
    with pytest.raises(HoneyguideError, match="did you mean 'area_of_oracle'"):
        compare(results, results, measure="area_of_oracl")
    with pytest.raises(HoneyguideError, match="did you mean 'random'"):
        compare(results, results, recipes=("randm", "random"))


def test_bad_results_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"rows": 3}')
    with pytest.raises(HoneyguideError, match="holds no results"):
        read_results(tmp_path / "x.json")
    with pytest.raises(HoneyguideError, match="cannot read"):
        read_results(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('name = "random"', 'name = "randm"', "small.toml:16: .*did you mean 'random'"),
        ("budget = 60", "buget = 60", "small.toml:4: unknown key 'buget'; did you mean 'budget'"),
        ("budget = 60", 'budget = "much"', "small.toml:4: 'budget'"),
        ("minimum = 8", "minimun = 8", "small.toml:10: unknown key 'minimun'; did you mean 'minimum'"),
        ("{examples = 3,", "{exmples = 3,", "small.toml:20: unknown key 'exmples'; did you mean 'examples'"),
        ("{reorder_every = 20}", "{reorder_evry = 20}", "did you mean 'reorder_every'"),
        ('["judged",', '["jugded",', "small.toml:5: unknown extra measure 'jugded'; did you mean 'judged'"),
        ('label = "best with examples"', 'label = "random"', "two \\[\\[recipes\\]\\] are called 'random'"),
        ('webs = ["generated:5:300"]', "", "needs webs"),
        ('title = "Small"', "", "'title' is missing"),
        ("[report]", '[report]\nbaseline = "randum"', "unknown row 'randum'; did you mean 'random'"),
        ("levels = 1", "levels = ", "not valid TOML"),
        (
            "[report]",
            '[[tables]]\ntitle = "T"\ncolumns = ["judged_recal"]\n[report]',
            "unknown measure 'judged_recal'; did you mean 'judged_recall'",
        ),
    ],
)
def test_a_typo_is_one_line_with_the_nearest_name(
    tmp_path: Path, before: str, after: str, message: str
) -> None:
    path = tmp_path / "small.toml"
    assert before in SMALL
    path.write_text(SMALL.replace(before, after, 1))
    with pytest.raises(HoneyguideError, match=message) as caught:
        load_experiment(str(path))
    assert "\n" not in str(caught.value)


ROOT = Path(__file__).parents[2]
STUDIES = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "studies").glob("*.toml"))]


@pytest.mark.parametrize("name", [*experiment_names(), *STUDIES])
def test_committed_experiments_are_valid(name: str) -> None:
    assert load_experiment(name).experiment.title


def test_unknown_experiments_webs_and_labels(tmp_path: Path) -> None:
    with pytest.raises(HoneyguideError, match="no experiment 'quik'; did you mean 'quick'"):
        load_experiment("quik")
    with pytest.raises(HoneyguideError, match="cannot read the experiment"):
        load_experiment(str(tmp_path / "none.toml"))
    values: dict[str, object] = {
        "title": "x",
        "webs": ["generated:5:300"],
        "recipes": [{"name": "random"}],
        "topics": [{"name": "t", "labels": ["beekeping"]}],
    }
    loaded = Loaded("x", "x.toml", check_experiment(values))
    with pytest.raises(HoneyguideError, match=r"no page labelled 'beekeping'.*did you mean"):
        run_cells(loaded, tmp_path)
    for web in ("generated:5", "no-such-web"):
        loaded = Loaded("x", "x.toml", check_experiment({**values, "webs": [web]}))
        with pytest.raises(HoneyguideError, match=r"generated|no recorded web"):
            run_cells(loaded, tmp_path)


def test_a_search_engine_is_not_promised_on_generated_webs(small: Path, tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(small.read_text() + "\n[given]\nsearch = true\n")
    with pytest.raises(HoneyguideError, match="no search engine"):
        run_experiment(str(path), out=tmp_path / "out", only=("random",))


def test_labels_match_by_whole_parts() -> None:
    assert has_label(["a/b/c"], ["a/b"])
    assert not has_label(["a/bc"], ["a/b"])


def test_descriptions_join_where_only_numbers_differ() -> None:
    assert joined(["1,200 texts", "900 texts"]) == "900-1,200 texts"
    assert joined(["keywords", "nothing"]) == "keywords / nothing"
    assert isinstance(Results("a", "b", "c", {}), Results)


def test_a_study_writes_the_same_kind_of_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "counting.py").write_text(
        "from honeyguide.lab.runner.study import StudyResult, StudyTable\n"
        "def run(options, *, data, progress, jobs):\n"
        "    progress('counting')\n"
        "    table = StudyTable('Counts', ('n',), ((options['upto'],),))\n"
        "    return StudyResult((table,), notes=('counted',), timing={'all': 1.5})\n"
    )
    monkeypatch.setattr(sys, "path", [*sys.path])
    path = tmp_path / "count.toml"
    path.write_text('title = "Count"\nkind = "study"\nstudy = "counting"\noptions = {upto = 3}\n')
    written = run_experiment(str(path), out=tmp_path / "out")
    assert written.results.tables[0]["rows"] == ((3,),)
    assert "| 3 |" in (tmp_path / "out" / "results.md").read_text()
    assert "1.5" not in (tmp_path / "out" / "results.json").read_text()
    path.write_text('title = "Count"\nkind = "study"\nstudy = "countin"\n')
    with pytest.raises(
        HoneyguideError, match=r"count\.toml:3: no study 'countin' in [^;]+; did you mean 'counting'"
    ):
        load_experiment(str(path))
