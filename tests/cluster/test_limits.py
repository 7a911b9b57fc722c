"""All shards together never have more pages than the budget."""

from __future__ import annotations

from pathlib import Path

from crawls import small_topic
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.cluster.coordinator import ShardedCrawl
from honeyguide.cluster.limits import charges, limits
from honeyguide.engine.neighbours import Standing

SHARD = st.tuples(st.integers(0, 50), st.integers(0, 10), st.integers(0, 60), st.integers(0, 80))
"""Pages, requests under way, pages that it was dealt before and pages that it is dealt now."""


@given(st.lists(SHARD, min_size=1, max_size=6), st.integers(0, 300))
def test_no_more_than_the_budget(shards: list[tuple[int, int, int, int]], budget: int) -> None:
    standings = {
        str(place): Standing(spent=pages, in_flight=busy, limit=pages + busy)
        for place, (pages, busy, _, _) in enumerate(shards)
    }
    told = {str(place): pages + busy + before for place, (pages, busy, before, _) in enumerate(shards)}
    grants = {str(place): grant for place, (_, _, _, grant) in enumerate(shards)}
    charged = charges(standings, told)
    found = limits(standings, charged, grants, budget=budget)
    asked = {name: one.spent + one.in_flight for name, one in standings.items()}
    assert sum(found.values()) <= max(budget, sum(asked.values()))
    # Until they hear of it, shards may spend what they were told before.
    assert sum(max(found[name], charged[name]) for name in found) <= max(budget, sum(charged.values()))
    assert all(asked[name] <= found[name] <= asked[name] + grants[name] for name in found)


def test_what_is_left_of_a_budget_goes_to_those_who_were_dealt_most() -> None:
    standings = {"00": Standing(spent=10, limit=10), "01": Standing(spent=20, limit=20)}
    assert limits(standings, charges(standings, {}), {"00": 5, "01": 30}, budget=52) == {"00": 10, "01": 42}
    assert limits(standings, charges(standings, {}), {"00": 5, "01": 30}, budget=63) == {"00": 13, "01": 50}


def test_a_budget_that_is_lowered_takes_back_what_was_dealt() -> None:
    standings = {"00": Standing(spent=10, limit=40), "01": Standing(spent=20, limit=60)}
    assert limits(standings, charges(standings, {}), {"00": 30, "01": 40}, budget=45) == {"00": 10, "01": 35}


def test_a_shard_that_has_enough_hears_of_more_with_the_next_round(tmp_path: Path) -> None:
    job = ShardedCrawl(small_topic(), out=tmp_path / "out", shards=2)
    job._standings = {"00": Standing(spent=100, in_flight=10)}
    job._pace, job._told = {"00": 20}, {"00": 160}
    assert not job._cannot_wait("00"), "50 left, and 20 since the last round"
    job._told["00"] = 150
    assert job._cannot_wait("00"), "40 left: that may not last"
    job._pace.clear()
    job._told["00"] = 110
    assert job._cannot_wait("00"), "it has nothing to do"
    job._told["00"] = 160
    job._hurried = True
    assert job._cannot_wait("00"), "portions are small at first"
