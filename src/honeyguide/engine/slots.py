"""Slots for requests: what a slow server holds must not be what the others wait for.

A crawl has as many slots as its concurrency. A request that takes far longer than most gives its slot up and
goes on beside the others, up to a limit. Hosts that have not answered yet, or failed last time, together get
half of the slots: a thousand servers that drip bytes can take those, never the ones of hosts that answer.
"""

from __future__ import annotations

import resource
from typing import Final

from honeyguide.model import Host

LONGER: Final = 4.0
"""A request is slow when it takes so many times as long as requests usually do ..."""
LEAST, MOST = 0.2, 5.0
"""... but not before, and at the latest after, so many seconds."""
SLOW_LIMIT: Final = 1000
"""Slow requests that may go on at once."""
LATER: Final = 0.25
"""Seconds after which a doubtful host that found no slot is looked at again."""


def is_doubtful(host: Host) -> bool:
    """Whether nothing says that the host will answer: it never did, or it failed last time."""
    return host.failures > 0 or host.requests == 0


def affordable(concurrency: int) -> int:
    """Slow requests that the process may have sockets for, beside those of the concurrency and idle ones."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 6 * concurrency + SLOW_LIMIT + 200
    if soft < wanted:
        soft = min(hard, wanted) if hard != resource.RLIM_INFINITY else wanted
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return max(0, min(SLOW_LIMIT, soft - 6 * concurrency - 200))


class Slots:
    """Who has a slot. Requests are named by the row of their URL.

    Args:
        concurrency: Number of slots.
        slow_limit: Slow requests that may go on without a slot; 0 where time is not real.
    """

    def __init__(self, concurrency: int, *, slow_limit: int) -> None:
        self._concurrency = concurrency
        self._slow_limit = slow_limit
        self._began: dict[int, float] = {}
        """Requests in slots, oldest first."""
        self._doubtful: set[int] = set()
        self._slow: set[int] = set()
        self._usual = 0.0

    @property
    def patience(self) -> float:
        """Seconds after which a request is slow."""
        return min(MOST, max(LEAST, LONGER * self._usual))

    @property
    def doubtful(self) -> int:
        """Slots of hosts from which no page is to be expected."""
        return len(self._doubtful) if self._concurrency > 1 else 0

    @property
    def room_for_doubtful(self) -> bool:
        """Whether a doubtful host may be asked now."""
        return len(self._doubtful) < max(1, self._concurrency // 2)

    def took(self, row: int, now: float, *, doubtful: bool) -> None:
        """A request begins."""
        self._began[row] = now
        if doubtful:
            self._doubtful.add(row)

    def gave_back(self, row: int, seconds: float, *, answered: bool) -> None:
        """A request ended; answers tell how long requests usually take."""
        self._began.pop(row, None)
        self._doubtful.discard(row)
        self._slow.discard(row)
        if answered:
            self._usual += 0.05 * (min(seconds, MOST) - self._usual)

    def slow(self, now: float) -> int:
        """Requests that go on without a slot."""
        due = now - self.patience
        while self._began and len(self._slow) < self._slow_limit:
            oldest = next(iter(self._began))
            if self._began[oldest] > due:
                break
            del self._began[oldest]
            self._doubtful.discard(oldest)
            self._slow.add(oldest)
        return len(self._slow)

    def next_slow(self, now: float) -> float | None:
        """When the oldest request gives its slot up, not before `now`; None when none will."""
        if not self._began or len(self._slow) >= self._slow_limit:
            return None
        return max(now, next(iter(self._began.values())) + self.patience)
