"""The figures of speed in the documentation are those that the benchmarks wrote down."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def table() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_table", ROOT / "benchmarks" / "table.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_page_says_what_the_file_says(table: ModuleType) -> None:
    page = (ROOT / "docs" / "reliability.md").read_text()
    facts = json.loads((ROOT / "docs" / "bench.json").read_text())
    assert table.with_figures(page, facts) == page
    assert len(list(table.rows(facts))) >= 10
    assert "Scrapy" in table.markdown(facts)


def test_other_figures_give_another_page(table: ModuleType) -> None:
    page = (ROOT / "docs" / "reliability.md").read_text()
    facts = json.loads((ROOT / "docs" / "bench.json").read_text())
    facts["drip"]["ratio"] = 0.123
    changed = table.with_figures(page, facts)
    assert "0.12" in changed
    assert changed != page


def test_marks_are_told_as_met_or_not(table: ModuleType) -> None:
    assert table.Row("a", 0.9, 0.8).met is False
    assert table.Row("a", 0.9, 0.8, least=True).met is True
    facts = {
        **{
            "drip": {"hosts": 1000, "ratio": 0.77, "longest_block_ms": 12.0},
            "date": "",
            "commit": "",
            "minutes": 1,
        },
        "machine": {"python": "3", "cores": 2, "load_before": 0, "load_after": 0},
    }
    lines = table.table(facts).splitlines()
    assert "not met" in lines[1]
    assert "not met" not in lines[2]


def test_a_page_without_a_place_is_refused(table: ModuleType) -> None:
    with pytest.raises(SystemExit):
        table.with_figures("nothing", {})
