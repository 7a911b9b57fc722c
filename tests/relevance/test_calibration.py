from __future__ import annotations

import pytest

from honeyguide.relevance.calibration import separating_value


def test_middle_of_the_gap() -> None:
    assert separating_value([0.6, 0.9], [0.1, 0.2]) == pytest.approx(0.4)


def test_overlap_prefers_to_reject_others() -> None:
    # Letting the odd positive go costs 1/4; taking it in would let 2 of 4 others pass.
    value = separating_value([0.1, 0.7, 0.8, 0.9], [0.05, 0.05, 0.2, 0.3])
    assert 0.3 < value < 0.7


def test_positives_alone() -> None:
    assert separating_value([0.5, 0.5, 0.5]) == pytest.approx(0.425)


def test_never_zero() -> None:
    assert separating_value([0.0, 0.0]) > 0.0
    assert separating_value([0.0], [0.0]) > 0.0
