from __future__ import annotations

from collections.abc import Callable

import numpy as np

from honeyguide.model import Link, Page, Verdict
from honeyguide.ordering.random_order import RandomOrder

MakePage = Callable[..., Page]


def test_random_order_is_uniform_and_by_url(on: Verdict, a_page: MakePage) -> None:
    links = [Link("", i) for i in range(-2000, 2000)]
    drawn = np.array([s.priority for s in RandomOrder(seed=5).rank(a_page(), on, links)])
    assert drawn.min() >= 0.0
    assert drawn.max() < 1.0
    assert abs(drawn.mean() - 0.5) < 0.03
    assert abs(np.corrcoef(drawn, np.arange(4000))[0, 1]) < 0.05
