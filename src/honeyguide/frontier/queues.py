"""Waiting URLs by host, and the hosts by readiness: a heap of heaps.

Each host has a heap of its waiting URLs. A host with waiting URLs is in one of two further heaps: `timed`,
by the time it may be asked again, or `ready`, by its best URL. A busy host is in neither. So the best URL
over all ready hosts is at hand in O(log n) of URLs and hosts, whatever their numbers. Hosts whose address has
to be left alone are parked (`parking.py`), in no heap.
"""

from __future__ import annotations

from math import isnan, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from honeyguide.compiled import compiled
from honeyguide.frontier.pairing_heap import Tree, cut, join_evenly, members, pop, push, remove, taken_out
from honeyguide.model import Outcome
from honeyguide.store.columns import MAX_STATUS, Columns, grown

IDLE, TIMED, READY, BUSY, PARKED = 0, 1, 2, 3, 4
"""States of a host; an idle one has no waiting URLs."""

MODES = {"first": 0, "max": 1, "sum": 2, "latest": 3}
"""How priorities of the same URL become one."""

KEPT, NEW, REPLACED = 0, 1, 2
"""What became of a found URL."""

_FIRST, _MAX, _SUM = MODES["first"], MODES["max"], MODES["sum"]
_WAITING, _ORDER = int(Outcome.WAITING), int(Outcome.ORDER)
_OF_LINKS = (_ORDER, int(Outcome.NOFOLLOW), int(Outcome.TOO_DEEP), int(Outcome.LANGUAGE))
REVIVED = np.isin(np.arange(MAX_STATUS), _OF_LINKS)
"""By outcome: whether such a URL waits after all when another link gives it a priority."""
_READY_ROOT, _TIMED_ROOT = 0, 1


class Urls(NamedTuple):
    """Columns of URLs by row, and their heaps."""

    hosts: NDArray[np.int32]
    status: NDArray[np.uint8]
    tree: Tree


class Hosts(NamedTuple):
    """Columns of hosts by row, and their two heaps, which share links."""

    best: NDArray[np.int32]
    """Root of the host's heap of URLs."""
    length: NDArray[np.int32]
    state: NDArray[np.uint8]
    closed: NDArray[np.uint8]
    """Outcome of every URL that is added from now on; 0 for an open host."""
    penalty: NDArray[np.float64]
    ready: Tree
    timed: Tree
    roots: NDArray[np.int64]
    joined: NDArray[np.uint32]
    """Heaps that joined a host's since its best URL is the best (`join_evenly`)."""


class Batch(NamedTuple):
    """Found URLs as arrays."""

    known: int
    """Rows above this are new."""
    rows: NDArray[np.int32]
    priorities: NDArray[np.float64]
    outcomes: NDArray[np.uint8]
    hosts: NDArray[np.int32]
    """Where each waits, or would wait; 0 for one that does not."""


@compiled
def requeue(urls: Urls, hosts: Hosts, host: int) -> None:
    """Put a host where it belongs after its URLs have changed."""
    best = hosts.best[host]
    state = hosts.state[host]
    if state == READY:
        if best != 0:
            key = urls.tree.key[best] - hosts.penalty[host]
            if key == hosts.ready.key[host] and best == hosts.ready.tie[host]:
                return
        hosts.roots[_READY_ROOT] = remove(hosts.ready, hosts.roots[_READY_ROOT], host)
        hosts.state[host] = IDLE
        if best != 0:
            make_ready(urls, hosts, host)
    elif state == IDLE and best != 0:
        hosts.state[host] = TIMED
        hosts.roots[_TIMED_ROOT] = push(hosts.timed, hosts.roots[_TIMED_ROOT], host)


@compiled
def make_ready(urls: Urls, hosts: Hosts, host: int) -> None:
    """Enter a host that is in no heap among the ready ones."""
    best = hosts.best[host]
    hosts.state[host] = READY
    hosts.ready.key[host] = urls.tree.key[best] - hosts.penalty[host]
    hosts.ready.tie[host] = best
    hosts.roots[_READY_ROOT] = push(hosts.ready, hosts.roots[_READY_ROOT], host)


