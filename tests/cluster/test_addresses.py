"""Addresses shared by hosts of different shards: one delay for all, from the first request on."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from honeyguide.cluster.addresses import Asks, Directory, SharedGate, Told
from honeyguide.fetch.politeness import PolitenessPolicy

POLICY = PolitenessPolicy(ip_delay=0.5, ip_at_once=2)


class World:
    """Shards with gates, a directory, and a clock that everybody shares. Messages take time."""

    def __init__(self, shards: int, seed: int) -> None:
        self.time = 1000.0
        self.chance = random.Random(seed)
        self.directory = self.new_directory(grace=0.0)
        self.gates = {f"{n:02}": self.gate(f"{n:02}") for n in range(shards)}
        self.asked: dict[str, list[float]] = {}
        self.under_way: list[tuple[float, str, str, str]] = []
        self.most: dict[str, int] = {}

    def new_directory(self, *, grace: float) -> Directory:
        return Directory(POLICY.ip_delay, POLICY.ip_at_once, grace=grace, now=lambda: self.time)

    def gate(self, name: str) -> SharedGate:
        return SharedGate(POLICY, name, self.talk, now=lambda: self.time)

    def talk(self, shard: str, asks: Asks) -> Told | None:
        if self.chance.random() < 0.05:
            return None  # not reached
        return self.directory.round(shard, asks)

    def step(self, addresses: list[str]) -> None:
        """A moment: somebody may ask, somebody talks to the directory, somebody's request ends."""
        self.time += self.chance.uniform(0.0, 0.05)
        for one in [one for one in self.under_way if one[0] <= self.time]:
            self.under_way.remove(one)
            self.gates[one[1]].gave_back(one[2])
        for name, gate in self.gates.items():
            ip = self.chance.choice(addresses)
            who = f"{name}-{self.chance.randrange(3)}-{ip}"
            if not any(one[2] == who for one in self.under_way) and gate.ready_at(ip) <= self.time:
                gate.took(who, ip, self.time)
                self.asked.setdefault(ip, []).append(self.time)
                self.under_way.append((self.time + self.chance.uniform(0.05, 1.5), name, who, ip))
                count = sum(one[3] == ip for one in self.under_way)
                self.most[ip] = max(count, self.most.get(ip, 0))
            if self.chance.random() < 0.4:
                gate.round()


@pytest.mark.parametrize("seed", range(6))
def test_no_two_requests_to_an_address_are_closer_than_the_delay(seed: int) -> None:
    world = World(3, seed)
    addresses = [f"192.0.2.{n}" for n in range(4)]
    for turn in range(6000):
        world.step(addresses)
        if turn == 3000:  # a shard dies and is started again, knowing nothing
            world.under_way = [one for one in world.under_way if one[1] != "01"]
            world.gates["01"] = world.gate("01")
            world.time += POLICY.ip_delay  # as a crawl that was killed waits
    for ip, moments in world.asked.items():
        gaps = [later - earlier for earlier, later in pairwise(moments)]
        assert min(gaps) >= POLICY.ip_delay, ip
        assert len(moments) > 50, ip
    assert max(world.most.values()) <= POLICY.ip_at_once


def test_an_address_of_one_shard_needs_the_directory_once() -> None:
    world = World(2, 1)
    gate = world.gates["00"]
    while gate.ready_at("192.0.2.1") > world.time:
        gate.round()
        world.time += 0.01
    rounds = gate.rounds
    for _ in range(20):
        while gate.ready_at("192.0.2.1") > world.time:
            world.time += 0.05
        gate.took("a", "192.0.2.1", world.time)
        gate.gave_back("a")
    assert gate.rounds == rounds


def test_a_directory_that_was_lost_is_told_everything_again() -> None:
    world = World(2, 3)
    for _ in range(500):
        world.step(["192.0.2.1"])
    world.directory = world.new_directory(grace=2.0)
    before = len(world.asked["192.0.2.1"])
    for _ in range(2000):
        world.step(["192.0.2.1"])
    moments = world.asked["192.0.2.1"]
    assert len(moments) > before + 10
    gaps = [later - earlier for earlier, later in pairwise(moments)]
    assert min(gaps) >= POLICY.ip_delay
