"""All shards together never have more pages than the budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

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
