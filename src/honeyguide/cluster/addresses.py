"""Addresses that hosts of several shards share: who may ask one next.

A shard keeps the delays of its own hosts. An address may have hosts of other shards, too. One small directory
for all knows who has met which address:

- Before a shard asks an address for the first time, it says so. Mostly the answer is: yours alone. From then
  on the shard spaces its requests by itself, and nobody is asked again.
- When a second shard meets the address, the first is told at its next call, and says when it has asked last.
  From then on both need leases: a lease is a moment at which one request may go, and at most `ip_at_once`
  are out.

A lease that is not used within its window is lost, and the next moment lies a delay after the end of that
window. So two requests are never closer than the delay, at the price of the window: a shared address is asked
a little more slowly. Times are those of the machines' clocks, which must agree within `SLACK`.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import msgspec

from honeyguide.fetch.politeness import IpGate, PolitenessPolicy

WINDOW: Final = 0.3
"""Seconds for which a lease may be used."""
SLACK: Final = 0.1
"""Seconds by which the machines' clocks may differ."""
LOOK: Final = 0.1
"""Seconds between two rounds, while something is wanted."""
HEARTBEAT: Final = 0.5
SILENCE: Final = 15.0
"""Seconds after which a shard that says nothing is taken to ask nobody."""
LONGEST: Final = 120.0
"""Seconds after which a lease is taken to be over, whatever became of its shard."""


class Asks(msgspec.Struct):
    """What a shard says to the directory."""

    epoch: str = ""
    met: list[str] = []
    """Addresses it wants to ask for the first time."""
    gave_up: dict[str, tuple[float, int]] = {}
    """Addresses it had alone and shares now: when the next request may go, and how many are under way."""
    wants: list[str] = []
    """Shared addresses it has a URL for."""
    returned: dict[str, int] = {}
    """Requests to shared addresses that have ended, or leases that were not used."""


class Told(msgspec.Struct):
    """What the directory answers."""

    epoch: str
    alone: list[str] = []
    shared: list[str] = []
    leases: dict[str, float] = {}
    """Moments at which one request may go."""


class Directory:
    """Knows who asks which address. Made a Ray actor by the coordinator.

    Args:
        delay: Seconds between two requests to an address.
        at_once: Requests to an address at a time.
        grace: Seconds after the start in which nothing is leased: shards may still tell of what they have.
        now: The time.
    """

    def __init__(
        self, delay: float, at_once: int, *, grace: float = 2.0, now: Callable[[], float] = time.time
    ) -> None:
        self._delay = delay
        self._at_once = at_once
        self._now = now
        self._epoch = secrets.token_hex(4)
        self._from = now() + grace
        self._met: dict[str, set[str]] = {}
        self._alone: dict[str, str] = {}
        """Shards that think they have an address alone."""
        self._to_tell: dict[str, set[str]] = {}
        """Addresses of which shards do not know yet that they share them."""
        self._next: dict[str, float] = {}
        self._out: dict[str, list[tuple[float, str]]] = {}
        """Leases that are out: until when at the latest, and whose."""
        self._heard: dict[str, float] = {}

    def round(self, shard: str, asks: Asks) -> Told:
        """Take in what a shard says, and answer."""
        now = self._now()
        self._heard[shard] = now
        told = Told(self._epoch)
        if asks.epoch and asks.epoch != self._epoch:
            return told  # it will say everything again
        for ip, (ready, active) in asks.gave_up.items():
            self._shares(ip, shard, ready, active, now)
        for ip, count in asks.returned.items():
            self._give_back(ip, shard, count)
        for ip in asks.met:
            others = self._met.setdefault(ip, set())
            others.add(shard)
            if len(others) == 1:
                self._alone[ip] = shard
                told.alone.append(ip)
            else:
                told.shared.append(ip)
                if (owner := self._alone.get(ip, shard)) != shard:
                    self._to_tell.setdefault(owner, set()).add(ip)
        told.shared += sorted(self._to_tell.get(shard, ()))
        for ip in asks.wants:
            if (moment := self._lease(ip, shard, now)) is not None:
                told.leases[ip] = moment
        return told

    def _shares(self, ip: str, shard: str, ready: float, active: int, now: float) -> None:
        """A shard that had an address alone knows that it has not."""
        self._met.setdefault(ip, set()).add(shard)
        self._to_tell.get(shard, set()).discard(ip)
        if self._alone.get(ip) == shard:
            del self._alone[ip]
            self._next[ip] = max(self._next.get(ip, 0.0), ready)
            self._out.setdefault(ip, []).extend([(now + LONGEST, shard)] * active)

    def _give_back(self, ip: str, shard: str, count: int) -> None:
        out = self._out.get(ip, [])
        for _ in range(count):
            held = next((one for one in out if one[1] == shard), None)
            if held is not None:
                out.remove(held)

    def _lease(self, ip: str, shard: str, now: float) -> float | None:
        owner = self._alone.get(ip)
        if owner is not None:
            if owner == shard or now - self._heard.get(owner, 0.0) < SILENCE:
                return None  # until it has heard
            del self._alone[ip]
        if now < self._from:
            return None
        out = self._out[ip] = [one for one in self._out.get(ip, []) if one[0] > now]
        moment = max(now, self._next.get(ip, 0.0))
        if len(out) >= self._at_once or moment > now + WINDOW:
            return None  # nobody is given a moment that another may have use for first
        out.append((now + LONGEST, shard))
        self._next[ip] = moment + WINDOW + self._delay + SLACK
        return moment


