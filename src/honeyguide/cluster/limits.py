"""How many pages each shard may have in all, so that all together never have more than the budget.

In a recrawl visits are counted in place of pages.

A shard that was dealt a portion may have spent it by the time the next is dealt. What it may have spent is
charged until it says otherwise; only what nobody can spend any more is dealt again.

Example:
    >>> standings = {"00": Standing(spent=3), "01": Standing(spent=5)}
    >>> limits(standings, {"00": 3, "01": 5}, {"00": 2, "01": 0}, budget=None)
    {'00': 5, '01': 5}
    >>> limits(standings, {"00": 3, "01": 5}, {"00": 2, "01": 0}, budget=9)
    {'00': 4, '01': 5}
    >>> limits(standings, {"00": 40, "01": 50}, {"00": 20, "01": 20}, budget=18)
    {'00': 13, '01': 5}
"""

from __future__ import annotations

from collections.abc import Mapping

from honeyguide.engine.neighbours import Standing


def charges(standings: Mapping[str, Standing], limits: Mapping[str, int]) -> dict[str, int]:
    """Pages that each shard may have by now: as it was last told, or as it says it had been told."""
    return {
        name: max(one.limit, one.spent + one.in_flight, limits.get(name, 0))
        for name, one in standings.items()
    }


def limits(
    standings: Mapping[str, Standing],
    charged: Mapping[str, int],
    grants: Mapping[str, int],
    *,
    budget: int | None,
) -> dict[str, int]:
    """Pages that each shard may have from now on.

    Args:
        standings: Where the shards stand.
        charged: Pages that each may have by now.
        grants: Pages dealt to each, beyond what it has and has under way.
        budget: Pages of all shards together; None for no limit.
    """
    wanted = {name: one.spent + one.in_flight + grants.get(name, 0) for name, one in standings.items()}
    if budget is None:
        return wanted
    left = max(0, budget - sum(charged.values()))
    # Where more was dealt than the budget is by now, what nobody has asked for yet is taken back.
    kept = max(0, budget - sum(one.spent + one.in_flight for one in standings.values()))
    for name in sorted(wanted, key=lambda name: -grants.get(name, 0)):
        asked = standings[name].spent + standings[name].in_flight
        wanted[name] = min(wanted[name], asked + kept)
        more = min(left, max(0, wanted[name] - charged[name]))
        left -= more
        wanted[name] = min(wanted[name], charged[name] + more)
        kept -= max(0, wanted[name] - asked)
    return wanted
