"""The longest time that an event loop was held up by what runs on it."""

from __future__ import annotations

import asyncio
import time
from types import TracebackType
from typing import Self

TICK = 0.005


class LoopWatch:
    """Wakes up every 5 ms and notes how late it was.

    Late by the wall clock may mean that another process had the processor; late by this thread's processor
    time means that something was worked on. What counts as a block is what both say.
    """

    def __init__(self) -> None:
        self.longest_ms = 0.0
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Begin to watch."""
        self._task = asyncio.create_task(self._watch())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop watching."""
        if self._task is not None:
            self._task.cancel()

    async def _watch(self) -> None:
        while True:
            wall, worked = time.monotonic(), time.thread_time()
            await asyncio.sleep(TICK)
            late = time.monotonic() - wall - TICK
            self.longest_ms = max(self.longest_ms, 1000 * min(late, time.thread_time() - worked))
