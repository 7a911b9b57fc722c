"""How visits are shared: budgets hold, the optimum is one, hubs and hints count."""

from __future__ import annotations

import numpy as np
import pytest

from honeyguide.revisit import POLICIES, Freshness, Known, Proportional, Uniform
from honeyguide.revisit.base import LONGEST, SHORTEST
from honeyguide.revisit.freshness import fresh_share, gain

DAY = 86400.0


def some(size: int = 300, *, seed: int = 1) -> Known:
    chance = np.random.default_rng(seed)
    rate = np.exp(chance.normal(0, 1.3, size)) / (10 * DAY)
    return Known(chance.uniform(0.3, 1.0, size), rate, np.zeros(size))


@pytest.mark.parametrize("name", POLICIES)
def test_the_budget_is_spent(name: str) -> None:
    pages = some()
    intervals = POLICIES[name]().intervals(pages, 300 / (7 * DAY))
    assert abs((1 / intervals).sum() / (300 / (7 * DAY)) - 1) < 0.02
    assert intervals.min() >= SHORTEST * 0.999
    assert intervals.max() <= LONGEST * 1.001


def test_no_other_sharing_is_fresher() -> None:
    pages, budget = some(), 300 / (7 * DAY)
    worth = {
        name: float((pages.weight * fresh_share(pages.rate, made().intervals(pages, budget))).sum())
        for name, made in POLICIES.items()
    }
    assert worth["gain"] > worth["uniform"] > worth["proportional"]  # Cho and Garcia-Molina
    best = Freshness().intervals(pages, budget)
    chance = np.random.default_rng(5)
    for _ in range(20):  # move a little budget between pages: never better
        frequency = (1 / best) * np.exp(chance.normal(0, 0.1, len(best)))
        frequency *= budget / frequency.sum()
        other = float((pages.weight * fresh_share(pages.rate, 1 / frequency)).sum())
        assert other < worth["gain"] + 1e-6


def test_equal_worth_at_the_optimum() -> None:
    pages = some()
    intervals = Freshness().intervals(pages, 300 / (7 * DAY))
    free = (intervals > SHORTEST * 1.01) & (intervals < LONGEST * 0.99)
    worth = gain(pages, intervals)[free]
    assert worth.max() / worth.min() < 1.001


def test_a_page_that_brings_new_ones_is_visited_more_often() -> None:
    pages = some(50)
    news = pages.news.copy()
    news[7] = 1 / DAY
    hub = Freshness().intervals(pages._replace(news=news), 50 / (7 * DAY))
    assert hub[7] < 0.5 * Freshness().intervals(pages, 50 / (7 * DAY))[7]
    # Also one that is off topic itself.
    weight = pages.weight.copy()
    weight[7] = 0.0
    assert Freshness().intervals(Known(weight, pages.rate, news), 50 / (7 * DAY))[7] < 7 * DAY


def test_nothing_to_share() -> None:
    none = Known(*(np.zeros(0) for _ in range(3)))
    for policy in (Freshness(), Uniform(), Proportional()):
        assert len(policy.intervals(none, 1.0)) == 0
        assert len(policy.gain(none, np.zeros(0))) == 0