class SharedGate(IpGate):
    """Spacing per address where other shards ask, too. The crawl's thread and the one of `run` use it.

    Args:
        policy: How gently addresses are asked.
        shard: Name of the shard.
        ask: Asks the directory; None where it cannot be reached.
        wake: Makes the crawl look.
        now: The time.
    """

    def __init__(
        self,
        policy: PolitenessPolicy,
        shard: str,
        ask: Callable[[str, Asks], Told | None],
        *,
        wake: Callable[[], None] = lambda: None,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(policy)
        self._shard = shard
        self._ask = ask
        self._wake = wake
        self._now = now
        self._lock = threading.RLock()
        self._alone: set[str] = set()
        self._shared: set[str] = set()
        self._asks = Asks()
        self._asked: set[str] = set()
        """Addresses whose first answer is still to come."""
        self._wanted: set[str] = set()
        self._leases: dict[str, float] = {}
        self._by_lease: dict[str, str] = {}
        self._news = threading.Event()
        self.rounds = 0

    def ready_at(self, ip: str) -> float:
        """When the address may be asked; soon, where the directory has to say."""
        with self._lock:
            if not ip or ip in self._alone:
                return super().ready_at(ip)
            now = self._now()
            if ip in self._shared:
                moment = self._leases.get(ip)
                if moment is not None and now <= moment + WINDOW:
                    return max(moment, super().ready_at(ip))
                if moment is not None:
                    self._lose(ip)
                self._wanted.add(ip)
            elif ip not in self._asked:
                self._asked.add(ip)
                self._asks.met.append(ip)
            self._news.set()
            return now + LOOK / 2

    def took(self, who: str, ip: str, now: float) -> None:
        """A request to the address begins."""
        with self._lock:
            super().took(who, ip, now)
            if ip in self._shared and self._leases.pop(ip, None) is not None:
                self._by_lease[who] = ip

    def gave_back(self, who: str) -> None:
        """Its request has ended."""
        with self._lock:
            super().gave_back(who)
            ip = self._by_lease.pop(who, "")
            if ip:
                self._count_returned(ip)

    def _lose(self, ip: str) -> None:
        del self._leases[ip]
        self._count_returned(ip)

    def _count_returned(self, ip: str) -> None:
        self._asks.returned[ip] = self._asks.returned.get(ip, 0) + 1
        self._news.set()

    def run(self, ended: threading.Event) -> None:
        """Talk to the directory until the crawl has ended."""
        while not ended.is_set():
            self._news.wait(HEARTBEAT)
            self._news.clear()
            self.round()
            ended.wait(LOOK)

    def round(self) -> None:
        """Say what there is to say, and take the answer."""
        with self._lock:
            asks, self._asks = self._asks, Asks(epoch=self._asks.epoch)
            asks.wants = [ip for ip in self._wanted if ip not in self._leases]
            self._wanted.clear()
        told = self._ask(self._shard, asks)
        self.rounds += 1
        with self._lock:
            if told is None or (asks.epoch and told.epoch != asks.epoch):
                self._again(asks, told)
                return
            self._asks.epoch = told.epoch
            self._alone.update(told.alone)
            for ip in told.shared:
                self._becomes_shared(ip)
            self._asked.difference_update(told.alone, told.shared)
            for ip, moment in told.leases.items():
                self._leases[ip] = moment
        if told.alone or told.leases:
            self._wake()

    def _becomes_shared(self, ip: str) -> None:
        if ip in self._alone:
            self._alone.discard(ip)
            ready = max(self._ready.get(ip, 0.0), self._now())
            self._asks.gave_up[ip] = ready, self._active[ip]
            for who, at in self._asking.items():
                if at == ip:
                    self._by_lease[who] = ip
            self._news.set()
        self._shared.add(ip)

    def _again(self, asks: Asks, told: Told | None) -> None:
        """Nothing was heard, or the directory is a new one: what was said is said again."""
        fresh = self._asks
        fresh.met = [*asks.met, *fresh.met]
        fresh.gave_up = {**asks.gave_up, **fresh.gave_up}
        fresh.returned = dict(Counter(asks.returned) + Counter(fresh.returned))
        self._wanted.update(asks.wants)
        if told is not None:
            fresh.epoch = ""
            fresh.returned = {}
            fresh.met = [*self._alone, *self._shared, *fresh.met]
            self._asked.update(fresh.met)
            self._alone.clear()
            self._leases.clear()


def ray_asker(directory: Any) -> Callable[[str, Asks], Told | None]:
    """Asks a directory that is a Ray actor."""
    import ray

    def ask(shard: str, asks: Asks) -> Told | None:
        try:
            found: Told = ray.get(directory.round.remote(shard, asks), timeout=10.0)
        except ray.exceptions.RayError:
            return None
        return found

    return ask
