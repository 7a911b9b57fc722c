"""The log of changes is rewritten in portions, and gives the present values at any time."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from honeyguide.store import change_log
from honeyguide.store.change_log import ChangeLog
from honeyguide.store.columns import RECORD, Columns
from honeyguide.store.records import NewUrl
from honeyguide.store.state import State

ROWS = 60
MORE = 40
LONGEST = 2_000
"""Bytes beyond twice the shortest form, in these tests."""


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_log, "COMPACT_AT", LONGEST)
    monkeypatch.setattr(change_log, "PORTION", 4)
    monkeypatch.setattr(change_log, "AT_ONCE", 7)
    monkeypatch.setattr(change_log, "ENTRIES", 40)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "birds" / "state.sqlite"


def url_row(row: int) -> NewUrl:
    return (row, row * 100, f"http://e.example/{row}", 1, 0, 0.5, 1, 0, 0, 0, *("link", "", "", "", "", ""))


class Crawl:
    """Learns of URLs and changes its mind about them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.state = State.open(path)
        self.columns = self.state.columns()
        self._random = random.Random(7)

    def learn_of(self, count: int) -> list[int]:
        first = self.columns.extend(count)
        rows = list(range(first, first + count))
        self.columns.ids[rows] = np.array(rows) * 100
        self.state.add_urls([url_row(row) for row in rows])
        return rows

    def turn(self, *, new: int = 0, changed: int = 3) -> None:
        rows = self._random.sample(range(1, self.columns.size + 1), min(changed, self.columns.size))
        for row in rows:
            self.columns.priority[row] = self._random.random()
        rows += self.learn_of(new)
        self.state.append_changes(self.columns, np.array(sorted(rows), np.int32))

    def values(self) -> tuple[list[int], list[float]]:
        return values_of(self.columns)

    def size(self) -> int:
        sums = self.state.connection.execute("SELECT coalesce(sum(length(records)), 0) FROM change")
        return int(sums.fetchone()[0])


def values_of(columns: Columns) -> tuple[list[int], list[float]]:
    end = columns.size + 1
    return columns.ids[1:end].tolist(), columns.priority[1:end].tolist()


def test_every_commit_holds_the_present_values(path: Path) -> None:
    crawl = Crawl(path)
    crawl.turn(new=ROWS)
    sizes = []
    with State.open(path, read_only=True) as follower:
        for turn in range(300):
            crawl.turn(new=turn % 5 == 0)
            crawl.state.commit()
            sizes.append(crawl.size())
            with State.open(path, read_only=True) as reader:
                assert values_of(reader.columns()) == crawl.values()
            if turn % 7 == 0:
                assert values_of(follower.columns()) == crawl.values()
    crawl.state.close()
    shortest = crawl.columns.size * RECORD.itemsize
    assert max(sizes) <= 2 * (LONGEST + 2 * shortest)
    assert sum(after < before for before, after in pairwise(sizes)) > 20


def test_no_flush_writes_much_more_than_what_has_changed(path: Path) -> None:
    crawl = Crawl(path)
    crawl.turn(new=ROWS)
    largest = 0
    for _ in range(200):
        before = crawl.size()
        crawl.turn(changed=2)
        largest = max(largest, crawl.size() - before)
    assert largest == (2 + 4) * RECORD.itemsize
    crawl.state.close()


@pytest.mark.parametrize("turns", range(60, 130, 5))
def test_a_crash_leaves_a_log_that_can_be_read_and_rewritten(path: Path, turns: int) -> None:
    crawl = Crawl(path)
    crawl.turn(new=ROWS)
    for _ in range(turns):
        crawl.turn()
        crawl.state.commit()
    held = crawl.values()
    crawl.turn(new=MORE)
    crawl.state.close()  # not committed
    again = Crawl(path)
    assert again.values() == held
    for _ in range(300):
        again.turn()
    again.state.commit()
    assert again.size() <= 2 * (LONGEST + 2 * ROWS * RECORD.itemsize)
    held = again.values()
    again.state.close()
    with State.open(path) as state:
        assert values_of(state.columns()) == held


def test_a_flush_of_everything_takes_the_rewriting_as_far(path: Path) -> None:
    crawl = Crawl(path)
    crawl.turn(new=ROWS)
    for _ in range(100):
        crawl.turn(changed=ROWS)
    assert crawl.size() <= 2 * (LONGEST + 2 * ROWS * RECORD.itemsize)
    crawl.state.commit()
    with State.open(path, read_only=True) as reader:
        assert values_of(reader.columns()) == crawl.values()
    crawl.state.close()


def test_nothing_changed_writes_nothing() -> None:
    with State.open(None) as state:
        ChangeLog(state.connection).append(Columns(), np.zeros(0, np.int32))
        assert state.connection.execute("SELECT count(*) FROM change").fetchone() == (0,)
