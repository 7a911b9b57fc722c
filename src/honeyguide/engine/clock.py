"""Time is passed in, so that a crawl of a recorded web replays bit for bit."""

from __future__ import annotations

import asyncio
import time
from typing import Final, Protocol


class Clock(Protocol):
    """Seconds since the epoch, and waiting."""

    virtual: bool
    """Whether time only moves by `sleep` and `advance`."""

    def now(self) -> float:
        """The time."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...

    def advance(self, seconds: float) -> None:
        """Say that something took this long; only a virtual clock cares."""
        ...


# Where it exists, the clock that goes on while the machine sleeps.
_STEADY: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class WallClock:
    """The machine's clock as it stood at the beginning, and steady from then on.

    Somebody, or a time server, may set the machine's clock while a crawl runs. Hosts that wait by it would be
    asked too early, or not for hours.
    """

    virtual = False

    def __init__(self) -> None:
        self._begin = time.time() - time.clock_gettime(_STEADY)

    def now(self) -> float:
        """The time."""
        return self._begin + time.clock_gettime(_STEADY)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    def advance(self, seconds: float) -> None:
        """Real time passes by itself."""


class VirtualClock:
    """A clock that moves only when it is told to: waiting costs nothing.

    Example:
        >>> clock = VirtualClock(100.0)
        >>> clock.advance(2.5)
        >>> clock.now()
        102.5
    """

    virtual = True

    def __init__(self, start: float = 1_000_000_000.0) -> None:
        self._now = start

    def now(self) -> float:
        """The time."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Let time pass at once; other coroutines get their turn."""
        self.advance(seconds)
        await asyncio.sleep(0)

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._now += max(0.0, seconds)

    def set(self, now: float) -> None:
        """Go on from a stored time (resume)."""
        self._now = now
