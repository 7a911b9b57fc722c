"""Random numbers that are a function of their name, equal on every machine and Python version.

`fingerprint` is for one number about one thing; `Draws` is for a run of them. Both start from whole
numbers, never from `hash()`, and neither keeps global state.
"""

from __future__ import annotations

import hashlib
import struct

import xxhash

_PAIR = struct.Struct("<qq").pack
_BLOCK = 64
_UNPACK = struct.Struct(f"<{_BLOCK}I").unpack


def fingerprint(seed: int, first: int, second: int = 0) -> int:
    """A 64-bit number for a pair of whole numbers under a seed.

    Example:
        >>> fingerprint(1, 2, 3) == fingerprint(1, 2, 3) != fingerprint(1, 3, 2)
        True
    """
    return xxhash.xxh3_64_intdigest(_PAIR(first, second), seed)


def text_fingerprint(seed: int, text: str) -> int:
    """A 64-bit number for a text under a seed."""
    return xxhash.xxh3_64_intdigest(text.encode(), seed)


class Draws:
    """An endless run of 32-bit numbers from one 64-bit key.

    SHAKE-128 makes 64 numbers in one call, which is far cheaper in Python than arithmetic per number.

    Example:
        >>> draws = Draws(7)
        >>> one, two = draws.next(), draws.next()
        >>> Draws(7).next() == one != two
        True
    """

    __slots__ = ("_block", "_key", "_values")

    def __init__(self, key: int) -> None:
        self._key = key
        self._block = 0
        self._values: list[int] = []

    def next(self) -> int:
        """The next number, 0 to 2**32 - 1."""
        if not self._values:
            self._fill()
        return self._values.pop()

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1 (slightly uneven for huge limits, which does not matter here)."""
        return self.next() % limit

    def chance(self, share: float) -> bool:
        """True in about `share` of all cases."""
        return self.next() < share * 4294967296.0

    def shuffled(self, count: int) -> list[int]:
        """The numbers 0 to count - 1 in random order."""
        order = list(range(count))
        for last in range(count - 1, 0, -1):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return order

    def _fill(self) -> None:
        name = struct.pack("<QI", self._key & 0xFFFFFFFFFFFFFFFF, self._block)
        self._values = list(_UNPACK(hashlib.shake_128(name).digest(4 * _BLOCK)))
        self._block += 1
