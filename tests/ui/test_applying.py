"""Processes that the portal starts end with it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from honeyguide.errors import HoneyguideError
from honeyguide.ui.applying import Applier
from honeyguide.ui.launch import Launcher


def test_nothing_is_started_once_the_portal_has_closed() -> None:
    launcher = Launcher()
    launcher.close()
    with pytest.raises(HoneyguideError, match="closing"):
        launcher.start(["version"])
    assert not launcher.running


def test_decisions_that_come_to_rest_while_the_portal_closes_start_nothing(tmp_path: Path) -> None:
    applier = Applier(tmp_path)
    asked = threading.Event()

    def wanted() -> bool:
        applier.close()  # the timer has gone off: it can no longer be cancelled
        asked.set()
        return True

    applier.soon(wanted)
    assert asked.wait(60)
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join(60)
    assert not applier.busy
