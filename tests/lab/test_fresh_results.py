"""The lab never shows old results: whatever decides a crawl makes it run again when it changes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import honeyguide

EXPERIMENT = """
title = "Fresh"
webs = ["generated:5:300"]
budget = 40
[[generate]]
levels = 1
count = 1
minimum = 5
[[recipes]]
name = "best-first"
[[recipes]]
name = "best-first"
label = "own"
ordering = {order = "own_order:Own"}
[[recipes]]
name = "best-first"
label = "plugged"
ordering = {order = "plugged"}
"""
OWN = """
from helper import FACTOR
from honeyguide.parts import LocalOrder, Scored

class Own(LocalOrder):
    def rank(self, page, verdict, links):
        return [Scored(place, FACTOR * verdict.score) for place, link in enumerate(links)]
"""
PLUGGED = """
from honeyguide.parts import LocalOrder, Scored

class Plugged(LocalOrder):
    def rank(self, page, verdict, links):
        return [Scored(place, 1.0) for place, link in enumerate(links)]
"""
# Which crawls an edit makes the runner run again: those whose key changes.
ASK = """
import json, sys
from pathlib import Path
from honeyguide.lab.runner import fingerprint
from honeyguide.lab.runner.load import load_experiment
from honeyguide.lab.runner.runner import cells_of

def keys():
    fingerprint.file_digest.cache_clear()
    return {cell.row: cell.key for cell in cells_of(load_experiment("fresh.toml"))[0]}

found = {}
before = keys()
assert keys() == before, "nothing changed, so everything is used"
for name in sys.argv[1:]:
    assert Path(name).exists(), name
    with Path(name).open("a") as source:
        source.write("\\nCHANGED = True\\n")
    after = keys()
    found[name] = sorted(row for row, key in after.items() if key != before[row])
    before = after
print(json.dumps(found))
"""
RUN = """
import json
from pathlib import Path
from honeyguide.lab.runner.load import load_experiment
from honeyguide.lab.runner.runner import run_cells
told = []
run = run_cells(load_experiment("fresh.toml"), Path("cells"), progress=told.append)
scores = {cell.row: sum(one.relevance for one in result.record.fetched) for cell, result in run.cells}
print(json.dumps({"kept": told[-1].kept, "scores": scores}))
"""
ALL = ["best-first", "oracle", "own", "plugged"]
CHANGES = {
    "site/honeyguide/ordering/best_first.py": ALL,
    "site/honeyguide/relevance/tf_cosine.py": ALL,
    "site/honeyguide/topic/patterns.py": ALL,
    "site/honeyguide/parse/links.py": ALL,
    "site/plugged_order.py": ALL,
    "own_order.py": ["own"],
    "helper.py": ["own"],
}
"""Link order, page model, topic rule, parser rule, plug-in, a part named by its module, what that imports."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package, an experiment with a module beside it, and an installed plug-in."""
    folder = tmp_path_factory.mktemp("fresh")
    source = Path(honeyguide.__file__).parent
    shutil.copytree(source, folder / "site" / "honeyguide", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "fresh.toml").write_text(EXPERIMENT)
    (folder / "own_order.py").write_text(OWN)
    (folder / "helper.py").write_text("FACTOR = 1.0\n")
    (folder / "site" / "plugged_order.py").write_text(PLUGGED)
    info = folder / "site" / "plugged_order-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged-order\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[honeyguide.ordering]\nplugged = plugged_order:Plugged\n")
    return folder


def told_by(folder: Path, script: str, *words: str) -> Any:
    """What a script says in a new process that uses the copy of the package."""
    done = subprocess.run(
        [sys.executable, "-c", script, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "site")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_change_of_any_part_runs_its_crawls_again(place: Path) -> None:
    assert told_by(place, ASK, *CHANGES) == CHANGES


@pytest.mark.slow
def test_the_runner_itself(place: Path) -> None:
    """Each change in turn, with real crawls; then priorities are inverted, and so is the result."""
    assert told_by(place, RUN)["kept"] == 0
    for name, again in CHANGES.items():
        assert told_by(place, RUN)["kept"] == len(ALL)
        with (place / name).open("a") as source:
            source.write("\nCHANGED_AGAIN = True\n")
        assert told_by(place, RUN)["kept"] == len(ALL) - len(again), name
    before = told_by(place, RUN)["scores"]
    (place / "helper.py").write_text("FACTOR = -1.0\n")
    after = told_by(place, RUN)["scores"]
    assert after["own"] != before["own"]
    assert after["best-first"] == before["best-first"]
