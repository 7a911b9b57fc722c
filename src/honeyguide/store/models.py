"""Learned state as data: arrays plus JSON, never pickle."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray


class Saved(msgspec.Struct, frozen=True):
    """What a page model or a link order has learned."""

    values: dict[str, object] = {}
    """Plain JSON values."""
    arrays: dict[str, NDArray[np.generic]] = {}
    """Arrays of numbers or fixed-width strings; object arrays are refused."""