@compiled
def withdraw(hosts: Hosts, host: int) -> None:
    """Take a host out of the heap it is in."""
    if hosts.state[host] == READY:
        hosts.roots[_READY_ROOT] = remove(hosts.ready, hosts.roots[_READY_ROOT], host)
    elif hosts.state[host] == TIMED:
        hosts.roots[_TIMED_ROOT] = remove(hosts.timed, hosts.roots[_TIMED_ROOT], host)
    hosts.state[host] = IDLE


def _add(urls: Urls, hosts: Hosts, host: int, row: int) -> None:
    push(urls.tree, 0, row)
    joined = hosts.joined[host : host + 1]
    hosts.best[host] = join_evenly(urls.tree, int(hosts.best[host]), row, joined)


def _leave(urls: Urls, hosts: Hosts, host: int, row: int) -> None:
    root, joined = int(hosts.best[host]), hosts.joined[host : host + 1]
    if row == root:
        hosts.best[host] = pop(urls.tree, row)
        joined[0] = 0
    else:
        hosts.best[host] = join_evenly(urls.tree, root, cut(urls.tree, row), joined)


@compiled
def enqueue(urls: Urls, hosts: Hosts, row: int) -> None:
    """Add a URL to its host's heap."""
    host = urls.hosts[row]
    _add(urls, hosts, int(host), row)
    hosts.length[host] += 1
    requeue(urls, hosts, host)


@compiled
def dequeue(urls: Urls, hosts: Hosts, row: int) -> None:
    """Take a URL out of its host's heap, if it is in it."""
    if urls.tree.previous[row] != 0:
        host = urls.hosts[row]
        _leave(urls, hosts, int(host), row)
        hosts.length[host] -= 1
        requeue(urls, hosts, host)


@compiled
def change_priority(urls: Urls, hosts: Hosts, row: int, priority: float) -> None:
    """Give a waiting URL another priority, whether it is queued or in flight.

    When all that waits is weighed anew, most URLs are where they belong already.
    """
    tree = urls.tree
    old = tree.key[row]
    tree.key[row] = priority
    if tree.previous[row] == 0 or priority == old:
        return
    host = int(urls.hosts[row])
    best = int(hosts.best[host])
    if priority < old and tree.child[row] == 0:
        pass  # it stays below what it was below, and nothing is below it
    elif row == best and priority > old:
        pass  # and the best is still the best
    elif priority > old:
        joined = hosts.joined[host : host + 1]
        hosts.best[host] = join_evenly(tree, best, taken_out(tree, row), joined)
    else:
        _leave(urls, hosts, host, row)
        _add(urls, hosts, host, row)
    requeue(urls, hosts, host)


@compiled
def revisable(  # noqa: PLR0917 - C takes no keywords
    status: NDArray[np.uint8],
    old: NDArray[np.float64],
    rows: NDArray[np.int32],
    priorities: NDArray[np.float64],
    below: float,
    waiting: int,
    changed: NDArray[np.int64],
    given: NDArray[np.float64],
) -> int:
    """How many of some URLs wait with another priority than the one they are given.

    Args:
        status: Of all URLs.
        old: Their priorities.
        rows: Which URLs; 0 for one that is not known.
        priorities: One each.
        below: URLs with a priority from here on keep it.
        waiting: The status of URLs that wait.
        changed: Gets their rows.
        given: Gets their new priorities.
    """
    if np.isnan(priorities).any():
        raise ValueError("a priority is not a number; give every URL a finite one")
    known = old[rows]
    found = (rows > 0) & (status[rows] == waiting) & (known < below) & (known != priorities)
    count = int(np.count_nonzero(found))
    changed[:count], given[:count] = rows[found], priorities[found]
    return count


def join(urls: Urls, hosts: Hosts, counts: NDArray[np.int64], batch: Batch, mode: int) -> NDArray[np.uint8]:
    """Take in found URLs, one after the other; returns what became of each."""
    actions = np.zeros(len(batch.rows), np.uint8)
    join_into(urls, hosts, counts, batch, mode, actions, REVIVED, _WAITING)
    return actions


