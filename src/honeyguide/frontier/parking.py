"""Hosts that wait for something they share: for their address, or for a slot that only some of them may have.

Many small hosts often live on one machine, which is asked now and then, whatever their number. Were each host
looked at whenever its address may be asked, a machine with ten thousand blogs would cost ten thousand looks a
page. So hosts whose address is not ready, or that are put off together, wait here, out of the heaps, and only
the best of them goes back when it may.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from heapq import heappop, heappush
from math import inf

import numpy as np

from honeyguide.frontier import queues
from honeyguide.frontier.queues import PARKED, Queues

PUT_OFF = "-"
"""Stands for an address: hosts that wait for anything else. They are looked at each time."""
_FEW = 64
_AGAIN = 1.0
"""Seconds after which an address is looked at once more, in case the host that was let go is not asked."""


class Parking:
    """Parked hosts by address. A look at each address that has some is always planned.

    A parked host that is given a better URL, while another of its address has been let go and waits for a
    slot, is found when that one's turn comes, or a second later.
    """

    def __init__(self, heaps: Queues) -> None:
        self._heaps = heaps
        self._rows: dict[str, array[int]] = {}
        """Hosts that were parked; those that have left since are passed over."""
        self._planned: dict[str, float] = {}
        self._looks: list[tuple[float, str]] = []
        """A heap of planned looks, and of some that were brought forward."""

    def keeps(self, host: int, address: str, now: float, due: float) -> bool:
        """Whether a ready host has to wait, since its address does, or since a parked host goes before it."""
        better = 0 if due > now else self._better(address, host)
        if due <= now and not better:
            return False
        self.park(host, address, due if due > now else now + _AGAIN)
        if better:
            queues.unpark(self._heaps.urls, self._heaps.hosts, better)
        return True

    def admit(self, now: float, ready: Callable[[str, int], float]) -> None:
        """Let the best host of each address go that is due, if `ready` says that it may be asked."""
        if PUT_OFF in self._rows:
            self.look(PUT_OFF, now)
        while True:
            due, host = self._next()
            if due > now:
                return
            _, address = heappop(self._looks)
            del self._planned[address]
            due = ready(address, host)
            if due <= now:
                queues.unpark(self._heaps.urls, self._heaps.hosts, host)
            self.look(address, due if due > now else now + _AGAIN)

    def park(self, host: int, address: str, due: float) -> None:
        """Take a host out of the heaps, at least until `due`."""
        queues.park(self._heaps.hosts, host)
        rows = self._rows.setdefault(address, array("i"))
        rows.append(host)
        if len(rows) > _FEW and len(rows) & (len(rows) - 1) == 0:
            parked = np.unique(np.frombuffer(rows, np.int32))
            rows = array("i", parked[self._heaps.hosts.state[parked] == PARKED].tolist())
            self._rows[address] = rows
        self.look(address, due)

    def look(self, address: str, due: float) -> None:
        """Plan a look at an address, if hosts wait for it and none is planned before."""
        if address in self._rows and due < self._planned.get(address, inf):
            self._planned[address] = due
            heappush(self._looks, (due, address))

    def next_look(self) -> float:
        """When the next look is due; infinity when no host waits."""
        return self._next()[0]

    def _next(self) -> tuple[float, int]:
        """The same, and the host that it is for."""
        while self._looks:
            due, address = self._looks[0]
            if self._planned.get(address) == due and (host := self._best(address)):
                return due, host
            heappop(self._looks)
        return inf, 0

    def _best(self, address: str) -> int:
        """The parked host of an address with the best URL; 0 when none has any."""
        rows = self._rows.get(address)
        if rows is None:
            return 0
        parked = np.frombuffer(rows, np.int32)
        host = queues.best_of(self._heaps.urls, self._heaps.hosts, parked)
        if not host:  # what is still parked has nothing to be asked for: it comes back with its next URL
            queues.free(self._heaps.hosts, parked)
            del self._rows[address]
            self._planned.pop(address, None)
        return host

    def _better(self, address: str, host: int) -> int:
        """The parked host of an address that goes before `host`; 0 when none does."""
        rows = self._rows.get(address)
        if rows is None:
            return 0
        found = queues.best_of(self._heaps.urls, self._heaps.hosts, np.frombuffer(rows, np.int32))
        return found if found and queues.goes_before(self._heaps.urls, self._heaps.hosts, found, host) else 0
