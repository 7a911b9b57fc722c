from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.fetch.base import Failure, Response
from honeyguide.fetch.politeness import (
    MAX_RETRY_AFTER,
    IpGate,
    PolitenessPolicy,
    after,
    after_failure,
    after_response,
    may_retry,
    parse_retry_after,
)
from honeyguide.model import Host, Outcome

POLICY = PolitenessPolicy()


def host(**settings: object) -> Host:
    return Host(row=1, name="example.org", **settings)  # type: ignore[arg-type]


def test_a_quick_host_is_asked_once_a_second() -> None:
    record = host()
    after_response(record, POLICY, now=100.0, seconds=0.05, status=200)
    assert record.ready_at == 101.0
    assert record.failures == 0


def test_the_delay_follows_the_response_time_within_bounds() -> None:
    record = host()
    after_response(record, POLICY, now=0.0, seconds=4.0, status=200)
    assert record.ready_at == 8.0
    after_response(record, POLICY, now=10.0, seconds=0.0, status=200)
    assert record.delay == 4.0  # speeds up by halves
    after_response(record, POLICY, now=20.0, seconds=1000.0, status=200)
    assert record.ready_at == 80.0


@pytest.mark.parametrize(
    ("asked", "kept"), [(-1.0, 1.0), (0.1, 1.0), (20.0, 20.0), (120.0, 120.0), (9999.0, 300.0)]
)
def test_crawl_delay_is_honoured_up_to_the_cap(asked: float, kept: float) -> None:
    record = host(crawl_delay=asked)
    after_response(record, POLICY, now=0.0, seconds=0.1, status=200)
    assert record.ready_at == kept
    record = host(crawl_delay=asked)
    after_failure(record, POLICY, now=0.0, outcome=Outcome.TOO_LARGE)
    assert record.ready_at == kept


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_host_is_silent_for_the_asked_time(status: int) -> None:
    record = host()
    after_response(record, POLICY, now=0.0, seconds=0.1, status=status, retry_after=777.0)
    assert (record.ready_at, record.failures) == (777.0, 1)


def test_a_busy_host_that_asks_nothing_is_backed_off() -> None:
    record = host()
    waits = []
    for _ in range(5):
        now = record.ready_at
        after_response(record, POLICY, now=now, seconds=0.1, status=503)
        waits.append(record.ready_at - now)
    assert waits == [10.0, 20.0, 40.0, 80.0, 160.0]
    assert record.given_up


def test_failures_count_only_in_a_row() -> None:
    record = host()
    for outcome in (Outcome.TIMEOUT, Outcome.CONNECTION, Outcome.DNS, Outcome.TLS):
        after_failure(record, POLICY, now=0.0, outcome=outcome)
    assert (record.failures, record.given_up, record.ready_at) == (4, False, 80.0)
    after_response(record, POLICY, now=100.0, seconds=0.1, status=404)
    assert record.failures == 0
    for _ in range(5):
        after_failure(record, POLICY, now=200.0, outcome=Outcome.TIMEOUT)
    assert record.given_up


def test_the_pages_fault_and_the_guards_refusal_are_not_the_hosts() -> None:
    record = host(failures=3)
    after_failure(record, POLICY, now=5.0, outcome=Outcome.EGRESS)
    assert (record.failures, record.ready_at) == (3, 0.0)
    after_failure(record, POLICY, now=5.0, outcome=Outcome.BAD_ENCODING)
    assert (record.failures, record.ready_at) == (0, 6.0)


def test_a_later_answer_never_shortens_a_wait() -> None:
    record = host(ready_at=500.0)
    after_response(record, POLICY, now=10.0, seconds=0.1, status=200)
    after_failure(record, POLICY, now=10.0, outcome=Outcome.TIMEOUT)
    assert record.ready_at == 500.0


def test_exchanges_of_every_kind() -> None:
    record = host()
    answer = Response("u", 503, (("retry-after", "50"),), b"", b"", ip="192.0.2.1", seconds=0.2)
    after(record, POLICY, now=0.0, result=answer)
    assert (record.ready_at, record.ip) == (50.0, "192.0.2.1")
    after(record, POLICY, now=100.0, result=Response("u", 200, (), b"", b"", truncated="time"))
    assert record.failures == 2
    after(record, POLICY, now=100.0, result=Failure("u", Outcome.DNS, "gone"))
    assert record.failures == 3
    assert record.ip == "192.0.2.1"


def test_retry_after_in_all_its_forms() -> None:
    date = format_datetime(datetime.fromtimestamp(1_000_090, UTC), usegmt=True)
    assert parse_retry_after(date, 1_000_000.0) == 90.0
    assert parse_retry_after(date, 2_000_000.0) == 0.0
    assert parse_retry_after(" 30 ", 0.0) == 30.0
    assert parse_retry_after("0", 0.0) == 0.0
    assert parse_retry_after("9" * 5000, 0.0) == MAX_RETRY_AFTER
    assert parse_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", 0.0) == MAX_RETRY_AFTER
    for nonsense in ("", "-5", "soon", "1e3", "٣", "Fri, 99 Foo 2020", "1.5"):
        assert parse_retry_after(nonsense, 0.0) is None


@given(st.text(max_size=80))
def test_retry_after_survives_anything(value: str) -> None:
    seconds = parse_retry_after(value, 1e9)
    assert seconds is None or 0 <= seconds <= MAX_RETRY_AFTER


def test_retries() -> None:
    assert may_retry(Outcome.TIMEOUT, 2, POLICY)
    assert not may_retry(Outcome.TIMEOUT, 3, POLICY)
    assert not may_retry(Outcome.CLIENT_ERROR, 1, POLICY)
    assert not may_retry(Outcome.EGRESS, 1, POLICY)


def test_the_gate_spaces_requests_to_one_address() -> None:
    gate = IpGate(PolitenessPolicy(ip_delay=2.0, ip_at_once=2))
    assert gate.ready_at("192.0.2.1") == gate.ready_at("") == 0.0
    gate.took("a.example", "192.0.2.1", 10.0)
    assert gate.ready_at("192.0.2.1") == 12.0
    gate.took("b.example", "192.0.2.1", 12.0)
    assert gate.ready_at("192.0.2.1") == float("inf")
    gate.gave_back("a.example")
    assert gate.ready_at("192.0.2.1") == 14.0
    gate.gave_back("a.example")  # once is enough
    gate.took("c.example", "192.0.2.1", 12.0)
    assert gate.ready_at("192.0.2.1") == float("inf")
    gate.gave_back("never taken")
    gate.took("d.example", "", 12.0)
    assert gate.ready_at("192.0.2.2") == gate.ready_at("") == 0.0


def test_the_gate_forgets_idle_addresses_but_not_busy_ones() -> None:
    gate = IpGate(PolitenessPolicy(ip_delay=1.0, ip_at_once=1), size=10)
    gate.took("long", "busy", 0.0)
    for number in range(100):
        gate.took("short", str(number), float(number * 2))
        gate.gave_back("short")
    assert gate.ready_at("busy") == float("inf")
    assert gate.ready_at("5") == 0.0
