"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["again", "installed_plugin", "waiting_first"]

# How long an example takes says nothing on a shared machine; the first call of machine code compiles it, too.
_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# `make test` gives the same answer every time; `make lab` looks further, with examples drawn anew.
settings.register_profile("same", _PATIENT, derandomize=True)
settings.register_profile("explore", _PATIENT, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


# What the tests make must not look like this user's own.
_STATE = tempfile.TemporaryDirectory(prefix="honeyguide-state-", ignore_cleanup_errors=True)
os.environ.setdefault("HONEYGUIDE_STATE", _STATE.name)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public data sets, or a skip with a message where it is absent."""
    named = os.environ.get("HONEYGUIDE_DATA")
    root = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not root.is_dir():
        pytest.skip(f"no data sets at {root}: set HONEYGUIDE_DATA to the folder that holds them")
    return root


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the figures that tests measured (`record_property("figure", ...)`), also with pytest-xdist."""
    lines = [
        str(value)
        for report in terminalreporter.stats.get("passed", [])
        for name, value in report.user_properties
        if name == "figure"
    ]
    if lines:
        terminalreporter.section("figures")
        for line in sorted(lines):
            terminalreporter.write_line(line)
