from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

Run: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def honeyguide(tmp_path: Path) -> Run:
    """Run the real program in an empty folder."""

    def run(*words: str, columns: int = 100) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "honeyguide", *words],
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run
