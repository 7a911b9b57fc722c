"""The verbs of experiments on the command line: what is typed, what comes back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from honeyguide.cli import main

TINY = """
title = "Tiny"
webs = ["generated:5:300"]
budget = 30
[[generate]]
levels = 1
count = 2
minimum = 8
[[recipes]]
name = "breadth-first"
[[recipes]]
name = "random"
[[recipes]]
name = "best-first"
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path


def test_run_and_compare(tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    words = ["lab", "run", str(tiny), "--only", "random", "best-first", "--jobs", "1"]
    assert main([*words, "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "oracle (upper bound)\t" in shown
    assert "breadth-first" not in shown
    results = out / "results.json"
    assert main([*words, "--out", str(out), "--json"]) == 0
    assert capsys.readouterr().out.encode() == results.read_bytes()
    assert main(["lab", "compare", str(out), "--recipes", "random", "best-first", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["recipe"], row["against"]) == ("random", "best-first")
    assert row["topics"] == 2


def test_compare_needs_two_sides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "compare", str(tmp_path / "a.json")]) == 2
    assert "--recipes FIRST SECOND" in capsys.readouterr().err


def test_a_typo_in_the_name_or_in_only_is_one_line(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "run", "web-kb"]) == 2
    assert "did you mean 'webkb'" in capsys.readouterr().err
    assert main(["lab", "run", str(tiny), "--only", "bestfirst", "--out", str(tiny.parent / "o")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "no recipe 'bestfirst'" in error


def test_a_study_has_no_recipes_to_choose_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "run", "verdicts", "--only", "best-first", "--out", str(tmp_path / "o")]) == 2
    assert "leave --only out" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()
