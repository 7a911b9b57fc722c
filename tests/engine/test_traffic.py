"""Slow requests give their slots up, and doubtful hosts never have more than half."""

from __future__ import annotations

from math import inf

import pytest

from honeyguide.engine.traffic import LEAST, MOST, SLOW_LIMIT, Slots, Traffic, affordable, is_doubtful
from honeyguide.fetch.politeness import PolitenessPolicy
from honeyguide.model import Host


def test_slow_requests_go_on_beside_the_others_up_to_a_limit() -> None:
    slots = Slots(4, slow_limit=2)
    for row in range(4):
        slots.took(row, 0.01 * row, doubtful=False)
    assert slots.slow(0.9 * LEAST) == 0
    assert slots.next_slow(0.9 * LEAST) == LEAST
    assert slots.slow(LEAST + 0.005) == 1
    assert slots.slow(LEAST + 9) == 2
    assert slots.next_slow(LEAST + 9) is None
    slots.gave_back(0, 9.0, answered=False)
    assert slots.slow(LEAST + 9) == 2  # another one has taken its place


def test_patience_follows_what_requests_usually_take() -> None:
    slots = Slots(4, slow_limit=10)
    assert slots.patience == LEAST
    for row in range(200):
        slots.gave_back(row, 0.5, answered=True)
        slots.gave_back(row, 30.0, answered=False)  # a dripping host does not make us patient
    assert 1.9 < slots.patience <= 2.0
    for row in range(200):
        slots.gave_back(row, 30.0, answered=True)
    assert slots.patience == MOST


def test_doubtful_hosts_share_half_of_the_slots() -> None:
    slots = Slots(4, slow_limit=10)
    slots.took(1, 0.0, doubtful=True)
    assert slots.room_for_doubtful
    slots.took(2, 0.0, doubtful=True)
    assert bool(slots.room_for_doubtful) is False
    assert slots.slow(LEAST) == 2
    assert bool(slots.room_for_doubtful) is True
    assert is_doubtful(Host(1, "new.example"))
    assert is_doubtful(Host(1, "failing.example", requests=9, failures=1))
    assert not is_doubtful(Host(1, "good.example", requests=9))


def test_with_one_slot_and_no_real_time_nothing_is_slow() -> None:
    slots = Slots(1, slow_limit=0)
    assert slots.room_for_doubtful
    slots.took(1, 0.0, doubtful=True)
    assert slots.slow(1e9) == 0
    assert slots.doubtful == 0
    assert 0 <= affordable(32) <= SLOW_LIMIT


def test_a_host_gives_what_its_delay_and_its_answers_allow() -> None:
    traffic = Traffic(PolitenessPolicy(min_delay=0.0), 4, slow_limit=10)
    assert traffic.pages_a_host(1.0) == inf
    for row in range(200):
        traffic.slots.gave_back(row, 0.25, answered=True)
    assert traffic.pages_a_host(1.0) == pytest.approx(4.0, rel=0.01)
    assert Traffic(PolitenessPolicy(min_delay=2.0), 4, slow_limit=10).pages_a_host(1.0) == 0.5
