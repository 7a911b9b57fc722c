"""Lab files that the documentation shows are read and checked: every recipe, option and measure is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from honeyguide.lab.runner.load import load_experiment

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = [
    (f"{path.relative_to(ROOT)}#{number}", match[1])
    for path in sorted((ROOT / "docs").rglob("*.md"))
    for number, match in enumerate(FENCE.finditer(path.read_text()))
    if re.search(r"^webs = ", match[1], re.MULTILINE)
]


def test_there_is_one() -> None:
    assert SHOWN


@pytest.mark.parametrize(("name", "text"), SHOWN, ids=[name for name, _ in SHOWN])
def test_shown_lab_files_are_accepted(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / "shown.toml"
    file.write_text(text)
    assert load_experiment(str(file)).experiment.recipes, name


@pytest.mark.parametrize("file", sorted((ROOT / "studies").glob("*.toml")), ids=lambda file: file.stem)
def test_studies_are_accepted(file: Path) -> None:
    assert load_experiment(str(file)).experiment.title