@compiled
def join_into(  # noqa: PLR0917 - C takes no keywords
    urls: Urls,
    hosts: Hosts,
    counts: NDArray[np.int64],
    batch: Batch,
    mode: int,
    actions: NDArray[np.uint8],
    revived: NDArray[np.bool_],
    waiting: int,
) -> None:
    """`join`, what became of each written to `actions`."""
    known = batch.known
    for i in range(len(batch.rows)):
        row, priority = int(batch.rows[i]), float(batch.priorities[i])
        outcome, host = int(batch.outcomes[i]), int(batch.hosts[i])
        if outcome == waiting and hosts.closed[host] != 0:
            outcome = int(hosts.closed[host])
        status = int(urls.status[row])
        if row > known or (outcome == waiting and revived[status]):
            actions[i] = NEW if row > known else REPLACED
            if row > known:
                known = row
            else:
                counts[status] -= 1
            counts[outcome] += 1
            urls.status[row] = outcome
            urls.tree.key[row] = priority
            if outcome == waiting:
                urls.hosts[row] = host
                enqueue(urls, hosts, row)
        elif status == waiting and outcome == waiting and mode != _FIRST:
            old = float(urls.tree.key[row])
            if mode == _MAX and not priority > old:
                continue
            if mode == _SUM and not isnan(old + priority):
                priority = old + priority
            actions[i] = REPLACED
            if priority != old:
                change_priority(urls, hosts, row, priority)


@compiled
def best_host(urls: Urls, hosts: Hosts, now: float) -> int:
    """Host with the best URL of those that may be asked at `now`; 0 for none."""
    host = hosts.roots[_TIMED_ROOT]
    while host != 0 and -hosts.timed.key[host] <= now:
        hosts.roots[_TIMED_ROOT] = pop(hosts.timed, host)
        hosts.state[host] = IDLE
        if hosts.best[host] != 0:
            make_ready(urls, hosts, host)
        host = hosts.roots[_TIMED_ROOT]
    return int(hosts.roots[_READY_ROOT])


@compiled
def take(urls: Urls, hosts: Hosts, host: int) -> int:
    """Hand out a host's best URL and mark the host busy."""
    withdraw(hosts, host)
    hosts.state[host] = BUSY
    row = int(hosts.best[host])
    _leave(urls, hosts, host, row)
    hosts.length[host] -= 1
    return row


@compiled
def schedule(urls: Urls, hosts: Hosts, host: int, due: float, release: bool) -> None:
    """Say when a host may be asked again; a busy one stays busy unless it is released."""
    if hosts.state[host] == BUSY and not release:
        hosts.timed.key[host] = -due
        return
    withdraw(hosts, host)
    hosts.timed.key[host] = -due
    requeue(urls, hosts, host)


@compiled
def park(hosts: Hosts, host: int) -> None:
    """Take a host out of the heaps until `unpark`, or until it is scheduled."""
    withdraw(hosts, host)
    hosts.state[host] = PARKED


@compiled
def unpark(urls: Urls, hosts: Hosts, host: int) -> None:
    """Put a parked host among the ready ones."""
    if hosts.state[host] == PARKED:
        hosts.state[host] = IDLE
        if hosts.best[host] != 0:
            make_ready(urls, hosts, host)


@compiled
def free(hosts: Hosts, parked: NDArray[np.int32]) -> None:
    """Unpark hosts without URLs."""
    for host in parked:
        if hosts.state[host] == PARKED:
            hosts.state[host] = IDLE


@compiled
def goes_before(urls: Urls, hosts: Hosts, one: int, other: int) -> bool:
    """Whether the best URL of a host goes before that of another one."""
    first, second = hosts.best[one], hosts.best[other]
    mine = urls.tree.key[first] - hosts.penalty[one]
    yours = urls.tree.key[second] - hosts.penalty[other]
    return bool(mine > yours or (mine == yours and first < second))


@compiled
def best_of(urls: Urls, hosts: Hosts, parked: NDArray[np.int32]) -> int:
    """The parked host with the best URL; 0 for none."""
    best = 0
    for host in parked:
        candidate = hosts.state[host] == PARKED and hosts.best[host] != 0
        if candidate and (best == 0 or goes_before(urls, hosts, int(host), best)):
            best = int(host)
    return best


@compiled
def earliest(hosts: Hosts, now: float) -> float:
    """When the next host may be asked: `now` if one can be already, NaN if none waits."""
    host = hosts.roots[_TIMED_ROOT]
    if hosts.roots[_READY_ROOT] != 0:
        return now
    if host == 0:
        return nan
    return float(max(now, -hosts.timed.key[host]))


