"""Near-duplicates by bands, against comparing with every page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.store.duplicates import NearDuplicates


def flipped(simhash: int, bits: list[int]) -> int:
    for bit in bits:
        simhash ^= 1 << bit
    return simhash


@given(
    st.lists(st.integers(1, (1 << 64) - 1), min_size=1, max_size=20, unique=True),
    st.integers(0, 19),
    st.lists(st.integers(0, 63), max_size=6, unique=True),
)
def test_same_answer_as_a_scan(hashes: list[int], chosen: int, bits: list[int]) -> None:
    index = NearDuplicates(enumerate(hashes, start=1))
    wanted = flipped(hashes[chosen % len(hashes)], bits)
    near = [row for row, other in enumerate(hashes, 1) if (other ^ wanted).bit_count() <= 3]
    exact = [row for row, other in enumerate(hashes, 1) if other == wanted]
    expected = 0 if wanted == 0 else (exact or near or [0])[0]
    assert index.find(wanted) == expected
    assert len(index) == len(hashes)


def test_pages_without_text_match_nothing() -> None:
    index = NearDuplicates([(1, 0), (2, 0b11)])
    assert index.find(0) == 0
    assert index.find(0b1) == 2
    assert len(index) == 1


def test_equal_hashes_are_entered_once() -> None:
    index = NearDuplicates([(1, 77), (2, 77)])
    assert (index.find(77), len(index)) == (1, 1)


def test_distance_is_limited_by_the_bands() -> None:
    with pytest.raises(ValueError, match="0 to 3"):
        NearDuplicates(distance=4)


@given(st.lists(st.integers(0, 40), max_size=30), st.integers(0, 30), st.integers(0, 60))
def test_filled_at_once_or_one_by_one(hashes: list[int], half: int, wanted: int) -> None:
    spread = [simhash << 14 | simhash for simhash in hashes]  # many that share a band, and many equal ones
    one_by_one = NearDuplicates()
    for row, simhash in enumerate(spread, 1):
        one_by_one.add(row, simhash)
    filled = NearDuplicates(list(enumerate(spread, 1))[:half])
    for row, simhash in list(enumerate(spread, 1))[half:]:
        filled.add(row, simhash)
    assert len(filled) == len(one_by_one)
    assert filled.find(wanted) == one_by_one.find(wanted)
    assert vars(filled) == vars(one_by_one)
