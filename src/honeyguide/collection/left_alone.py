"""Hosts that are left alone for a while: they failed, or asked for it."""

from __future__ import annotations

from collections.abc import Iterable

from honeyguide.collection.guarded import utc
from honeyguide.store.checked import reading
from honeyguide.store.state import State

LONG = 5.0
"""Seconds from which on it is worth a word that a host is left alone."""


def left_alone(state: State, hosts: Iterable[int], *, now: float) -> str:
    """Which of these hosts may be asked first, when and why not sooner; empty when that is soon.

    Args:
        state: Of the collection.
        hosts: Their rows.
        now: The time.
    """
    first: tuple[float, str, int] | None = None
    query = "SELECT ready_at, name, failures FROM host WHERE row = ?"
    for row in hosts:
        found = state.connection.execute(query, (row,)).fetchone()
        if found is None:
            continue
        with reading("hosts"):
            one = (float(found[0]), str(found[1]), int(found[2]))
        if not one[0] - now >= LONG:  # nor for what is no number
            return ""
        first = one if first is None else min(first, one)
    if first is None:
        return ""
    ready, name, failures = first
    failed = f", after {failures} failed requests in a row" if failures > 1 else ", after a failed request"
    return f"{name} is left alone until {utc(ready):%Y-%m-%d %H:%M:%S} UTC{failed if failures else ''}"