def clear(urls: Urls, hosts: Hosts, host: int) -> NDArray[np.int32]:
    """Empty a host's heap; returns the rows that were in it, in order."""
    rows = np.empty(hosts.length[host], np.int32)
    clear_into(urls, hosts, host, rows)
    rows.sort()
    return rows


@compiled
def clear_into(urls: Urls, hosts: Hosts, host: int, rows: NDArray[np.int32]) -> None:
    """Empty a host's heap and write what was in it to `rows`, in no particular order."""
    members(urls.tree, int(hosts.best[host]), rows)
    for row in rows:
        urls.tree.child[row] = 0
        urls.tree.next[row] = 0
        urls.tree.previous[row] = 0
    hosts.best[host] = 0
    hosts.length[host] = 0
    if hosts.state[host] != BUSY:
        withdraw(hosts, host)


@compiled
def change_priorities(
    urls: Urls, hosts: Hosts, rows: NDArray[np.int64], priorities: NDArray[np.float64]
) -> None:
    """`change_priority` for many."""
    for i in range(len(rows)):
        change_priority(urls, hosts, rows[i], priorities[i])


def enqueue_all(urls: Urls, hosts: Hosts, size: int, host_count: int) -> None:
    """Queue every waiting URL of rows 1 to `size`; for a start from the state."""
    enqueue_rows(urls, hosts, size, host_count, _WAITING)


@compiled
def enqueue_rows(urls: Urls, hosts: Hosts, size: int, host_count: int, waiting: int) -> None:
    """`enqueue_all`, told what a waiting URL's status is."""
    for row in range(1, size + 1):
        if urls.status[row] == waiting:
            host = urls.hosts[row]
            # Not evenly: that is put off until a host is asked, or ten million would be late by a second.
            hosts.best[host] = push(urls.tree, int(hosts.best[host]), row)
            hosts.length[host] += 1
    for host in range(1, host_count):
        requeue(urls, hosts, host)


class Queues:
    """Owns the arrays above and keeps them as long as the columns and the list of hosts need."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        empty = np.zeros(0, np.int32)
        nothing = np.zeros(0, np.float64)
        self.urls = Urls(columns.hosts, columns.status, Tree(empty, empty, empty, columns.priority, empty))
        tree = Tree(empty, empty, empty, nothing, empty)
        flags = np.zeros(0, np.uint8)
        self.hosts = Hosts(
            empty, empty, flags, flags, nothing, tree, tree, np.zeros(2, np.int64), np.zeros(0, np.uint32)
        )
        self.counts: NDArray[np.int64] = np.zeros(MAX_STATUS, np.int64)
        self.grow_urls()
        self.grow_hosts(64)

    def grow_urls(self) -> None:
        """Follow the columns, whose arrays are replaced when they grow."""
        columns, old = self._columns, self.urls.tree
        if self.urls.hosts is columns.hosts and len(old.child) == columns.capacity:
            return
        child, following, previous = (
            grown(links, columns.capacity) for links in (old.child, old.next, old.previous)
        )
        tree = Tree(child, following, previous, columns.priority, old.tie)  # type: ignore[arg-type]
        self.urls = Urls(columns.hosts, columns.status, tree)

    def grow_hosts(self, size: int) -> None:
        """Make room for host rows up to `size`."""
        old = self.hosts
        if size < len(old.best):
            return
        room = max(1024, size + 1, len(old.best) * 3 // 2)
        best, length, state, closed, penalty, joined, child, following, previous, priority, best_row, due = (
            grown(array, room)
            for array in (
                *(old.best, old.length, old.state, old.closed, old.penalty, old.joined),
                *(old.ready.child, old.ready.next, old.ready.previous, old.ready.key, old.ready.tie),
                old.timed.key,
            )
        )
        ready = Tree(child, following, previous, priority, best_row)  # type: ignore[arg-type]
        timed = Tree(child, following, previous, due, np.zeros(0, np.int32))  # type: ignore[arg-type]
        self.hosts = Hosts(best, length, state, closed, penalty, ready, timed, old.roots, joined)  # type: ignore[arg-type]
