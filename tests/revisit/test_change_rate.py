"""Estimators against pages whose rates are known."""

from __future__ import annotations

import numpy as np

from honeyguide.revisit.change_rate import USUAL, bias_reduced, host_rates, irregular, naive

DAY = 86400.0


def visits(rate: float, gaps: np.ndarray, chance: np.random.Generator) -> np.ndarray:
    """Whether each visit finds a change."""
    found: np.ndarray = chance.random(len(gaps)) < -np.expm1(-rate * gaps)
    return found


def test_the_bias_reduced_estimator_has_less_bias_than_changes_per_visit() -> None:
    chance = np.random.default_rng(1)
    rate = 1.2 / DAY
    made, plain = [], []
    for _ in range(2000):
        changes = int(visits(rate, np.full(10, DAY), chance).sum())
        made.append(bias_reduced(10, changes, DAY) * DAY)
        plain.append(naive(10, changes, DAY) * DAY)
    assert abs(np.mean(made) - 1.2) < 0.15
    assert np.mean(plain) < 0.75


def test_irregular_visits_give_the_rate_back() -> None:
    chance = np.random.default_rng(2)
    rates = np.array([0.1, 0.3, 1.0, 3.0]) / DAY
    gaps, changed, owner = [], [], []
    for place, rate in enumerate(rates):
        own = chance.exponential(DAY, 400)
        gaps.append(own)
        changed.append(visits(rate, own, chance))
        owner.append(np.full(400, place))
    found = irregular(np.concatenate(gaps), np.concatenate(changed), np.concatenate(owner), np.full(4, USUAL))
    assert np.all(np.abs(np.log(found / rates)) < 0.45), found * DAY


def test_a_page_without_visits_has_the_rate_of_its_host() -> None:
    gaps = np.full(40, DAY)
    changed = np.array([True, False] * 20)
    prior = host_rates(gaps, changed, np.zeros(40, np.int64), 2)
    assert prior[0] > 0.3 / DAY
    assert prior[0] > prior[1] * 0.9  # the other host leans on all of them
    none = np.zeros(0)
    made = irregular(none, none.astype(bool), none.astype(np.int64), prior)
    assert np.allclose(made, prior, rtol=1e-6)


def test_all_or_no_changes_stay_finite() -> None:
    gaps = np.full(5, DAY)
    for changed in (np.ones(5, bool), np.zeros(5, bool)):
        (rate,) = irregular(gaps, changed, np.zeros(5, np.int64), np.array([USUAL]))
        assert 1e-9 < rate < 1e-3
