"""What a transaction holds, and when."""

from __future__ import annotations

from pathlib import Path

from honeyguide.engine.budget import Tally
from honeyguide.engine.committer import INDEX_CHANGES, INDEX_SECONDS, Committer, Stores
from honeyguide.frontier import Frontier
from honeyguide.store.index import FullText
from honeyguide.store.state import State


def test_the_index_waits_for_more_pages_but_not_long(tmp_path: Path) -> None:
    state = State.open(tmp_path / "state.sqlite")
    index = FullText.open(tmp_path / "index.sqlite")
    committer = Committer(Stores(state, index=index), Frontier(state), Tally())
    reader = FullText.open(tmp_path / "index.sqlite", read_only=True)

    def put(row: int) -> None:
        index.add(row, f"http://a.example/{row}", title="Owls", text="owls at night")

    def holds() -> bool:
        return committer.holds

    def indexed() -> int:
        index.size()  # waits for what goes on in the index's own thread
        return reader.count("owls")

    put(1)
    committer.commit(10.0, going_on=True)
    assert indexed() == 1  # the first at once
    put(2)
    assert holds()
    committer.commit(10.5, going_on=True)
    assert indexed() == 1
    assert holds()  # so the crawl comes back to it, whatever happens
    committer.commit(10.0 + INDEX_SECONDS, going_on=True)
    assert indexed() == 2
    assert not holds()
    for row in range(3, 3 + INDEX_CHANGES):
        put(row)
    committer.commit(11.1, going_on=True)
    assert indexed() == 2 + INDEX_CHANGES
    put(99)
    committer.commit(11.2)  # nothing is going on: it is there when this is over
    assert reader.count("owls") == 3 + INDEX_CHANGES
    for each in (reader, index, state):
        each.close()
