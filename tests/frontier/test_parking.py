"""Hosts of one address: parked or looked at one by one, known URLs come in the same order.

A parked host that is given a better URL, while another of its address has been let go and waits for a slot,
is found when that one's turn comes, or a second later; so no URLs are added between the turns here.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from honeyguide.fetch.politeness import IpGate, PolitenessPolicy
from honeyguide.frontier import Found, Frontier, Waiting
from honeyguide.model import Host, Outcome
from honeyguide.store.state import State

HOSTS, ADDRESSES = 9, 3

LINKS = st.lists(st.tuples(st.integers(0, 40), st.sampled_from([0.1, 0.5, 0.5, 0.9])), max_size=8)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("pop"), st.sampled_from([0.1, 0.3, 1.0])),
        st.tuples(st.just("end"), st.sampled_from([0.0, 0.7])),
    ),
    max_size=60,
)


def name(number: int) -> str:
    return f"h{number % HOSTS}.example"


def found(number: int, priority: float) -> Found:
    host = name(number)
    return Found(url=f"http://{host}/{number}", id=number + 1, host=host, domain=host, priority=priority)


class Side:
    """A frontier with its gate; `parked` chooses how the gate is asked."""

    def __init__(self, *, parked: bool) -> None:
        self.frontier = Frontier(State.open(None))
        self.gate = IpGate(PolitenessPolicy(ip_delay=0.5, ip_at_once=2))
        self.parked = parked
        self.now = 0.0
        self.flying: list[tuple[int, str]] = []

    def ready(self, host: Host) -> float:
        return min(self.gate.ready_at(host.ip), self.now + 0.02)

    def chosen(self) -> Waiting | None:
        """The best URL whose address is ready; without parking by a look at each host in turn."""
        if self.parked:
            return self.frontier.pop(self.now, shared=self.ready)
        passed = []
        while waiting := self.frontier.pop(self.now):
            if self.gate.ready_at(self.frontier.host(waiting.host).ip) <= self.now:
                break
            self.frontier.put_back(waiting)
            passed.append(waiting.host)
        for host in passed:
            self.frontier.release(host)
        return waiting

    def add(self, links: list[tuple[int, float]]) -> None:
        self.frontier.add([found(*link) for link in links])
        for number, _ in links:
            self.frontier.host(name(number)).ip = f"192.0.2.{number % HOSTS % ADDRESSES}"

    def pop(self, step: float) -> int:
        self.now += step
        waiting = self.chosen()
        if waiting is None:
            return 0
        self.gate.took(waiting.host, self.frontier.host(waiting.host).ip, self.now)
        self.flying.append((waiting.row, waiting.host))
        return waiting.row

    def end(self, delay: float) -> None:
        if self.flying:
            row, host = self.flying.pop(0)
            self.gate.gave_back(host)
            self.frontier.finish(row, Outcome.FETCHED)
            self.frontier.host(host).ready_at = self.now + delay
            self.frontier.release(host)


@given(st.lists(LINKS, min_size=1, max_size=5), STEPS)
def test_parking_changes_no_order(
    links: list[list[tuple[int, float]]], steps: list[tuple[str, object]]
) -> None:
    sides = [Side(parked=True), Side(parked=False)]
    for side in sides:
        for batch in links:
            side.add(batch)
    for what, argument in steps:
        first, second = (getattr(side, what)(argument) for side in sides)
        assert first == second, what
        assert sides[0].frontier.check() == []
    for side in sides:
        while side.flying:
            side.end(0.0)
        rest = []
        while side.frontier.waiting:
            row = side.pop(0.5)
            if row:
                rest.append(row)
                side.end(0.0)
            else:
                assert side.frontier.next_ready(side.now) is not None
        side.flying.clear()
        side.rest = rest  # type: ignore[attr-defined]
    assert sides[0].rest == sides[1].rest  # type: ignore[attr-defined]


def test_a_thousand_hosts_of_one_address_are_looked_at_once_each() -> None:
    side = Side(parked=True)
    links = [
        Found(f"http://b{n}.example/", n + 1, f"b{n}.example", f"b{n}.example", n / 1000) for n in range(1000)
    ]
    side.frontier.add(links)
    for link in links:
        side.frontier.host(link.host).ip = "192.0.2.1"
    looks = 0

    def counted(host: Host) -> float:
        nonlocal looks
        looks += 1
        return side.gate.ready_at(host.ip)

    order = []
    for step in range(1000):
        waiting = side.frontier.pop(step * 0.5, shared=counted)
        assert waiting is not None
        side.gate.took(waiting.host, "192.0.2.1", step * 0.5)
        assert side.frontier.pop(step * 0.5, shared=counted) is None
        side.gate.gave_back(waiting.host)
        side.frontier.finish(waiting.row, Outcome.FETCHED)
        order.append(waiting.row)
    assert order == list(range(1000, 0, -1))
    assert looks < 6000
