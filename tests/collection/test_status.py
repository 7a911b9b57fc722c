"""Where a crawl stands: one that was killed does not run."""

from __future__ import annotations

import time
from pathlib import Path

from honeyguide.collection.collection import BROKEN_OFF, Collection
from honeyguide.store.layout import Layout
from honeyguide.store.state import State
from honeyguide.testing.made_collection import MadeCollection
from honeyguide.ui.watch import stands


def test_a_session_without_an_end_runs_only_while_somebody_holds_the_lock(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    with MadeCollection(folder) as made:
        made.page("http://a.example/", title="A", text="a")
    layout = Layout(folder)
    with State.open(layout.state_file) as state, Collection.open(folder) as collection:
        state.start_session(time.time(), version="made")
        state.commit()
        assert (collection.status().running, collection.status().reason) == (True, "")
        lock = layout.lock_file.with_name(layout.lock_file.name + ".lock")
        lock.write_text("999999999\n")  # nobody's number
        assert (collection.status().running, collection.status().reason) == (False, BROKEN_OFF)
        assert stands(collection.state, layout).reason == BROKEN_OFF
