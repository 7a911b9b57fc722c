"""How a budget is dealt to shards."""

from __future__ import annotations

from math import nan

from hypothesis import given
from hypothesis import strategies as st

from honeyguide.cluster.dealing import ELASTIC, Front, deal, portion_of, slots_of

PRIORITIES = st.lists(st.floats(allow_nan=False), max_size=12)


def test_the_best_urls_of_all_are_fetched() -> None:
    fronts = [Front("00", [5.0, 4.0, 1.0], 3), Front("01", [4.5, 0.5], 2), Front("02", [3.0], 1)]
    assert deal(fronts, 4) == {"00": 2, "01": 1, "02": 1}


def test_equals_are_shared_alike() -> None:
    fronts = [Front(f"{n:02}", [0.5] * 40, 40) for n in range(4)]
    assert deal(fronts, 40) == {"00": 10, "01": 10, "02": 10, "03": 10}


def test_of_equals_the_shard_with_fewer_pages_comes_first() -> None:
    fronts = [Front("00", [0.5, 0.5], 2, pages=3), Front("01", [0.5, 0.5], 2, pages=1)]
    assert deal(fronts, 1) == {"00": 0, "01": 1}
    assert deal(fronts, 3) == {"00": 1, "01": 2}


def test_what_was_not_shown_counts_as_the_last_one_shown() -> None:
    fronts = [Front("00", [9.0, 8.0], 100), Front("01", [7.0, 6.0], 100)]
    assert deal(fronts, 10) == {"00": 10, "01": 0}
    assert deal([Front("00", [9.0, 8.0], 2), Front("01", [7.0, 6.0], 100)], 10) == {"00": 2, "01": 8}


def test_shown_ones_come_before_supposed_ones() -> None:
    fronts = [Front("00", [1.0], 100), Front("01", [1.0, 1.0, 1.0], 3)]
    assert deal(fronts, 4) == {"00": 1, "01": 3}


def test_numbers_that_are_none_and_empty_shards() -> None:
    assert deal([Front("00", [nan, 1.0], 2), Front("01", [], 0)], 5) == {"00": 2, "01": 0}
    assert deal([], 5) == {}


@given(st.lists(PRIORITIES, min_size=1, max_size=6), st.integers(0, 60))
def test_nothing_better_is_left_behind(tops: list[list[float]], portion: int) -> None:
    fronts = [Front(str(n), top, len(top)) for n, top in enumerate(tops)]
    grants = deal(fronts, portion)
    known = sum(map(len, tops))
    assert sum(grants.values()) == min(portion, known)
    taken = [p for front in fronts for p in sorted(front.best, reverse=True)[: grants[front.shard]]]
    left = [p for front in fronts for p in sorted(front.best, reverse=True)[grants[front.shard] :]]
    assert not taken or not left or min(taken) >= max(left)


def test_portions() -> None:
    assert portion_of(0, most=96) == portion_of(20, most=96) == 1
    assert portion_of(160, most=96) == 2
    assert portion_of(320, most=96) == 40
    assert portion_of(10**6, most=96) == 96


@given(st.lists(st.integers(0, 500), min_size=1, max_size=9), st.integers(1, 64))
def test_requests_under_way_are_as_many_as_with_equal_shares(wanted: list[int], each: int) -> None:
    found = slots_of({str(place): count for place, count in enumerate(wanted)}, each=each)
    assert all(1 <= slots <= ELASTIC * each for slots in found.values())
    more = [slots for slots in found.values() if slots > 1]
    assert sum(more) <= each * len(wanted)


def test_requests_follow_the_pages() -> None:
    assert slots_of({"00": 40, "01": 40}, each=8) == {"00": 8, "01": 8}
    assert slots_of({"00": 60, "01": 20}, each=8) == {"00": 12, "01": 4}
    assert slots_of({"00": 0, "01": 0}, each=8) == {"00": 1, "01": 1}
    assert slots_of({"00": 3, "01": 1}, each=8) == {"00": 12, "01": 4}
