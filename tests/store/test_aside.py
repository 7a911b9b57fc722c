from __future__ import annotations

import threading

import pytest

from honeyguide.store.aside import MOST_WAITING, Aside


def test_work_is_done_in_turn_while_the_caller_goes_on() -> None:
    aside, done, gate = Aside("test"), list[int](), threading.Event()
    aside.do(gate.wait)
    for number in range(MOST_WAITING - 1):
        aside.do(lambda number=number: done.append(number))  # type: ignore[misc]
    assert not done  # nobody waited for the first
    gate.set()
    aside.settle()
    assert done == list(range(MOST_WAITING - 1))
    aside.close()


def test_no_more_than_so_much_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    aside, gate, waited = Aside("test"), threading.Event(), list[int]()
    settle = aside.settle

    def note() -> None:
        waited.append(aside._given - aside._done)
        gate.set()
        settle()

    monkeypatch.setattr(aside, "settle", note)
    aside.do(gate.wait)
    for _ in range(MOST_WAITING - 1):
        aside.do(int)
    assert not waited
    aside.do(int)
    assert waited == [MOST_WAITING]
    aside.close()


def test_what_goes_wrong_is_raised_by_whoever_comes_next_and_ends_the_work() -> None:
    aside, done = Aside("test"), list[int]()

    def fail() -> None:
        raise OSError("the disk is full")

    aside.do(fail)
    with pytest.raises(OSError, match="full"):
        aside.settle()
    with pytest.raises(OSError, match="full"):
        aside.do(lambda: done.append(1))
    aside.close()
    assert not done


def test_work_may_look_at_what_it_is_part_of() -> None:
    aside = Aside("test")
    aside.do(aside.settle)
    aside.settle()
    aside.close()
    aside.close()
