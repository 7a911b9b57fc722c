"""Manners towards search engines: a rate, a cache, patience, and an end to asking in vain."""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

import msgspec

from honeyguide.discovery.search.base import Hits, SearchEngine

GIVE_UP_AFTER: Final = 3
"""Failures in a row after which an engine is left alone for the rest of the session."""
DEADLINE: Final = 30.0
"""Seconds for one query."""
LONGEST_WAIT: Final = 86_400.0


class Timekeeper(Protocol):
    """What is needed of the crawl's clock."""

    def now(self) -> float:
        """The time."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class RationedEngine:
    """Asks an engine, but nothing twice and not too fast.

    Args:
        engine: Who is asked.
        clock: The crawl's.
        patience: Seconds a query may wait for its turn; beyond it the engine is left out this time.
    """

    def __init__(self, engine: SearchEngine, clock: Timekeeper, *, patience: float = 60.0) -> None:
        self._engine = engine
        self._clock = clock
        self._patience = patience
        self._next = 0.0
        self._failures = 0
        self._kept: dict[tuple[str, int], Hits] = {}

    @property
    def name(self) -> str:
        """What the journal calls it."""
        return self._engine.name

    @property
    def given_up(self) -> bool:
        """Whether it failed too often."""
        return self._failures >= GIVE_UP_AFTER

    async def search(self, query: str, limit: int) -> Hits:
        """The engine's results; the kept ones cost nothing."""
        key = (query, limit)
        if key in self._kept:
            return msgspec.structs.replace(self._kept[key], requests=0)
        if self.given_up:
            return Hits(note="left alone after failing too often")
        found = await self._turn(query, limit)
        if not found.requests and not found.failed:
            return found
        self._failures = self._failures + 1 if found.failed else 0
        if not found.failed:
            self._kept[key] = found
        return found

    async def _turn(self, query: str, limit: int) -> Hits:
        now = self._clock.now()
        wait = max(0.0, self._next - now)
        if wait > self._patience:
            return Hits(note="not asked: too soon after the last query")
        if self._engine.remote and self._engine.rate > 0:
            self._next = now + wait + 1.0 / self._engine.rate
        if wait:
            await self._clock.sleep(wait)
        try:
            async with asyncio.timeout(DEADLINE):
                found = await self._engine.search(query, limit)
        except TimeoutError:
            found = Hits(requests=1, note=f"no answer within {DEADLINE:.0f} seconds", failed=True)
        if found.retry_after is not None:
            self._next = max(self._next, self._clock.now() + min(found.retry_after, LONGEST_WAIT))
        return found
