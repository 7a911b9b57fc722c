"""Hosts that are left alone, as the story of a waiting address and the live view tell it."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec

from honeyguide.collection.catalogue import Catalogue
from honeyguide.collection.overview import look
from honeyguide.collection.story import tell
from honeyguide.store.state import State
from honeyguide.testing.made_collection import MadeCollection


def put_off(folder: Path, **seconds: float) -> None:
    """Have hosts left alone for so many seconds, after two failures."""
    with State.open(folder / "state.sqlite") as state:
        hosts = {host.name: host for host, _ in state.hosts()}
        for name, wait in seconds.items():
            host = hosts[f"{name}.example"]
            state.save_hosts([(msgspec.structs.replace(host, ready_at=time.time() + wait, failures=2), 0.0)])
        state.commit()


def test_what_a_crawl_waits_for(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    with MadeCollection(folder) as made:
        for host in ("busy", "idle"):
            made.address(f"http://{host}.example/", host=f"{host}.example")

    def told() -> tuple[str, str]:
        with State.open(folder / "state.sqlite", read_only=True) as state:
            rests = look(state, Catalogue(), now=time.time()).rests
            assert look(state, Catalogue(), now=None).rests == ""
            return tell(state, "http://busy.example/").reason, rests

    assert told() == ("", "")
    put_off(folder, busy=3600)
    reason, rests = told()
    assert reason.startswith("busy.example is left alone until 20")
    assert reason.endswith(" UTC, after 2 failed requests in a row")
    assert rests == ""  # the other host may be asked
    put_off(folder, idle=1800)
    assert told()[1].startswith("idle.example is left alone until 20")
