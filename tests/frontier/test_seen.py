"""The map of fingerprints against a dict."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.frontier.seen import Seen

IDS = st.one_of(st.integers(-(1 << 63), (1 << 63) - 1), st.integers(-3, 3))


@settings(deadline=None)  # the first call may compile
@given(st.lists(st.lists(IDS, max_size=20), max_size=20))
def test_same_rows_as_a_dict(batches: list[list[int]]) -> None:
    seen, ids, size = Seen(), np.zeros(500, np.int64), 0
    expected: dict[int, int] = {}
    for batch in batches:
        rows, size = seen.rows(np.array(batch, np.int64), ids, size=size)
        assert rows.tolist() == [expected.setdefault(one, len(expected) + 1) for one in batch]
        assert size == len(expected)
    for one, row in expected.items():
        assert seen.row(one, ids) == row
    again = Seen()
    assert again.rebuild(ids, size) == 0
    assert all(again.row(one, ids) == row for one, row in expected.items())


def test_grows_and_stays_small() -> None:
    count = 300_000
    seen, ids, size = Seen(), np.zeros(count + 1, np.int64), 0
    # Multiples of a large power of two: equal low bits must not make long runs.
    wanted = np.arange(count, dtype=np.int64) << 40
    for start in range(0, count, 1000):
        rows, size = seen.rows(wanted[start : start + 1000], ids, size=size)
        assert rows[0] == start + 1
    assert size == count
    assert seen.row(int(wanted[-1]), ids) == count
    assert seen.row(1, ids) == 0
    assert (seen.memory + 8 * count) / count <= 25


def test_rebuild_counts_doubles() -> None:
    assert Seen().rebuild(np.array([0, 7, 8, 7], np.int64), 3) == 1
