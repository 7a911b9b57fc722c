from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from warm import run_command

Run: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def honeyguide(tmp_path: Path) -> Run:
    """Run the real program in an empty folder."""

    def run(*words: str, columns: int = 100) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1"}
        return run_command(*words, cwd=tmp_path, env=environment, timeout=60)

    return run
