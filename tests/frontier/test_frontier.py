"""The frontier's promises, one by one. Random lives are in test_frontier_machine.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from honeyguide.errors import CollectionError
from honeyguide.frontier import Found, Frontier
from honeyguide.model import Host, Outcome
from honeyguide.store.records import PageRecord
from honeyguide.store.state import State


def found(number: int, priority: float = 0.5, *, host: str = "a.example", **fields: object) -> Found:
    return Found(
        url=f"http://{host}/{number}",
        id=number,
        host=host,
        domain=".".join(host.split(".")[-2:]),
        priority=priority,
        **fields,  # type: ignore[arg-type]
    )


def popped(frontier: Frontier, now: float = 0.0) -> int:
    waiting = frontier.pop(now)
    return waiting.row if waiting else 0


def rounded(found: tuple[list[float], int]) -> tuple[list[float], int]:
    return [round(priority, 3) for priority in found[0]], found[1]


@pytest.fixture
def state() -> State:
    return State.open(None)


def test_one_url_a_host_until_release(state: State) -> None:
    frontier = Frontier(state)
    frontier.add([found(1), found(2), found(3, 0.1, host="b.example")])
    assert [popped(frontier), popped(frontier), popped(frontier)] == [1, 3, 0]
    assert frontier.next_ready(0.0) is None
    frontier.finish(1, Outcome.FETCHED)
    frontier.host("a.example").ready_at = 5.0
    frontier.release("a.example")
    assert frontier.next_ready(1.0) == 5.0
    assert [popped(frontier, 4.9), popped(frontier, 5.0)] == [0, 2]


def test_ties_go_to_the_url_found_first(state: State) -> None:
    frontier = Frontier(state)
    frontier.add([found(9, host="b.example"), found(8), found(7, host="c.example")])
    assert [popped(frontier), popped(frontier), popped(frontier)] == [1, 2, 3]


def test_what_is_under_way_is_not_among_the_best_that_wait(state: State) -> None:
    frontier = Frontier(state)
    frontier.add([found(1, 0.9), found(2, 0.8), found(3, 0.1, host="b.example")])
    assert popped(frontier) == 1
    assert rounded(frontier.best(0.0, 9, of_host=5.0)) == ([0.8, 0.1], 2)
    assert rounded(frontier.best(0.0, 9, of_host=1.0)) == ([0.8, 0.1], 2)
    assert rounded(frontier.best(0.0, 9, of_host=0.5)) == ([0.1], 1)


def test_a_host_shows_no_more_urls_than_it_can_give(state: State) -> None:
    frontier = Frontier(state)
    frontier.add([found(number, 1.0 - number / 100) for number in range(1, 9)])
    frontier.add([found(9, 0.5, host="b.example"), found(10, 0.4, host="b.example")])
    frontier.add([found(11, 0.3, host="c.example")])
    frontier.host("c.example").ready_at = 5.0
    frontier.touch(frontier.host("c.example"))
    assert rounded(frontier.best(1.0, 9, of_host=3.5)) == ([0.99, 0.98, 0.97, 0.5, 0.4], 5)
    assert rounded(frontier.best(1.0, 2, of_host=3.5)) == ([0.99, 0.98], 5)
    assert rounded(frontier.best(1.0, 9, of_host=1.0)) == ([0.99, 0.5], 2)
    assert rounded(frontier.best(5.0, 1, of_host=9.0)) == ([0.99], 11)


def test_blocked_host_waits_and_others_go_first(state: State) -> None:
    frontier = Frontier(state)
    frontier.add([found(1, 0.9), found(2, 0.1, host="b.example")])

    def blocked(host: Host) -> float:
        return 3.0 if host.name == "a.example" else 0.0

    waiting = frontier.pop(0.0, blocked=blocked)
    assert waiting is not None
    assert waiting.host == "b.example"
    assert frontier.next_ready(0.0) == 3.0
    assert frontier.pop(2.0, blocked=blocked) is None
    assert popped(frontier, 3.0) == 1


def test_host_records_changed_without_touch_are_still_respected(state: State) -> None:
    frontier = Frontier(state)
    frontier.add([found(1)])
    frontier.host("a.example").ready_at = 2.0
    assert popped(frontier, 1.0) == 0
    assert popped(frontier, 2.0) == 1


@pytest.mark.parametrize(
    ("combine", "priority", "anchor"),
    [("max", 0.5, "old"), ("sum", 0.75, "new"), ("latest", 0.25, "new"), ("first", 0.5, "old")],
)
@pytest.mark.parametrize("written", [False, True])
def test_found_again(state: State, combine: str, priority: float, anchor: str, written: bool) -> None:
    frontier = Frontier(state)
    frontier.add([found(1, 0.5, anchor="old", depth=1)], combine)
    if written:
        frontier.flush()
    assert frontier.add([found(1, 0.25, anchor="new", depth=2)], combine) == [1]
    waiting = frontier.pop(0.0)
    assert waiting is not None
    assert (waiting.priority, waiting.anchor) == (priority, anchor)
    assert waiting.depth == (2 if anchor == "new" else 1)
    frontier.flush()
    record = state.url_by_row(1)
    assert record is not None
    assert (record.priority, record.anchor, frontier.known) == (priority, anchor, 1)


def test_same_url_twice_in_a_batch(state: State) -> None:
    frontier = Frontier(state)
    assert frontier.add([found(5, 0.1), found(6), found(5, 0.9, anchor="better")]) == [1, 2, 1]
    waiting = frontier.pop(0.0)
    assert waiting is not None
    assert (waiting.row, waiting.priority, waiting.anchor) == (1, 0.9, "better")
    assert frontier.counts == {Outcome.WAITING: 2}


def test_left_out_by_the_order_and_brought_back(state: State) -> None:
    frontier = Frontier(state)
    frontier.add([found(1, 0.0, outcome=Outcome.ORDER, reason="weak"), found(2, outcome=Outcome.SCOPE)])
    frontier.flush()
    assert popped(frontier) == 0
    record = state.url_by_row(1)
    assert record is not None
    assert (record.status, record.reason, record.host) == (Outcome.ORDER, "weak", 0)
    frontier.add([found(1, 0.3), found(2, 0.9)])
    frontier.flush()
    assert popped(frontier) == 1
    record = state.url_by_row(1)
    assert record is not None
    assert (record.status, record.reason, record.host) == (Outcome.WAITING, "", 1)
    assert frontier.counts == {Outcome.WAITING: 1, Outcome.SCOPE: 1}


def test_dropped_urls_make_no_hosts(state: State) -> None:
    frontier = Frontier(state)
    frontier.add([found(1, host="off.example", outcome=Outcome.SCOPE)])
    with pytest.raises(KeyError):
        frontier.host("off.example")


def test_domain_cap(state: State) -> None:
    frontier = Frontier(state, max_pages_per_domain=1)
    frontier.add([found(1, host="x.a.example"), found(2, host="y.a.example"), found(3, host="z.b.example")])
    assert popped(frontier) == 1
    frontier.finish(1, Outcome.FETCHED)
    frontier.release("x.a.example")
    assert popped(frontier) == 3
    assert frontier.status_of(2) is Outcome.DOMAIN_CAP
    frontier.add([found(4, host="x.a.example"), found(5, host="new.a.example")])
    assert frontier.counts == {Outcome.FETCHED: 1, Outcome.WAITING: 1, Outcome.DOMAIN_CAP: 3}


def test_domain_cap_holds_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    with State.open(path) as state:
        frontier = Frontier(state, max_pages_per_domain=1)
        frontier.add([found(1, 0.9, host="x.a.example"), found(2, host="y.a.example")])
        assert popped(frontier) == 1
        frontier.finish(1, Outcome.FETCHED)
        frontier.flush()
        state.commit()
    with State.open(path) as state:
        frontier = Frontier(state, max_pages_per_domain=1)
        assert frontier.waiting == 1
        frontier.add([found(3, host="y.a.example"), found(4, host="z.a.example")])
        assert frontier.counts == {Outcome.FETCHED: 1, Outcome.WAITING: 1, Outcome.DOMAIN_CAP: 2}
        assert popped(frontier) == 0
        assert frontier.status_of(2) is Outcome.DOMAIN_CAP


def test_check_and_queue_lengths(state: State) -> None:
    frontier = Frontier(state)
    frontier.add([found(1), found(2), found(3, host="b.example")])
    assert popped(frontier) == 1
    assert (frontier.queued("a.example"), frontier.queued("b.example"), frontier.queued("c")) == (1, 1, 0)
    assert frontier.check() == []
    state.columns().status[2] = Outcome.FETCHED
    assert "known 3" in frontier.check()[0]


def test_given_up_host_ends_its_urls(state: State) -> None:
    frontier = Frontier(state)
    frontier.add([found(1), found(2)])
    assert popped(frontier) == 1
    frontier.host("a.example").given_up = True
    frontier.finish(1, Outcome.TIMEOUT, "no answer")
    assert frontier.drop_host("a.example", Outcome.HOST_GIVEN_UP, "5 failures") == 1
    frontier.release("a.example")
    frontier.add([found(3)])
    frontier.flush()
    assert frontier.waiting == 0
    assert frontier.status_of(3) is Outcome.HOST_GIVEN_UP
    records = [state.url_by_row(row) for row in (1, 2)]
    assert [record.reason for record in records if record] == ["no answer", "5 failures"]


def test_demoted_host_goes_behind_and_stays_there(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    with State.open(path) as state:
        frontier = Frontier(state)
        frontier.add([found(1, 0.9), found(2, 0.1, host="b.example")])
        frontier.demote_host("a.example", 1.0)
        frontier.flush()
        state.commit()
    with State.open(path) as state:
        frontier = Frontier(state)
        assert [popped(frontier), popped(frontier)] == [2, 1]


@pytest.mark.parametrize("written", [False, True])
def test_put_back_counts_tries_and_keeps_them(tmp_path: Path, written: bool) -> None:
    path = tmp_path / "state.sqlite"
    with State.open(path) as state:
        frontier = Frontier(state)
        frontier.add([found(1)])
        if written:
            frontier.flush()
        waiting = frontier.pop(0.0)
        assert waiting is not None
        frontier.put_back(waiting, tries=1)
        frontier.release("a.example")
        again = frontier.pop(0.0)
        assert again is not None
        assert again.tries == 1
        frontier.flush()
        state.commit()
    with State.open(path) as state:
        waiting = Frontier(state).pop(0.0)
        assert waiting is not None
        assert waiting.tries == 1


def test_uncommitted_life_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    with State.open(path) as state:
        frontier = Frontier(state)
        frontier.add([found(1), found(2)])
        frontier.flush()
        state.commit()
        assert popped(frontier) == 1
        frontier.finish(1, Outcome.FETCHED)
        frontier.add([found(3)])
        frontier.flush()
    with State.open(path) as state:
        frontier = Frontier(state)
        assert (frontier.known, frontier.waiting) == (2, 2)
        assert popped(frontier) == 1
        assert frontier.row_of(3) == 0


def test_graph_is_the_same_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    graphs = []
    with State.open(path) as state:
        frontier = Frontier(state, keep_graph=True)
        frontier.add([found(1)])
        assert popped(frontier) == 1
        rows = frontier.add([found(2), found(3, outcome=Outcome.SCOPE), found(1)])
        assert frontier.graph().waiting.tolist() == [False, True, False]
        frontier.finish(1, Outcome.FETCHED)
        frontier.set_links(1, rows)
        frontier.set_score(1, 0.75)
        state.save_page(PageRecord(row=1, number=1, at=0.0, score=0.75), rows)
        graphs.append(frontier.graph())
        frontier.flush()
        state.commit()
    with State.open(path) as state:
        graphs.append(Frontier(state, keep_graph=True).graph())
    for graph in graphs:
        assert graph.ids.tolist() == [1, 2, 3]
        assert graph.fetched.tolist() == [True, False, False]
        assert graph.waiting.tolist() == [False, True, False]
        assert graph.score.tolist() == [0.75, 0.0, 0.0]
        assert (graph.sources.tolist(), graph.targets.tolist()) == ([0, 0, 0], [1, 2, 0])


def test_earlier_graph_survives_growth(state: State) -> None:
    frontier = Frontier(state, keep_graph=True)
    frontier.add([found(1)])
    graph = frontier.graph()
    frontier.add([found(number) for number in range(2, 5000)])
    assert graph.ids.tolist() == [1]
    assert frontier.graph().size == 4999


def test_misuse_is_told(state: State) -> None:
    frontier = Frontier(state)
    frontier.add([found(1), found(2)])
    with pytest.raises(ValueError, match="not a number"):
        frontier.add([found(3, float("nan"))])
    with pytest.raises(ValueError, match="combine"):
        frontier.add([found(3)], "best")
    with pytest.raises(ValueError, match="keep_graph"):
        frontier.graph()
    with pytest.raises(ValueError, match="finite"):
        frontier.demote_host("a.example", float("inf"))
    waiting = frontier.pop(0.0)
    assert waiting is not None
    frontier.finish(waiting.row, Outcome.FETCHED)
    for row, outcome in ((waiting.row, Outcome.FETCHED), (2, Outcome.WAITING), (0, Outcome.ROBOTS)):
        with pytest.raises(ValueError, match="cannot end"):
            frontier.finish(row, outcome)
    with pytest.raises(ValueError, match="not in flight"):
        frontier.put_back(waiting)
    assert frontier.known == 2


def test_waiting_url_can_end_without_being_popped(state: State) -> None:
    frontier = Frontier(state)
    frontier.add([found(1, 0.9), found(2, 0.1)])
    frontier.finish(1, Outcome.ROBOTS)
    assert popped(frontier) == 2
    assert frontier.counts == {Outcome.ROBOTS: 1, Outcome.WAITING: 1}


def test_reprioritise_only_writes_what_changed(state: State) -> None:
    frontier = Frontier(state)
    frontier.add([found(1, 0.9), found(2, 0.5), found(3, 0.1)])
    assert frontier.reprioritise(np.array([np.nan, 0.5, 1.0, 7.0])) == 1
    assert popped(frontier) == 3


@pytest.mark.parametrize("spoil", ["host", "double"])
def test_inconsistent_state_is_refused(tmp_path: Path, spoil: str) -> None:
    path = tmp_path / "state.sqlite"
    with State.open(path) as state:
        frontier = Frontier(state)
        frontier.add([found(1), found(2)])
        frontier.flush()
        columns = state.columns()
        if spoil == "host":
            columns.hosts[1] = 40
        else:
            columns.ids[2] = 1
        state.append_changes(columns, np.array([1, 2], np.int32))
        state.commit()
    with State.open(path) as state, pytest.raises(CollectionError, match="restore"):
        Frontier(state)


def test_records_are_written_in_steps_that_do_not_hold_the_crawl_up(state: State) -> None:
    """A thousand take three milliseconds; those of a directory's pages were twenty thousand at once."""
    frontier = Frontier(state)
    written = []
    for first in range(0, 12_000, 2_000):
        frontier.add([found(number) for number in range(first + 1, first + 2_001)])
        written.append(state.connection.execute("SELECT count(*) FROM url").fetchone()[0])
    assert written == [0, 0, 6_000, 6_000, 6_000, 12_000]
