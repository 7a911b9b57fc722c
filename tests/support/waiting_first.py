"""The order of test files when several processes share them: those that wait in turn with those that compute.

pytest-xdist would begin with the files of most tests, and end with a few slow ones of the browser while the
other processes have nothing left to do.
"""

from __future__ import annotations

from itertools import zip_longest

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    files: dict[str, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.nodeid.partition("::")[0], []).append(item)
    waiting: list[list[pytest.Item]] = []
    computing: list[list[pytest.Item]] = []
    for those in files.values():
        waits = any(item.get_closest_marker("realtime") for item in those)
        (waiting if waits else computing).append(those)
    # Of those that compute, the long ones first: many tests are the best guess there is.
    computing.sort(key=len, reverse=True)
    turns = zip_longest(waiting, computing)
    items[:] = [item for pair in turns for those in pair if those for item in those]
