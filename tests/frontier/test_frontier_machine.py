"""Random lives of a frontier: one that runs on, one that is closed and resumed, and a naive model."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from honeyguide.frontier import Found, Frontier, Waiting
from honeyguide.model import Outcome
from honeyguide.store.state import State

CAP = 4
PRIORITIES = st.sampled_from([-1.0, 0.0, 0.25, 0.5, 0.75, 1.0, 3.0])
OUTCOMES = st.sampled_from([Outcome.WAITING] * 6 + [Outcome.ORDER, Outcome.NOFOLLOW, Outcome.SCOPE])
HOSTS = [f"h{number}.example" for number in range(5)]


def host_of(number: int) -> str:
    return HOSTS[number % 5]


def domain_of(host: str) -> str:
    return "odd.example" if int(host[1]) % 2 else "even.example"


class NaiveUrl:
    def __init__(self, row: int, found: Found, outcome: Outcome) -> None:
        self.row, self.found, self.status = row, found, outcome
        self.priority, self.tries, self.in_flight = found.priority, 0, False


class NaiveFrontier:
    """What the frontier promises, in the plainest way."""

    def __init__(self) -> None:
        self.urls: list[NaiveUrl] = []
        self.ready_at: dict[str, float] = {}
        self.penalty: dict[str, float] = {}
        self.busy: set[str] = set()
        self.given_up: set[str] = set()

    def closed(self, host: str) -> Outcome | None:
        if host in self.given_up:
            return Outcome.HOST_GIVEN_UP
        domain = domain_of(host)
        fetched = sum(u.status is Outcome.FETCHED and domain_of(u.found.host) == domain for u in self.urls)
        return Outcome.DOMAIN_CAP if fetched >= CAP else None

    def add(self, batch: list[Found], combine: str) -> list[int]:
        rows = []
        known = len(self.urls)
        for found in batch:
            outcome = found.outcome
            url = next((u for u in self.urls if u.found.id == found.id), None)
            if outcome is Outcome.WAITING:
                if url is None or url.row > known or url.status in (Outcome.ORDER, Outcome.NOFOLLOW):
                    self.ready_at.setdefault(found.host, 0.0)
                outcome = self.closed(found.host) or outcome
            if url is None:
                url = NaiveUrl(len(self.urls) + 1, found, outcome)
                self.urls.append(url)
            elif url.status in (Outcome.ORDER, Outcome.NOFOLLOW) and outcome is Outcome.WAITING:
                url.status, url.priority, url.found = outcome, found.priority, found
            elif url.status is Outcome.WAITING and outcome is Outcome.WAITING:
                self.combine(url, found, combine)
            rows.append(url.row)
        return rows

    def combine(self, url: NaiveUrl, found: Found, combine: str) -> None:
        if combine == "first" or (combine == "max" and found.priority <= url.priority):
            return
        url.priority = url.priority + found.priority if combine == "sum" else found.priority
        url.found = found

    def queue(self, host: str) -> list[NaiveUrl]:
        queue = [
            u for u in self.urls if u.status is Outcome.WAITING and not u.in_flight and u.found.host == host
        ]
        return sorted(queue, key=lambda u: (-u.priority, u.row))

    def pop(self, now: float) -> NaiveUrl | None:
        while True:
            ready = [h for h in self.ready_at if h not in self.busy and self.ready_at[h] <= now]
            best = [(self.queue(h)[0], h) for h in ready if self.queue(h)]
            if not best:
                return None
            url, host = min(best, key=lambda b: (-(b[0].priority - self.penalty.get(b[1], 0.0)), b[0].row))
            closed = self.closed(host)
            if closed is None:
                url.in_flight = True
                self.busy.add(host)
                return url
            for dropped in self.queue(host):
                dropped.status = closed

    def next_ready(self, now: float) -> float | None:
        times = [max(now, t) for h, t in self.ready_at.items() if h not in self.busy and self.queue(h)]
        return min(times, default=None)


class FrontierMachine(RuleBasedStateMachine):
    @initialize()
    def start(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "state.sqlite"
        self.now = 0.0
        self.states = [State.open(None), State.open(self.path)]
        self.frontiers = [Frontier(s, max_pages_per_domain=CAP, in_memory=7) for s in self.states]
        self.model = NaiveFrontier()
        self.flying: dict[str, Waiting] = {}

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            for state in self.states:
                state.close()
            self.folder.cleanup()

    @rule(
        links=st.lists(st.tuples(st.integers(0, 25), PRIORITIES, OUTCOMES), max_size=8),
        combine=st.sampled_from(["max", "sum", "latest", "first"]),
        step=st.integers(0, 1000),
    )
    def add(self, links: list[tuple[int, float, Outcome]], combine: str, step: int) -> None:
        batch = [
            Found(
                url=f"http://{host_of(number)}/{number}",
                id=number - 12,
                host=host_of(number),
                domain=domain_of(host_of(number)),
                priority=priority,
                depth=step % 7,
                parent=min(1, len(self.model.urls)),
                anchor=f"anchor {step} \ud800"[: 8 + step % 4],
                context="x" * (step % 400),
                memo={"left": step} if step % 2 else {},
                outcome=outcome,
            )
            for number, priority, outcome in links
        ]
        expected = self.model.add(batch, combine)
        for frontier in self.frontiers:
            assert list(frontier.add(batch, combine)) == expected

    @rule(step=st.sampled_from([0.0, 0.0, 0.5, 2.0]))
    def pop(self, step: float) -> None:
        self.now += step
        times = {frontier.next_ready(self.now) for frontier in self.frontiers}
        assert times == {self.model.next_ready(self.now)}
        expected = self.model.pop(self.now)
        lasting, resumed = (frontier.pop(self.now) for frontier in self.frontiers)
        assert lasting == resumed
        if expected is None:
            assert lasting is None
            return
        assert lasting is not None
        assert (lasting.row, lasting.priority, lasting.tries) == (
            expected.row,
            expected.priority,
            expected.tries,
        )
        assert lasting.url == expected.found.url
        assert (lasting.depth, lasting.memo) == (expected.found.depth, expected.found.memo)
        assert lasting.context == expected.found.context[:200]
        assert lasting.parent_url == (self.model.urls[0].found.url if lasting.parent else "")
        self.flying[lasting.host] = lasting

    def end_request(self, data: st.DataObject, delay: float) -> str:
        host = data.draw(st.sampled_from(sorted(self.flying)))
        self.model.ready_at[host] = self.now + delay
        for frontier in self.frontiers:
            frontier.host(host).ready_at = self.now + delay
        return host

    def let_go(self, host: str) -> None:
        self.model.busy.discard(host)
        for frontier in self.frontiers:
            frontier.release(host)

    @precondition(lambda self: self.flying)
    @rule(
        data=st.data(),
        delay=st.sampled_from([0.0, 1.0, 5.0]),
        outcome=st.sampled_from([Outcome.FETCHED, Outcome.TIMEOUT]),
    )
    def finish(self, data: st.DataObject, delay: float, outcome: Outcome) -> None:
        host = self.end_request(data, delay)
        url = self.model.urls[self.flying.pop(host).row - 1]
        url.status, url.in_flight = outcome, False
        for frontier in self.frontiers:
            frontier.finish(url.row, outcome, "because")
        self.let_go(host)

    @precondition(lambda self: self.flying)
    @rule(data=st.data(), delay=st.sampled_from([0.0, 1.0]), failed=st.booleans())
    def put_back(self, data: st.DataObject, delay: float, failed: bool) -> None:
        host = self.end_request(data, delay)
        waiting = self.flying.pop(host)
        url = self.model.urls[waiting.row - 1]
        url.in_flight = False
        url.tries += failed
        for frontier in self.frontiers:
            frontier.put_back(waiting, tries=waiting.tries + 1 if failed else None)
        self.let_go(host)

    @precondition(lambda self: self.model.ready_at)
    @rule(data=st.data(), ready_at=st.floats(0, 10), give_up=st.sampled_from([False] * 9 + [True]))
    def touch(self, data: st.DataObject, ready_at: float, give_up: bool) -> None:
        host = data.draw(st.sampled_from(sorted(self.model.ready_at)))
        self.model.ready_at[host] = ready_at
        if give_up:
            self.model.given_up.add(host)
        for frontier in self.frontiers:
            record = frontier.host(host)
            record.ready_at = ready_at
            record.given_up = record.given_up or give_up
            frontier.touch(record)

    @precondition(lambda self: self.model.ready_at)
    @rule(
        data=st.data(), penalty=st.sampled_from([0.0, 0.3, 2.0]), drop=st.sampled_from([False] * 4 + [True])
    )
    def demote_or_drop(self, data: st.DataObject, penalty: float, drop: bool) -> None:
        host = data.draw(st.sampled_from(sorted(self.model.ready_at)))
        if not drop:
            self.model.penalty[host] = penalty
            for frontier in self.frontiers:
                frontier.demote_host(host, penalty)
            return
        dropped = self.model.queue(host)
        for url in dropped:
            url.status = Outcome.ROBOTS
        for frontier in self.frontiers:
            assert frontier.drop_host(host, Outcome.ROBOTS, "no") == len(dropped)

    @rule(values=st.lists(st.one_of(st.just(float("nan")), PRIORITIES), max_size=30))
    def reprioritise(self, values: list[float]) -> None:
        changed = 0
        for url, value in zip(self.model.urls, values, strict=False):
            if url.status is Outcome.WAITING and value == value and value != url.priority:
                url.priority = value
                changed += 1
        for frontier in self.frontiers:
            assert frontier.reprioritise(np.array(values, np.float64)) == changed

    @rule()
    def restart(self) -> None:
        """Close one of the two; what was in flight waits again, so it does in the others, too."""
        for host, waiting in sorted(self.flying.items()):
            self.model.urls[waiting.row - 1].in_flight = False
            self.frontiers[0].put_back(waiting)
            self.frontiers[0].release(host)
        self.model.busy.clear()
        self.flying.clear()
        self.frontiers[1].flush()
        self.states[1].commit()
        assert self.states[1].check() == []
        self.states[1].close()
        self.states[1] = State.open(self.path)
        self.frontiers[1] = Frontier(self.states[1], max_pages_per_domain=CAP, in_memory=7)

    @invariant()
    def conserved(self) -> None:
        if not hasattr(self, "model"):
            return
        statuses = [url.status for url in self.model.urls]
        for frontier in self.frontiers:
            assert frontier.known == len(statuses)
            assert frontier.counts == {o: statuses.count(o) for o in Outcome if o in statuses}
            assert frontier.in_flight == len(self.flying)
            assert frontier.waiting == sum(len(self.model.queue(host)) for host in HOSTS)
            ended = sum(count for outcome, count in frontier.counts.items() if outcome.is_end)
            assert frontier.known == frontier.waiting + frontier.in_flight + ended


TestFrontierMachine = FrontierMachine.TestCase
TestFrontierMachine.settings = settings(
    max_examples=settings().max_examples // 5, stateful_step_count=40, deadline=None
)
