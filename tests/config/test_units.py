from __future__ import annotations

import pytest

from honeyguide.config.units import parse_size, parse_span


@pytest.mark.parametrize(
    ("text", "size"),
    [("8 MiB", 8 * 2**20), ("1.5kb", 1500), ("7", 7), ("2 GB", 2 * 10**9), (" 3 tib ", 3 * 2**40)],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(("text", "span"), [("90", 90.0), ("2 h", 7200.0), ("1.5m", 90.0), ("250 ms", 0.25)])
def test_spans(text: str, span: float) -> None:
    assert parse_span(text) == span


@pytest.mark.parametrize("text", ["", "h", "-1 h", "1 parsec", "1e9 h", "1 2 h", "٣ h"])
def test_what_is_no_quantity(text: str) -> None:
    with pytest.raises(ValueError, match="write a number and a unit"):
        parse_span(text)
    with pytest.raises(ValueError, match="write a number and a unit"):
        parse_size(text)


def test_numbers_pass_unchanged() -> None:
    assert parse_size(5) == 5
    assert parse_span(True) is True
