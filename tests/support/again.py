"""`pytest --again`: one more try, alone, for the tests that work in real time.

Servers, browsers and signals may take longer than a test can bear when the machine is crowded. Such tests are
marked `realtime`. All others give the same answer every time, so a failure of theirs stands.
"""

from __future__ import annotations

import os

import pytest

FAILED = "cache/lastfailed"
"""Where pytest keeps the names of the tests that failed and have not passed since."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--again",
        action="store_true",
        help="try the real-time tests that failed last time once more; fail at once if any other test failed",
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--again") or config.cache is None:
        return
    failed = set(config.cache.get(FAILED, {}))
    chosen = [item for item in items if item.nodeid in failed and item.get_closest_marker("realtime")]
    final = sorted(failed - {item.nodeid for item in chosen})
    if final:
        raise pytest.UsageError("only real-time tests may be tried again; these failed: " + ", ".join(final))
    if not chosen:
        raise pytest.UsageError("no test failed last time, so nothing can be tried again")
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Name each test that passed now; GitHub shows such lines beside the change."""
    if not config.getoption("--again"):
        return
    for report in terminalreporter.stats.get("passed", []):
        prefix = "::warning::" if "GITHUB_ACTIONS" in os.environ else "WARNING: "
        told = f"{prefix}{report.nodeid} failed at first and passed alone; it should wait for a condition"
        terminalreporter.write_line(told, yellow=True)
