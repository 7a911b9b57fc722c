"""Turns at hosts and addresses, for every request, whoever makes it.

The frontier hands out one URL of a host at a time and keeps its delays. A redirect of robots.txt asks a host
that the frontier has not handed out: hundreds of sites may send us to one other. Here both meet: whoever asks
a host has it alone, and the next request waits for the delay.

A request never waits for a turn while it has another one, so no two can wait for each other.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import TypeAlias

from honeyguide.fetch.politeness import IpGate, PolitenessPolicy
from honeyguide.web.url import host_key, parts

LONGEST_QUEUE = 20.0
"""Seconds that a request may have to wait at a host; with more to come it is put off instead."""
_LOOK_AGAIN = 0.05
_MOST_HOSTS = 20_000

LookUp: TypeAlias = Callable[[str], Awaitable[str]]
"""From a host name to the address that will be dialled for it; empty when there is none."""


class Crowded(Exception):
    """Too many wait for this host already; `until` is when to try again."""

    def __init__(self, until: float) -> None:
        super().__init__("too many requests wait for this host")
        self.until = until


class _Turn:
    """A host alone, for as long as a request takes. A class: every page has one, and generators cost more."""

    __slots__ = ("_host", "_turns")

    def __init__(self, turns: Turns, host: str) -> None:
        self._turns = turns
        self._host = host

    async def __aenter__(self) -> None:
        await self._turns.begin(self._host)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._turns.end(self._host)


class Turns:
    """Who may be asked now.

    Args:
        policy: The delays to keep.
        gate: Spacing per address, shared with the crawl loop.
        now: The crawl's clock.
        sleep: Waits on that clock.
        look_up: Finds the address of a host that was never asked.
    """

    def __init__(
        self,
        policy: PolitenessPolicy,
        gate: IpGate,
        *,
        now: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        look_up: LookUp | None = None,
    ) -> None:
        self._policy = policy
        self._gate = gate
        self._now = now
        self._sleep = sleep
        self._look_up = look_up
        self._ready: dict[str, float] = {}
        self._delays: dict[str, float] = {}
        """Crawl-delay of the hosts that ask for one."""
        self._locks: dict[str, asyncio.Lock] = {}
        self._wanted: Counter[str] = Counter()
        """Requests by host that have, or wait for, its lock."""

    def asks_for(self, host: str, crawl_delay: float | None, *, ready_at: float = 0.0) -> None:
        """Note the Crawl-delay of a host, where it has one; it holds for those who wait already.

        Args:
            host: Its name, with a port that is not the usual one.
            crawl_delay: Seconds; None, or a negative number, where it names none.
            ready_at: When it may be asked next, as far as an earlier session knew.
        """
        if crawl_delay is None or crawl_delay <= self._policy.min_delay:
            return
        before = self._delay(host)
        self._delays[host] = min(crawl_delay, self._policy.max_crawl_delay)
        if host in self._ready:
            self._ready[host] += max(0.0, self._delay(host) - before)
        if ready_at > self._ready.get(host, 0.0):
            self._ready[host] = ready_at

    def handed_out(self, url: str) -> _Turn:
        """The turn of a URL that the frontier has handed out: it waits only for those it knows nothing of."""
        return _Turn(self, host_key(url))

    @asynccontextmanager
    async def elsewhere(self, url: str, *, instead_of: str) -> AsyncIterator[None]:
        """The turn of a request that the frontier knows nothing of.

        Args:
            url: What is asked for.
            instead_of: URL of the request that led here and has ended; its address is free again.

        Raises:
            Crowded: The queue is too long.
        """
        host = host_key(url)
        now = self._now()
        due = max(now, self._ready.get(host, 0.0)) + self._wanted[host] * self._delay(host)
        if due > now + LONGEST_QUEUE:
            raise Crowded(due)
        self._gate.gave_back(host_key(instead_of))
        ip = await self._look_up(parts(url).host) if self._look_up is not None else ""
        async with _Turn(self, host):
            while (due := self._gate.ready_at(ip)) > (now := self._now()):
                await self._sleep(min(_LOOK_AGAIN, due - now))
            who = f"robots.txt at {host}"
            self._gate.took(who, ip, now)
            try:
                yield
            finally:
                self._gate.gave_back(who)

    async def begin(self, host: str) -> None:
        """Wait for a host's lock and for its delay."""
        lock = self._locks.get(host)
        if lock is None:
            lock = self._locks[host] = asyncio.Lock()
        self._wanted[host] += 1
        try:
            await lock.acquire()
            try:
                while (wait := self._ready.get(host, 0.0) - self._now()) > 0.0:
                    await self._sleep(wait)
            except BaseException:
                lock.release()
                raise
        except BaseException:
            self._leave(host)
            raise

    def end(self, host: str) -> None:
        """The request is over: the host gets its delay, and then to the next."""
        self._asked(host)
        self._locks[host].release()
        self._leave(host)

    def _leave(self, host: str) -> None:
        self._wanted[host] -= 1
        if not self._wanted[host]:
            del self._wanted[host], self._locks[host]

    def _delay(self, host: str) -> float:
        return max(self._policy.min_delay, self._delays.get(host, 0.0))

    def _asked(self, host: str) -> None:
        now = self._now()
        self._ready[host] = now + self._delay(host)
        if len(self._ready) > _MOST_HOSTS:
            self._ready = {name: at for name, at in self._ready.items() if at > now}
