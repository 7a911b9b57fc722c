"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public data sets, or a skip with a message where it is absent."""
    named = os.environ.get("HONEYGUIDE_DATA")
    root = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not root.is_dir():
        pytest.skip(f"no data sets at {root}: set HONEYGUIDE_DATA to the folder that holds them")
    return root
