"""The tutorial notebook runs from top to bottom."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

NOTEBOOK = Path(__file__).parents[2] / "docs" / "tutorial.ipynb"
RUN = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], 4)
nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
shown = [kind for output in outputs for kind in output.get("data", ())]
assert "text/html" in shown and "image/svg+xml" in shown, shown
"""


def test_the_tutorial_runs(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(NOTEBOOK)], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
