"""Sizes and spans of time as people write them: `8 MiB`, `2 h`."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, Field

_SIZES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_SIZES |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
_SPANS = {"": 1, "ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)", re.IGNORECASE)


def _times(text: str, units: dict[str, float] | dict[str, int], example: str) -> float:
    match = _QUANTITY.fullmatch(text.strip())
    if match is None or match[2].lower() not in units:
        known = ", ".join(unit for unit in units if unit)
        raise ValueError(f"write a number and a unit, such as {example!r} (units: {known})")
    return float(match[1]) * units[match[2].lower()]


def parse_size(value: object) -> object:
    """Bytes from a text such as `8 MiB`; anything but a text passes unchanged.

    Example:
        >>> parse_size("8 MiB")
        8388608
    """
    return round(_times(value, _SIZES, "8 MiB")) if isinstance(value, str) else value


def parse_span(value: object) -> object:
    """Seconds from a text such as `2 h`; anything but a text passes unchanged.

    Example:
        >>> parse_span("1.5 h")
        5400.0
    """
    return float(_times(value, _SPANS, "2 h")) if isinstance(value, str) else value


Size = Annotated[int, BeforeValidator(parse_size), Field(ge=1, le=2**60)]
"""A number of bytes, or a text such as `8 MiB`."""
Span = Annotated[float, BeforeValidator(parse_span), Field(ge=0, le=10**9, allow_inf_nan=False)]
"""A number of seconds, or a text such as `2 h`."""
