"""The frontier: which known URL is asked for next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import inf, isnan
from typing import Any, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.errors import CollectionError
from honeyguide.frontier import queues
from honeyguide.frontier.links import Links
from honeyguide.frontier.parking import PUT_OFF, Parking
from honeyguide.frontier.pending import Pending
from honeyguide.frontier.queues import BUSY, MODES, NEW, REPLACED, REVIVED, Batch, Queues
from honeyguide.frontier.records import Again, Found, Offers, Waiting
from honeyguide.frontier.seen import Seen
from honeyguide.model import CrawlGraph, Host, Outcome
from honeyguide.store.state import State

Asked: TypeAlias = Callable[[Host], float]
"""When something allows a host to be asked."""

_WAITING, _FETCHED = int(Outcome.WAITING), int(Outcome.FETCHED)
"""As plain numbers: of anything else numpy asks the class for attributes, at each comparison."""
_SOON = 0.05
"""Seconds after which a busy host is looked at again for a page to be visited once more."""


class Frontier:
    """All known URLs, best first over the hosts that may be asked.

    Starts from whatever the state holds, so building one on the state of a stopped crawl resumes it: URLs
    that were in flight wait again. Equal calls give equal results, also across such a restart.

    Args:
        state: where everything is kept; `flush` writes to its open transaction, the caller commits.
        in_memory: URL records held back before they are written on their own accord. That takes 3 µs each,
            in which nothing else is done.
        max_pages_per_domain: a domain's URLs end as `DOMAIN_CAP` once so many of its pages were fetched.
            Requests in flight on other hosts of the domain at that moment may still add to it.
        keep_graph: keep links and scores for `graph()`.
    """

    def __init__(
        self,
        state: State,
        *,
        in_memory: int = 5_000,
        max_pages_per_domain: int | None = None,
        keep_graph: bool = False,
    ) -> None:
        self._state = state
        self._in_memory = in_memory
        self._cap = max_pages_per_domain
        self._columns = state.columns()
        self._queues = Queues(self._columns)
        self._parking = Parking(self._queues)
        self._seen = Seen()
        self._pending = Pending(state, self._columns)
        self._links = Links(state) if keep_graph else None
        self._hosts: list[Host] = [Host(row=0, name="")]
        self._host_rows: dict[str, int] = {}
        self._domains: dict[str, str] = {}
        self._domain_hosts: dict[str, list[int]] = {}
        self._domain_pages: Counter[str] = Counter()
        self._dirty_hosts: set[int] = set()
        self._in_flight: dict[int, str] = {}
        self._load()

    def _load(self) -> None:
        columns, size = self._columns, self._columns.size
        if self._seen.rebuild(columns.ids, size):
            raise CollectionError("the state knows a URL twice; restore state.sqlite from a copy")
        self._enter_hosts(self._state.hosts())
        status, hosts = columns.status[: size + 1], columns.hosts[: size + 1]
        if hosts.max(initial=0) >= len(self._hosts) or hosts.min(initial=0) < 0:
            raise CollectionError("the state names an unknown host; restore state.sqlite from a copy")
        fetched = np.bincount(hosts[status == Outcome.FETCHED], minlength=len(self._hosts))
        for row in np.flatnonzero(fetched).tolist():
            self._domain_pages[self._hosts[row].domain] += int(fetched[row])
        for domain in self._domain_pages:
            self._close_domain(domain)
        for outcome, count in columns.counts().items():
            self._queues.counts[outcome] = count
        queues.enqueue_all(self._queues.urls, self._queues.hosts, size, len(self._hosts))

    # Taking in

    def add(self, found: Sequence[Found], combine: str = "max") -> list[int]:
        """Take in found URLs; returns the row of each, in order.

        A waiting URL found again has its priorities combined: `max` takes the better link and what
        belongs to it, `sum` adds up and `latest` replaces (both keep the newest link), `first` changes
        nothing. One that the order had left out waits if it is given a priority now. URLs that ended
        otherwise are left alone.

        Raises:
            ValueError: a priority is NaN, or `combine` is unknown.
        """
        offers = Offers(
            [one.id for one in found],
            [one.priority for one in found],
            [one.outcome for one in found],
            found.__getitem__,
        )
        rows: list[int] = self.offer(offers, combine).tolist()
        return rows

    def offer(self, offers: Offers, combine: str = "max") -> NDArray[np.int32]:
        """`add` of URLs whose records are made only where they are needed."""
        if combine not in MODES:
            raise ValueError(f"combine = {combine!r} is not known; use one of {', '.join(MODES)}")
        if not offers.ids:
            return np.zeros(0, np.int32)
        priorities = np.array(offers.priorities, np.float64)
        if np.isnan(priorities).any():
            raise ValueError("a priority is not a number; give every link a finite one")
        columns, known, count = self._columns, self._columns.size, len(offers.ids)
        outcomes = np.array(offers.outcomes, np.uint8)
        columns.extend(count)
        self._queues.grow_urls()
        rows, columns.size = self._seen.rows(np.array(offers.ids, np.int64), columns.ids, size=known)
        hosts = columns.hosts[rows]
        unplaced = (outcomes == _WAITING) & ((rows > known) | REVIVED[columns.status[rows]])
        made = {place: offers.make(place) for place in unplaced.nonzero()[0].tolist()}
        for place, found in made.items():
            hosts[place] = self._host_row(found)
        batch = Batch(known, rows, priorities, outcomes, hosts)
        actions = queues.join(
            self._queues.urls, self._queues.hosts, self._queues.counts, batch, MODES[combine]
        )
        new = (actions == NEW).nonzero()[0].tolist()
        self._pending.add([made.get(place) or offers.make(place) for place in new])
        replaced = (actions == REPLACED).nonzero()[0]
        if len(replaced):
            self._pending.changed(rows[replaced])
            for place in replaced.tolist():
                self._pending.replace(int(rows[place]), made.get(place) or offers.make(place))
        if len(self._pending) >= self._in_memory:
            self.flush()
        return rows

    def _host_row(self, found: Found) -> int:
        """Row of the host of a found URL, entered if need be."""
        row = self._host_rows.get(found.host)
        if row is None:
            # Half a million hosts may be known of ten thousand domains: each is one object for all of them.
            domain = self._domains.setdefault(found.domain, found.domain)
            row = self._enter_host(Host(row=len(self._hosts), name=found.host, domain=domain), 0.0)
            self._dirty_hosts.add(row)
        return row

    def _enter_hosts(self, stored: list[tuple[Host, float]]) -> None:
        """Enter the hosts of the state: as `_enter_host` of each, for half a million at once."""
        found = [host for host, _ in stored]
        if [host.row for host in found] != list(range(1, len(found) + 1)):
            raise CollectionError("the state lacks a host; restore state.sqlite from a copy")
        self._hosts += found
        self._host_rows = {host.name: host.row for host in found}
        self._domains = {host.domain: host.domain for host in found}
        self._queues.grow_hosts(len(found))
        all_rows = slice(1, len(found) + 1)
        self._queues.hosts.penalty[all_rows] = [penalty for _, penalty in stored]
        self._queues.hosts.timed.key[all_rows] = -np.array([host.ready_at for host in found], np.float64)
        if self._cap is not None:
            for host in found:
                self._domain_hosts.setdefault(host.domain, []).append(host.row)
        given_up = [host.row for host in found if host.given_up]
        self._queues.hosts.closed[given_up] = Outcome.HOST_GIVEN_UP

    def _enter_host(self, host: Host, penalty: float) -> int:
        row = host.row
        self._hosts.append(host)
        self._host_rows[host.name] = row
        self._queues.grow_hosts(row)
        self._queues.hosts.penalty[row] = penalty
        self._queues.hosts.timed.key[row] = -host.ready_at
        if self._cap is not None:
            self._domain_hosts.setdefault(host.domain, []).append(row)
            if self._domain_pages[host.domain] >= self._cap:
                self._queues.hosts.closed[row] = Outcome.DOMAIN_CAP
        if host.given_up:
            self._queues.hosts.closed[row] = Outcome.HOST_GIVEN_UP
        return row

    # Handing out

    def pop(self, now: float, *, blocked: Asked | None = None, shared: Asked | None = None) -> Waiting | None:
        """Best URL over the hosts that are ready and idle, ties going to the one found first.

        The host is busy from here on, until `release`. The URL is in flight until `finish` or `put_back`.

        Args:
            now: on the crawl's clock.
            blocked: asked for the chosen host; an answer later than `now` puts the host off, until another
                answer comes for the best of those that were put off.
            shared: the same for what all hosts of an address (the record's `ip`) have in common: the
                answer for one is that for all of them.
        """

        def ready(address: str, row: int) -> float:
            asked = blocked if address == PUT_OFF else shared
            return now if asked is None else asked(self._hosts[row])

        self._parking.admit(now, ready)
        while row := queues.best_host(self._queues.urls, self._queues.hosts, now):
            host = self._hosts[row]
            closed = int(self._queues.hosts.closed[row])
            if closed:
                self._drop_queue(row, Outcome(closed), "")
                continue
            if host.ready_at > now:
                queues.schedule(self._queues.urls, self._queues.hosts, row, host.ready_at, False)
                continue
            if blocked is not None and (due := blocked(host)) > now:
                self._parking.park(row, PUT_OFF, due)
                continue
            if shared is not None and host.ip and self._parking.keeps(row, host.ip, now, shared(host)):
                continue
            url = queues.take(self._queues.urls, self._queues.hosts, row)
            self._in_flight[url] = host.name
            self._parking.look(host.ip, now)  # for others of its address, which the caller is about to ask
            return self._pending.read(url, host.name)
        return None

    def next_ready(self, now: float) -> float | None:
        """When the next idle host with waiting URLs may be asked, not before `now`; None if none waits."""
        due = queues.earliest(self._queues.hosts, now)
        due = min(inf if isnan(due) else due, max(now, self._parking.next_look()))
        return None if due == inf else due

    def release(self, host: str) -> None:
        """The request is over: the host is idle again, and ready at its record's `ready_at`."""
        row = self._host_rows[host]
        self._sync(row)
        queues.schedule(self._queues.urls, self._queues.hosts, row, self._hosts[row].ready_at, True)

    def finish(self, row: int, outcome: Outcome, reason: str = "") -> None:
        """The URL at `row` ended, in flight or still waiting.

        Raises:
            ValueError: it has ended before, or `WAITING` was given.
        """
        status, ended = self._columns.status, int(outcome)
        if ended == _WAITING or not 0 < row <= self._columns.size or status[row] != _WAITING:
            raise ValueError(f"row {row} cannot end as {outcome.name}; only a waiting URL ends, once")
        if self._in_flight.pop(row, None) is None:
            queues.dequeue(self._queues.urls, self._queues.hosts, row)
        status[row] = ended
        self._queues.counts[_WAITING] -= 1
        self._queues.counts[ended] += 1
        self._pending.end(row, reason)
        if ended == _FETCHED:
            domain = self._hosts[self._columns.hosts[row]].domain
            self._domain_pages[domain] += 1
            self._close_domain(domain)

    def put_back(self, waiting: Waiting, *, tries: int | None = None) -> None:
        """The URL in flight waits again, with the priority its links give it now.

        Raises:
            ValueError: it is not in flight.
        """
        if self._in_flight.pop(waiting.row, None) is None:
            raise ValueError(f"row {waiting.row} is not in flight; only a popped URL can be put back")
        queues.enqueue(self._queues.urls, self._queues.hosts, waiting.row)
        if tries is not None and tries != waiting.tries:
            self._pending.set_tries(waiting.row, tries)

    # Visiting again

    def lend(self, row: int, now: float, *, asked: Sequence[Asked] = ()) -> Waiting | float:
        """Hand out a URL that has ended, to be visited again, or say when its host may be asked.

        Its outcome stays what it is until `change_outcome`. The host is busy until `release`.

        Args:
            row: The URL.
            now: On the crawl's clock.
            asked: As `blocked` and `shared` of `pop`.
        """
        number = int(self._columns.hosts[row])
        host = self._hosts[number]
        if not number or host.given_up:
            return inf
        if self._queues.hosts.state[number] == BUSY:
            return max(host.ready_at, now + _SOON)
        due = max([host.ready_at, *(ask(host) for ask in asked)])
        if due > now:
            return due
        queues.park(self._queues.hosts, number)
        self._queues.hosts.state[number] = BUSY
        return msgspec.structs.replace(self._pending.read(row, host.name), again=Again())

    def change_outcome(self, row: int, outcome: Outcome, reason: str = "") -> None:
        """A later visit found a URL that had ended in another way.

        Raises:
            ValueError: It waits, or would.
        """
        status = self._columns.status
        if _WAITING in (outcome, status[row]):
            raise ValueError(f"row {row} cannot become {outcome.name}; it has to have ended, and to stay so")
        self._queues.counts[status[row]] -= 1
        self._queues.counts[outcome] += 1
        status[row] = outcome
        self._pending.end(row, reason)

    def come_home(self, row: int, found: Found) -> None:
        """A URL that another shard had is this one's from now on, as that one says.

        Args:
            row: Of the URL, which is `ELSEWHERE`.
            found: What the other shard had of it.
        """
        if found.outcome is Outcome.WAITING:
            self.change_outcome(row, Outcome.ORDER)  # which a link brings back to life
            self.add([found])
        else:
            self.change_outcome(row, found.outcome, found.reason)

    def never_asked(self, row: int) -> bool:
        """Whether a rule ended a URL before any request."""
        status = self._columns.status[row]
        return bool(status != _WAITING and (REVIVED[status] or not self._columns.hosts[row]))

    def reason_of(self, row: int) -> str:
        """Why a URL ended as it did."""
        return self._pending.reason(row)

    def forgive(self, host: Host) -> None:
        """Ask a host again that was given up; its URLs that ended stay so."""
        host.given_up = False
        host.failures = 0
        self._queues.hosts.closed[host.row] = 0
        self._close_domain(host.domain)
        self.touch(host)

    def host_row(self, row: int) -> int:
        """Row of the host of a URL; 0 when it never had one."""
        return int(self._columns.hosts[row])

    def host_name(self, row: int) -> str:
        """Name of the host of a URL; empty when it never had one."""
        return self._hosts[self.host_row(row)].name

    # Hosts

    def host(self, name: str) -> Host:
        """The record of a host that has, or had, waiting URLs.

        Raises:
            KeyError: no such host.
        """
        return self._hosts[self._host_rows[name]]

    def hosts(self) -> Sequence[Host]:
        """The records of all hosts; `touch` those that you change."""
        return self._hosts[1:]

    def knows_host(self, name: str) -> bool:
        """Whether a host has, or had, waiting URLs."""
        return name in self._host_rows

    def meet_host(self, name: str, domain: str) -> Host:
        """The record of a host, entered if need be."""
        found = Found(url="", id=0, host=name, domain=domain, priority=0.0)
        return self._hosts[self._host_row(found)]

    def touch(self, host: Host) -> None:
        """The caller changed the record: it is saved at the next flush, and a new `ready_at` counts."""
        self._sync(host.row)
        queues.schedule(self._queues.urls, self._queues.hosts, host.row, host.ready_at, False)

    def _sync(self, row: int) -> None:
        self._dirty_hosts.add(row)
        if self._hosts[row].given_up:
            self._queues.hosts.closed[row] = Outcome.HOST_GIVEN_UP

    def drop_host(self, name: str, outcome: Outcome, reason: str = "") -> int:
        """End every waiting URL of a host; returns how many. One in flight is left to its request."""
        row = self._host_rows[name]
        self._sync(row)
        return self._drop_queue(row, outcome, reason)

    def _drop_queue(self, host: int, outcome: Outcome, reason: str) -> int:
        rows = queues.clear(self._queues.urls, self._queues.hosts, host)
        self._columns.status[rows] = outcome
        self._queues.counts[_WAITING] -= len(rows)
        self._queues.counts[outcome] += len(rows)
        for row in rows.tolist():
            self._pending.end(row, reason)
        return len(rows)

    def demote_host(self, name: str, penalty: float) -> None:
        """Take `penalty` off the effective priority of a host's URLs, in place of an earlier penalty."""
        if not np.isfinite(penalty):
            raise ValueError("a penalty must be a finite number")
        row = self._host_rows[name]
        self._queues.hosts.penalty[row] = penalty
        self._dirty_hosts.add(row)
        queues.requeue(self._queues.urls, self._queues.hosts, row)

    def _close_domain(self, domain: str) -> None:
        if self._cap is not None and self._domain_pages[domain] >= self._cap:
            for row in self._domain_hosts.get(domain, ()):
                if not self._queues.hosts.closed[row]:
                    self._queues.hosts.closed[row] = Outcome.DOMAIN_CAP

    # The whole

    def reprioritise(self, priorities: NDArray[np.float64]) -> int:
        """Set priorities by graph node, NaN leaving one as it is; returns how many waiting URLs changed."""
        size = min(len(priorities), self._columns.size)
        given = np.asarray(priorities[:size], np.float64)
        old = self._columns.priority[1 : size + 1]
        waiting = self._columns.status[1 : size + 1] == _WAITING
        nodes = np.flatnonzero(waiting & (given != old) & ~np.isnan(given))
        rows = nodes + 1
        queues.change_priorities(self._queues.urls, self._queues.hosts, rows, given[nodes])
        self._pending.changed(rows.astype(np.int32))
        return len(rows)

    def revise(self, ids: NDArray[np.int64], priorities: NDArray[np.float64], *, below: float = inf) -> int:
        """Set priorities by fingerprint; returns how many waiting URLs changed.

        Args:
            ids: Which URLs; unknown ones and those that ended are passed over.
            priorities: One each.
            below: URLs with a priority from here on keep it.

        Raises:
            ValueError: A priority is NaN.
        """
        columns = self._columns
        rows = self._seen.find(ids, columns.ids)
        changed, given = np.empty(len(rows), np.int64), np.empty(len(rows))
        priorities = np.ascontiguousarray(priorities, np.float64)
        count = queues.revisable(
            columns.status, columns.priority, rows, priorities, below, _WAITING, changed, given
        )
        if count:
            queues.change_priorities(self._queues.urls, self._queues.hosts, changed[:count], given[:count])
            self._pending.changed(changed[:count].astype(np.int32))
        return count

    def graph(self) -> CrawlGraph:
        """The known web; needs `keep_graph`."""
        return self._graph_links().graph(self._columns, list(self._in_flight))

    def set_links(self, row: int, target_rows: Sequence[int] | NDArray[np.int32]) -> None:
        """Add a fetched page's links to the graph, if one is kept."""
        if self._links is not None:
            self._links.add(row, target_rows)

    def set_score(self, row: int, score: float) -> None:
        """Note a fetched page's verdict in the graph, if one is kept."""
        if self._links is not None:
            self._links.set_score(row, score)

    def _graph_links(self) -> Links:
        if self._links is None:
            raise ValueError("this frontier keeps no graph; build it with keep_graph=True")
        return self._links

    def row_of(self, url_id: int) -> int:
        """Row of a known URL by its fingerprint, or 0."""
        return self._seen.row(url_id, self._columns.ids)

    def rows_of(self, url_ids: Sequence[int]) -> list[int]:
        """The same of many."""
        found: list[int] = self._seen.find(np.array(url_ids, np.int64), self._columns.ids).tolist()
        return found

    def status_of(self, row: int) -> Outcome:
        """What became of a known URL so far."""
        return Outcome(int(self._columns.status[row]))

    def priority_of(self, row: int) -> float:
        """The priority a known URL has, or had."""
        return float(self._columns.priority[row])

    def known_as(self, rows: Sequence[int]) -> list[tuple[int, float]]:
        """Outcomes (as numbers) and priorities of known URLs."""
        at = np.array(rows, np.int32)
        return list(zip(self._columns.status[at].tolist(), self._columns.priority[at].tolist(), strict=True))

    def note_priority(self, row: int, priority: float) -> None:
        """Note a priority for a URL that does not wait here."""
        self._columns.priority[row] = priority
        self._pending.noted(row)

    def url_of(self, row: int) -> str:
        """Text of a known URL; empty for row 0."""
        return self._pending.url(row)

    def best(self, now: float, most: int, *, of_host: float) -> tuple[list[float], int]:
        """Priorities of the best URLs that may be asked for by now, best first; how many such URLs there are.

        Args:
            now: Hosts that must be left alone longer do not count.
            most: Priorities, at most.
            of_host: URLs of each host that count, at most; with less than one, one of each host not busy.
        """
        hosts = self._queues.hosts
        size = len(self._hosts)
        ready = (hosts.best[:size] != 0) & (hosts.closed[:size] == 0)
        ready &= -hosts.timed.key[:size] <= now
        if of_host < 2:
            at = np.flatnonzero(ready & (hosts.state[:size] != BUSY) if of_host < 1 else ready)
            found = self._columns.priority[hosts.best[at]] - hosts.penalty[at]
        else:
            columns, end = self._columns, self._columns.size + 1
            rows = np.flatnonzero(columns.status[1:end] == _WAITING) + 1
            rows = rows[ready[columns.hosts[rows]]]
            if self._in_flight:  # their status says that they wait, until an answer is in
                rows = rows[~np.isin(rows, list(self._in_flight))]
            at = columns.hosts[rows]
            found = columns.priority[rows] - hosts.penalty[at]
            if of_host < len(found):
                found = _best_of_each(found, at, int(of_host))
        count = len(found)
        if count > most:
            found = np.partition(found, count - most)[-most:]
        best: list[float] = np.sort(found)[::-1].tolist()
        return best, count

    def is_waiting(self, row: int) -> bool:
        """Whether a URL waits in its queue: neither ended nor in flight."""
        return bool(self._columns.status[row] == _WAITING) and row not in self._in_flight

    @property
    def known(self) -> int:
        """Number of URLs ever taken in."""
        return self._columns.size

    @property
    def waiting(self) -> int:
        """Number of URLs in the queues."""
        return int(self._queues.counts[_WAITING]) - len(self._in_flight)

    @property
    def in_flight(self) -> int:
        """Number of URLs handed out and neither finished nor put back."""
        return len(self._in_flight)

    @property
    def counts(self) -> dict[Outcome, int]:
        """Number of URLs by status; those in flight still count as `WAITING`."""
        return {
            outcome: int(self._queues.counts[outcome]) for outcome in Outcome if self._queues.counts[outcome]
        }

    def queued(self, host: str) -> int:
        """Number of URLs waiting on a host, the one in flight apart."""
        return int(self._queues.hosts.length[self._host_rows.get(host, 0)])

    def check(self) -> list[str]:
        """Test that known = waiting + in flight + ended, by counting again; empty when it holds."""
        queued = int(self._queues.hosts.length.sum())
        counted = self._columns.counts()
        ended = sum(count for outcome, count in counted.items() if outcome.is_end)
        if counted == self.counts and self.known == queued + self.in_flight + ended:
            return []
        return [
            f"known {self.known}, queued {queued}, in flight {self.in_flight}, {self.counts} not {counted}"
        ]

    def flush(self) -> None:
        """Write everything pending into the state's open transaction."""
        self._pending.flush()
        if self._dirty_hosts:
            penalty = self._queues.hosts.penalty
            self._state.save_hosts(
                (self._hosts[row], float(penalty[row])) for row in sorted(self._dirty_hosts)
            )
            self._dirty_hosts.clear()


def _best_of_each(values: NDArray[Any], group: NDArray[Any], most: int) -> NDArray[Any]:
    """The highest values of each group, so many of each at most."""
    order = np.lexsort((-values, group))
    values, group = values[order], group[order]
    firsts = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
    rank = np.arange(len(group)) - np.repeat(firsts, np.diff(np.r_[firsts, len(group)]))
    return values[rank < most]
