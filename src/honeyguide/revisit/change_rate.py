"""How often a page changes, from visits that only say whether it did.

Several changes between two visits look like one, so changes per visit (`naive`) is too low for pages that
change often. Cho and Garcia-Molina give an estimator without that bias for visits at regular intervals
(`bias_reduced`), and the maximum of the likelihood for irregular ones (`irregular`): the rate r at which

    sum over visits with a change of t / (exp(rt) - 1)  =  sum over visits without of t

where t is the time since the visit before. With few visits that is 0 or infinite; so each page is given half
a visit's worth of a prior, a gamma distribution around the rate of its host, which itself leans on all hosts.

References:
    J. Cho, H. Garcia-Molina: Estimating frequency of change. ACM TOIT 3(3), 2003.

Example:
    >>> round(bias_reduced(10, 6, 1.0), 3)  # 6 changes seen on 10 daily visits: 0.85 a day
    0.847
    >>> naive(10, 6, 1.0)
    0.6
"""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray

from honeyguide.revisit.base import Numbers

USUAL = 1 / (30 * 86400.0)
"""Changes a second of a page of which nothing is known: one a month."""
PRIOR = 0.5
"""How many visits the prior of a page counts as much as."""
HOST_PRIOR = 2.0
"""The same for the rate of a host."""
RAREST, MOST = 1 / (50 * 365 * 86400.0), 1 / 60.0
"""Bounds of a rate: one change in fifty years, one a minute."""
_HALVINGS = 50


def naive(visits: int, changes: int, interval: float) -> float:
    """Changes seen by the time that passed; too low for pages that change often."""
    return changes / (visits * interval)


def bias_reduced(visits: float, changes: float, interval: float) -> float:
    """Cho and Garcia-Molina's estimator for visits at regular intervals.

    Args:
        visits: After the first.
        changes: How many of them found a change.
        interval: Seconds between two visits.
    """
    return -log((visits - changes + 0.5) / (visits + 0.5)) / interval


def irregular(gaps: Numbers, changed: NDArray[np.bool_], owner: NDArray[np.int64], prior: Numbers) -> Numbers:
    """The likeliest rate of each page.

    Args:
        gaps: Seconds before each visit, of all pages.
        changed: Whether the visit found a change.
        owner: To which page it belongs: a place in `prior`.
        prior: The rate to assume of each page without visits.
    """
    size = len(prior)
    owner = owner[gaps > 0]
    changed = changed[gaps > 0]
    gaps = gaps[gaps > 0]
    same = np.bincount(owner[~changed], weights=gaps[~changed], minlength=size)
    seen, whose = gaps[changed], owner[changed]
    low = np.full(size, log(RAREST))
    high = np.full(size, log(MOST))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        rate = np.exp(middle)
        expected = np.bincount(whose, weights=_left(rate[whose] * seen) * seen, minlength=size)
        # Falls with the rate: above what the visits without a change say, the rate is too low.
        too_low = expected + PRIOR / rate > same + PRIOR / prior
        low = np.where(too_low, middle, low)
        high = np.where(too_low, high, middle)
    made: Numbers = np.exp((low + high) / 2)
    return made


def _left(changes: Numbers) -> Numbers:
    """1 / (exp(x) - 1), without overflow."""
    return 1.0 / np.expm1(np.minimum(changes, 700.0))


def host_rates(gaps: Numbers, changed: NDArray[np.bool_], hosts: NDArray[np.int64], size: int) -> Numbers:
    """The rate to assume of pages of each host, by the bias-reduced estimator over all its visits.

    Args:
        gaps: Seconds before each visit.
        changed: Whether it found a change.
        hosts: Whose page it was: 0 to `size` - 1.
        size: Number of hosts.
    """
    visits = np.bincount(hosts, minlength=size).astype(np.float64)
    changes = np.bincount(hosts[changed], minlength=size).astype(np.float64)
    time = np.bincount(hosts, weights=gaps, minlength=size)
    overall = USUAL
    if len(gaps):
        mean = float(gaps.mean())
        overall = bias_reduced(len(gaps) + 1, float(changed.sum()) + 1 - np.exp(-USUAL * mean), mean)
    interval = np.where(visits > 0, time / np.maximum(visits, 1), 1 / overall)
    expected = -np.expm1(-overall * interval)
    left = (visits - changes + HOST_PRIOR * (1 - expected) + 0.5) / (visits + HOST_PRIOR + 0.5)
    made: Numbers = np.clip(-np.log(left) / interval, RAREST, MOST)
    return made
