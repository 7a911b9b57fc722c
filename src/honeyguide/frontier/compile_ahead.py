"""Compile the frontier's machine code before a crawl's clock starts."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from honeyguide.frontier.frontier import Frontier
from honeyguide.frontier.records import Found
from honeyguide.model import Outcome
from honeyguide.store.state import State


@lru_cache(maxsize=1)
def compile_ahead() -> None:
    """The life of two URLs, in memory.

    Numba compiles a function when it is first called, which takes about 15 seconds of CPU time for all of
    them; the code is kept on disk, so this is long only once on a machine. Without it that time would be
    taken out of a crawl's `max_seconds`, and requests under way could run into their deadlines.
    """
    state = State.open(None)
    frontier = Frontier(state, max_pages_per_domain=1)
    frontier.add([_found(1, "a.example"), _found(2, "a.example"), _found(3, "b.example")])
    frontier.add([_found(2, "a.example", priority=0.9)])
    frontier.reprioritise(np.array([0.1, 0.8, 0.7]))
    for name in ("a.example", "b.example"):
        frontier.host(name).ip = "192.0.2.1"
    frontier.pop(0.0, shared=lambda _: 1.0)
    waiting = frontier.pop(1.0, blocked=lambda _: 0.0, shared=lambda _: 0.0)
    if waiting is not None:
        frontier.put_back(waiting)
        frontier.finish(waiting.row, Outcome.FETCHED)
        host = frontier.host(waiting.host)
        host.ready_at = 1.0
        frontier.touch(host)
        frontier.release(waiting.host)
    frontier.demote_host("b.example", 0.5)
    frontier.drop_host("b.example", Outcome.HOST_GIVEN_UP)
    frontier.next_ready(9.0)
    frontier.flush()
    Frontier(state)
    state.close()


def _found(number: int, host: str, *, priority: float = 0.5) -> Found:
    return Found(url=f"http://{host}/{number}", id=number, host=host, domain=host, priority=priority)
