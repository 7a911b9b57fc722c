"""Which hosts may be asked now, and what their answers mean for the next time.

A crawl has as many slots as its concurrency. A request that takes far longer than most gives up its slot and
goes on beside the others, up to a limit. Hosts that have not answered yet, or failed last time, together get
half of the slots: a thousand servers that drip bytes can take those, never the ones of hosts that answer.
"""

from __future__ import annotations

import resource
from collections.abc import Iterable
from math import inf
from typing import Final

from honeyguide.engine.visit import Visit
from honeyguide.fetch.politeness import (
    MAX_RETRY_AFTER,
    IpGate,
    PolitenessPolicy,
    after_failure,
    after_response,
    delay_of,
    may_retry,
)
from honeyguide.frontier import Waiting
from honeyguide.model import Host, Outcome

LONGER: Final = 4.0
"""A request is slow when it takes this many times as long as requests usually do ..."""
LEAST, MOST = 0.2, 5.0
"""... but never before, and at the latest after, this many seconds."""
SLOW_LIMIT: Final = 1000
"""Slow requests that may go on at once."""
LATER: Final = 0.25
"""Seconds after which a doubtful host that found no slot is looked at again."""
NO_SUCH_HOST: Final = frozenset({Outcome.DNS, Outcome.CONNECTION, Outcome.TLS})


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
        self.count = concurrency
        """Number of slots; may be changed while requests are under way."""
        self._slow_limit = slow_limit
        self._began: dict[int, float] = {}
        """Requests in slots, oldest first."""
        self._doubtful: set[int] = set()
        self._slow: set[int] = set()
        self._usual = 0.0

    @property
    def usual(self) -> float:
        """Seconds that a request usually takes."""
        return self._usual

    @property
    def patience(self) -> float:
        """Seconds after which a request is slow."""
        return min(MOST, max(LEAST, LONGER * self._usual))

    @property
    def doubtful(self) -> int:
        """Slots of hosts from which no page is to be expected."""
        return len(self._doubtful) if self.count > 1 else 0

    @property
    def room_for_doubtful(self) -> bool:
        """Whether a doubtful host may be asked now."""
        return len(self._doubtful) < max(1, self.count // 2)

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


class Traffic:
    """Requests under way: their slots, their addresses, and the records of the hosts they went to.

    Args:
        policy: How gently hosts are asked.
        concurrency: Number of slots.
        slow_limit: Slow requests that may go on without a slot; 0 where time is not real.
        gate: Spacing per address, where others share it.
    """

    def __init__(
        self, policy: PolitenessPolicy, concurrency: int, *, slow_limit: int, gate: IpGate | None = None
    ) -> None:
        self.slots = Slots(concurrency, slow_limit=slow_limit)
        self._policy = policy
        self._gate = gate or IpGate(policy)

    def pages_a_host(self, seconds: float) -> float:
        """Pages that a host, asked for one after the other, can give within so many seconds."""
        each = self._policy.min_delay + self.slots.usual
        return seconds / each if each > 0.0 else inf

    def host_ready(self, host: Host, now: float) -> float:
        """When a host may be asked as far as slots go: at once (0), or to be looked at again later."""
        return now + LATER if is_doubtful(host) and not self.slots.room_for_doubtful else 0.0

    def address_ready(self, host: Host, now: float) -> float:
        """When the address of a host may be asked."""
        # Where it is full: look again soon, since nobody can say when a request will end.
        return min(self._gate.ready_at(host.ip), now + max(0.02, self._policy.ip_delay))

    def looks_up(self, waiting: Waiting, host: Host, now: float) -> None:
        """The address of a host is looked up before it is asked."""
        self.slots.took(waiting.row, now, doubtful=is_doubtful(host))

    def looked_up(self, waiting: Waiting) -> None:
        """The address is there; the slot is free."""
        self.slots.gave_back(waiting.row, 0.0, answered=False)

    def began(self, waiting: Waiting, host: Host, now: float) -> None:
        """A request is sent."""
        self._gate.took(host.name, host.ip, now)
        self.slots.took(waiting.row, now, doubtful=is_doubtful(host))

    def ended(self, waiting: Waiting, visit: Visit) -> None:
        """The request is over; its slot is free."""
        self.slots.gave_back(waiting.row, visit.seconds, answered=visit.status > 0 and not visit.failed)

    def abandoned(self, host: Host, now: float) -> None:
        """A request was broken off: the host gets its delay, counted from now."""
        host.ready_at = max(host.ready_at, now + max(delay_of(host, self._policy), self._policy.ip_delay))

    def update(self, host: Host, waiting: Waiting, visit: Visit, now: float) -> bool:
        """Bring a host's record up to date after a visit. True: the URL may be tried once more."""
        self._gate.gave_back(host.name)
        return after_visit(host, visit, self._policy, tries=waiting.tries, now=now)


def recovered(
    hosts: Iterable[Host], policy: PolitenessPolicy, *, now: float, saved: float, crashed: bool
) -> list[Host]:
    """Hosts whose saved times had to be corrected when a crawl is taken up again.

    A clock that has been set back since makes saved times lie far ahead: they are moved with it, and nobody
    is left alone for longer than a day. A crawl that was killed may have asked anybody the moment before:
    every host gets its delay, counted from now.

    Args:
        hosts: Their records, which are changed.
        policy: How gently hosts are asked.
        now: The time.
        saved: The time of the last commit.
        crashed: Whether the last session was killed.
    """
    found = []
    for host in hosts:
        ready = min(host.ready_at - max(0.0, saved - now), now + MAX_RETRY_AFTER)
        if crashed:
            ready = max(ready, now + max(delay_of(host, policy), policy.ip_delay))
        if ready != host.ready_at:
            host.ready_at = ready
            found.append(host)
    return found


def after_visit(host: Host, visit: Visit, policy: PolitenessPolicy, *, tries: int, now: float) -> bool:
    """Bring a host's record up to date after a visit. True: the URL may be tried once more."""
    host.ip = visit.ip or host.ip
    if visit.crawl_delay is not None:
        host.crawl_delay = visit.crawl_delay
    retry = False
    if visit.failed:
        retry = may_retry(visit.outcome, tries + 1, policy) and not (
            # A host that never answered is most likely a wrong name: its other URLs get their turn.
            visit.outcome in NO_SUCH_HOST and host.requests == host.failures
        )
    host.requests += visit.requests
    # A robots.txt that cannot be read is a failure of the host, whatever it answered.
    closed = visit.failed and visit.outcome is Outcome.WAITING
    if visit.requests and (closed or not visit.status):
        outcome = Outcome.SERVER_ERROR if closed else visit.outcome
        after_failure(host, policy, now=now, outcome=outcome)
    elif visit.requests:
        after_response(
            host,
            policy,
            now=now,
            seconds=visit.seconds,
            status=visit.status,
            retry_after=visit.retry_after,
        )
    if visit.not_before is not None:
        host.ready_at = max(host.ready_at, visit.not_before)
    return retry
