from __future__ import annotations

import pytest

from honeyguide.model import Page, Via
from honeyguide.ordering.depth_rule import child_depth


@pytest.mark.parametrize(
    ("memo", "relevant", "expected"),
    [
        ({"depth": 1.0}, True, 3),
        ({"depth": 3.0}, False, 2),
        ({"depth": 1.0}, False, 0),
        ({"depth": 0.0}, False, 0),
        ({}, False, 2),
        (None, False, 2),
        (None, True, 3),
    ],
)
def test_child_depth(memo: dict[str, float] | None, relevant: bool, expected: int) -> None:
    via = None if memo is None else Via(9, memo=memo)
    assert child_depth(Page(url="https://a.example/", id=1, via=via), relevant, depth=3) == expected
