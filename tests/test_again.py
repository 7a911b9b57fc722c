"""One more try is for real-time tests only, and is told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SUPPORT = Path(__file__).parent / "support"
OPTIONS = "[pytest]\nmarkers = realtime\n"
FLAKY = """
import pathlib, pytest

@pytest.mark.realtime
def test_slow_server():
    mark = pathlib.Path("tried")
    known = mark.exists()
    mark.touch()
    assert known

def test_fine():
    pass
"""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "again", *words]
    # Without the plug-ins of this environment, which take two seconds to load each time.
    environment = {**os.environ, "PYTHONPATH": str(SUPPORT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text(OPTIONS)
    (tmp_path / "test_flaky.py").write_text(FLAKY)
    return tmp_path


def test_a_real_time_test_that_passes_alone_is_a_warning(folder: Path) -> None:
    assert run(folder).returncode == 1
    again = run(folder, "--again")
    assert again.returncode == 0, again.stdout
    assert "1 passed, 1 deselected" in again.stdout
    assert "test_flaky.py::test_slow_server failed at first and passed alone" in again.stdout
    nothing = run(folder, "--again")
    assert nothing.returncode != 0, "a run that failed for another reason must not turn into a success"


def test_other_failures_stand(folder: Path) -> None:
    (folder / "test_wrong.py").write_text("def test_wrong():\n    assert False\n")
    assert run(folder).returncode == 1
    again = run(folder, "--again")
    assert again.returncode != 0
    assert "these failed: test_wrong.py::test_wrong" in again.stderr + again.stdout
    assert "passed" not in again.stdout
