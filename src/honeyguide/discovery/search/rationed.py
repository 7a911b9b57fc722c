"""Queries to a search engine: nothing twice, and not faster than its rate limit allows."""

from __future__ import annotations

from functools import partial

import msgspec

from honeyguide.discovery.rate_limit import RateLimit, Timekeeper
from honeyguide.discovery.search.base import Hits, SearchEngine


class RationedEngine:
    """Asks an engine, but nothing twice, not too fast, and not after repeated failures.

    Args:
        engine: Who is asked.
        clock: The crawl's.
        patience: Seconds a query may wait for its turn; beyond it the engine is left out this time.
    """

    def __init__(self, engine: SearchEngine, clock: Timekeeper, *, patience: float = 60.0) -> None:
        self._engine = engine
        self._limit = RateLimit(engine, clock)
        self._patience = patience
        self._kept: dict[tuple[str, int], Hits] = {}

    @property
    def name(self) -> str:
        """What the journal calls it."""
        return self._engine.name

    @property
    def given_up(self) -> bool:
        """Whether it failed too often."""
        return self._limit.given_up

    async def search(self, query: str, limit: int) -> Hits:
        """The engine's results; the kept ones cost nothing."""
        key = (query, limit)
        if key in self._kept:
            return msgspec.structs.replace(self._kept[key], requests=0)
        if self.given_up:
            return Hits(note="no longer asked, after repeated failures")
        question = partial(self._engine.search, query, limit)
        found = await self._limit.ask(question, _no_answer, patience=self._patience)
        if not found.requests and not found.failed:
            return found
        self._limit.count(failed=found.failed)
        if not found.failed:
            self._kept[key] = found
        return found


def _no_answer(note: str, requests: int) -> Hits:
    return Hits(requests=requests, note=note, failed=requests > 0)
