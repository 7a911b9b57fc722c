from __future__ import annotations

from pathlib import Path

import pytest

from honeyguide.cli import main
from honeyguide.errors import HoneyguideError
from honeyguide.lab.runner.gate import (
    FLOORS,
    GUARDED,
    Check,
    Floors,
    check_floors,
    raised,
    read_floors,
    write_floors,
)
from honeyguide.lab.runner.load import load_experiment
from honeyguide.lab.runner.results import Mean, Results, Summary

AREA = "area_of_oracle"


def results(**areas: float) -> Results:
    return Results(
        "quick",
        "Quick",
        "0",
        {"web": "1"},
        summaries=tuple(
            Summary(name, "all", "keywords", {AREA: Mean(area, area, area, 4, 4)})
            for name, area in areas.items()
        ),
    )


def test_floors_are_committed_for_every_recipe_of_the_quick_set() -> None:
    floors = read_floors()
    assert FLOORS.exists()
    rows = {entry.row for entry in load_experiment(floors.experiment).experiment.recipes}
    assert set(floors.floors) <= rows
    assert all(set(GUARDED) == set(row) for row in floors.floors.values())


def test_a_mean_below_its_floor_is_found() -> None:
    floors = Floors(floors={"a": {AREA: 0.5}, "b": {AREA: 0.5}, "gone": {AREA: 0.1}})
    checks = {one.recipe: one.state for one in check_floors(results(a=0.5, b=0.49, c=0.1), floors)}
    assert checks == {"a": "ok", "b": "below", "c": "new", "gone": "gone"}


def test_update_raises_and_never_lowers() -> None:
    floors = Floors(floors={"a": {AREA: 0.5}, "b": {AREA: 0.5}})
    fresh = raised(floors, check_floors(results(a=0.9, b=0.502), floors), {})
    assert fresh.floors == {"a": {AREA: 0.895}, "b": {AREA: 0.5}}


def test_lowering_needs_the_flag_and_a_reason_which_is_kept(tmp_path: Path) -> None:
    floors = Floors(floors={"a": {AREA: 0.5}})
    checks = check_floors(results(a=0.4), floors)
    with pytest.raises(HoneyguideError, match="--allow-regression"):
        raised(floors, checks, {})
    with pytest.raises(HoneyguideError, match="--reason"):
        raised(floors, checks, {}, allow_regression=True, reason=" ")
    fresh = raised(floors, checks, {}, allow_regression=True, reason="a bug was counted as a hit")
    path = tmp_path / "floors.json"
    write_floors(fresh, path)
    kept = read_floors(path)
    assert kept.floors["a"][AREA] == pytest.approx(0.395)
    assert kept.lowered[0].reason == "a bug was counted as a hit"
    assert kept.lowered[0].before == 0.5
    assert [one.name for one in tmp_path.iterdir()] == ["floors.json"]


def test_a_check_without_a_floor_does_not_shut_the_gate() -> None:
    assert Check("a", AREA, None, 0.1).state == "new"


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "floors.json").write_text("[")
    with pytest.raises(HoneyguideError, match="restore it from version control"):
        read_floors(tmp_path / "floors.json")


def test_flags_without_update_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "gate", "--allow-regression"]) == 2
    assert "add --update" in capsys.readouterr().err
