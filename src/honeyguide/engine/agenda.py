"""Which pages are due for another visit, best first over the hosts that may be asked.

Everything comes from the state (`prospects.py`), so a crawl that was killed plans the same as one that was
not, and nothing but the request under way is lost.

There are two ways to come back. **Once** (`honeyguide recrawl`): all pages that were not asked for since a
given time are due now, in order of what a visit is worth, until a budget is spent. **Always** (`keep_fresh`):
the policy gives each page an interval, so that pages are visited every so often on average, and a page is due
when its interval has passed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush, nsmallest
from math import inf
from typing import Final, TypeAlias

import msgspec
import numpy as np

from honeyguide.engine.prospects import Rates, prospects
from honeyguide.frontier import Again, Frontier, Waiting
from honeyguide.frontier.frontier import Asked
from honeyguide.model import Outcome
from honeyguide.revisit import POLICIES, RevisitPolicy
from honeyguide.revisit.base import SHORTEST
from honeyguide.revisit.hints import as_if_waited
from honeyguide.store.state import State

DAY: Final = 86400.0
AFTER_FAILURE: Final = 6 * 3600.0
"""Seconds until a page that could not be had is asked for again."""
REPLAN: Final = 0.1
"""A plan lasts for this share of the usual interval, or until a fifth of its pages were visited."""
SOON: Final = 0.05
"""Seconds until a host that is being asked is looked at again."""

Recollect: TypeAlias = Callable[[int], Again]
"""What is known of a page that is about to be asked for again, by its row."""


class ComingBack(msgspec.Struct, frozen=True):
    """How pages are visited again."""

    every: float = 7 * DAY
    """Seconds between two visits of a page, on average over all pages that are worth one."""
    share: float = 0.5
    """Share of the visits that goes to known pages where new ones wait, too."""
    policy: str = "gain"
    """`gain`, `uniform` or `proportional`."""
    once: bool = False
    """Visit what is due once, then stop."""
    before: float = inf
    """With `once`: only pages that were asked for last before this time."""
    visits: int | None = None
    """With `once`: visits in all, new pages included; None for all that are due."""
    everything: bool = False
    """Pages off topic, too, from which no page on topic was found."""


class Agenda:
    """The plan, and who is next.

    Args:
        state: Of the crawl.
        frontier: Knows which hosts may be asked.
        how: How pages are visited again.
        recollect: Gives what is known of a page.
        rates: Change rates that are known, instead of learned ones.
        is_mine: Whether a `host[:port]` may be asked from here; one of several shards asks its own only.
    """

    def __init__(
        self,
        state: State,
        frontier: Frontier,
        how: ComingBack,
        *,
        recollect: Recollect,
        rates: Rates | None = None,
        is_mine: Callable[[str], bool] | None = None,
    ) -> None:
        self._state = state
        self._is_mine = is_mine
        self._frontier = frontier
        self.how = how
        self._policy: RevisitPolicy = POLICIES[how.policy]()
        self._recollect = recollect
        self._rates = rates
        self._until = -inf
        """When the next plan is made ..."""
        self._left = 0
        """... or after how many visits."""
        self._later: list[tuple[float, int, float, float]] = []
        """Due time, row and gain of pages that are not due yet, and when each may be asked at all; a heap."""
        self._due: dict[int, list[tuple[float, int]]] = {}
        """By host: gain (negative) and row of pages that are due; heaps."""
        self._ready: list[tuple[float, int]] = []
        """Gain (negative) of the best page, and host; a heap."""
        self._timed: list[tuple[float, int]] = []
        """When to look at a host again; a heap."""
        self._rate = 0.0
        """Visits a second that may be made; 0 where a budget counts them instead."""
        self._tokens = 0.0
        """Visits that may be made now: no more than one round of all pages."""
        self._counted = 0.0
        self._under_way: set[int] = set()
        self._tries: dict[int, int] = {}
        """Failed attempts of pages that are tried once more."""

    def pop(self, now: float, asked: Sequence[Asked]) -> Waiting | None:
        """The page whose visit is worth most now, over the hosts that may be asked."""
        if now >= self._until or self._left <= 0:
            self.plan(now)
        if not self.how.once and not self._may_go(now):
            return None
        self._look(now)
        while self._timed and self._timed[0][0] <= now:
            _, host = heappop(self._timed)
            if pages := self._due.get(host):
                heappush(self._ready, (pages[0][0], host))
        while self._ready:
            _, host = heappop(self._ready)
            if waiting := self._ask(host, now, asked):
                return waiting
        return None

    def _look(self, now: float) -> None:
        """Enter what has become due."""
        while self._later and (self._later[0][0] <= now or self._idle(now)):
            _, row, gain, _ = heappop(self._later)
            self._enter(row, gain, now)

    def _ask(self, host: int, now: float, asked: Sequence[Asked]) -> Waiting | None:
        pages = self._due.get(host)
        if not pages:
            return None
        lent = self._frontier.lend(pages[0][1], now, asked=asked)
        if isinstance(lent, float):
            if lent == inf:  # given up
                del self._due[host]
            else:
                heappush(self._timed, (max(lent, now + 0.001), host))
            return None
        heappop(pages)
        if pages:
            heappush(self._timed, (now + SOON, host))
        else:
            del self._due[host]
        self._left -= 1
        self._tokens -= 1.0
        self._under_way.add(lent.row)
        return msgspec.structs.replace(
            lent, again=self._recollect(lent.row), tries=self._tries.get(lent.row, 0)
        )

    def put_back(self, waiting: Waiting, now: float, *, tries: int = 0) -> None:
        """It has to be asked for again: robots.txt came first, or a failure may pass."""
        self._under_way.discard(waiting.row)
        self._tokens += 1.0
        self._tries[waiting.row] = tries
        self._enter(waiting.row, inf, now)

    def ended(self, waiting: Waiting) -> None:
        """Its visit is over."""
        self._under_way.discard(waiting.row)
        self._tries.pop(waiting.row, None)

    def next_due(self, now: float) -> float | None:
        """When to look again, not before `now`; None when nothing will be due."""
        if self._until == -inf:
            return now  # nothing is planned yet
        times = [self._timed[0][0]] if self._timed else []
        if self._later:
            due, _, _, soonest = self._later[0]
            times.append(due if self._due or self.how.once else min(due, soonest))
        if not self.how.once and self._frontier.counts.get(Outcome.FETCHED):
            times.append(self._until)  # pages that were fetched since join the next plan
        if not times:
            return None
        # Visits are spread over time: the next one has to be earned.
        earned = now if self.how.once or not self._rate else now + (1.0 - self._tokens) / self._rate
        return max(now, min(times), min(earned, self._until))

    def best(self, now: float, most: int) -> tuple[list[float], int]:
        """Gains of the pages of a recrawl that are worth most, of each host the first few; how many are due.

        Args:
            now: On the crawl's clock.
            most: Gains, at most.
        """
        if now >= self._until:
            self.plan(now)
        self._look(now)
        due = [pages[0][0] for pages in self._due.values()]
        if len(due) < most:
            due = [gain for pages in self._due.values() for gain, _ in pages[:most]]
        gains = [-gain for gain in nsmallest(most, due)]
        return gains, len(self._later) + sum(map(len, self._due.values()))

    def _may_visit(self, row: int) -> bool:
        return self._is_mine is None or self._is_mine(self._frontier.host_name(row))

    def _idle(self, now: float) -> bool:
        """Whether a visit was earned and no page is due: the next one goes early, but not at once again."""
        return not self.how.once and not self._due and self._later[0][3] <= now

    def _may_go(self, now: float) -> bool:
        """Whether the budget of visits a second allows another one."""
        most = self._rate * self.how.every
        self._tokens = min(most, self._tokens + self._rate * (now - self._counted))
        self._counted = now
        return self._tokens >= 1.0 - 1e-6

    # Planning

    def plan(self, now: float) -> None:
        """Choose and order the pages from what the state holds."""
        self._frontier.flush()
        pages = prospects(self._state, everything=self.how.everything, rates=self._rates)
        gains = self._policy.gain(pages.known, as_if_waited(now - pages.last, pages.known.rate, pages.told))
        size = len(pages.rows)
        self._may_go(now)  # what was earned until now was earned at the old rate
        self._rate = 0.0 if self.how.once else size / self.how.every
        if self.how.once:
            due = np.where(pages.tried < self.how.before, -inf, inf)
            self._until, self._left = inf, 1 << 62
        else:
            due = pages.last + self._policy.intervals(pages.known, max(size, 1) / self.how.every)
            due = np.where(pages.told, now, due)
            failed = pages.tried > pages.last
            due = np.where(failed, np.maximum(due, pages.tried + AFTER_FAILURE), due)
            self._until, self._left = now + REPLAN * self.how.every, max(10, size // 5)
        self._later = [
            (
                float(due[place]),
                int(pages.rows[place]),
                float(gains[place]),
                float(pages.tried[place] + SHORTEST),
            )
            for place in np.flatnonzero(due < inf).tolist()
            if int(pages.rows[place]) not in self._under_way and self._may_visit(int(pages.rows[place]))
        ]
        heapify(self._later)
        self._due, self._ready, self._timed = {}, [], []

    def _enter(self, row: int, gain: float, now: float) -> None:
        host = self._frontier.host_row(row)
        pages = self._due.setdefault(host, [])
        heappush(pages, (-gain, row))
        if pages[0][1] == row:
            heappush(self._timed, (now, host))
