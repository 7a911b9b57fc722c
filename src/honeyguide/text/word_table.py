"""Words of a long text to numbers, in C where that was built.

A page has thousands of words, nearly all of them seen before. Parting them, hashing them and looking them
up takes one pass over the bytes here, and no object a word: a fifth of the time that a dict takes.
Only words that are new go through Python.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import xxhash
from numpy.typing import NDArray

from honeyguide.compiled import compiled

Bytes = NDArray[np.uint8]
Longs = NDArray[np.int64]
Ints = NDArray[np.int32]

NEW: Final = -1
"""What stands for a word that the table has not."""
SPACE: Final = 32
FIRST_SIZE: Final = 1 << 12
FEW: Final = 64
"""New words that are made room for at first."""


def _slot(keys: Longs, key: int) -> int:
    """Where a key is, or the free place where it belongs; 0 marks a free place."""
    mask = len(keys) - 1
    place = (key ^ (key >> 29)) & mask
    while keys[place] not in (0, key):
        place = (place + 1) & mask
    return place


@compiled
def _put(keys: Longs, values: Ints, new: Longs, numbers: Ints) -> int:
    """Take words in; how many were not there yet."""
    count = 0
    for key, number in zip(new.tolist(), numbers.tolist(), strict=True):
        slot = _slot(keys, key)
        count += int(keys[slot] == 0)
        keys[slot], values[slot] = key, number
    return count


@compiled
def _scan(data: Bytes, keys: Longs, values: Ints, found: Ints, missed: Longs) -> tuple[int, int]:
    """How many words there are, and how many of them are new.

    Args:
        data: Words parted by spaces.
        keys: The table's fingerprints of words.
        values: The table's numbers.
        found: Gets the number of each word.
        missed: Gets, of as many new words as fit, place among the words, key, start and end.
    """
    count = misses = 0
    for match in re.finditer(b"[^ ]+", data.tobytes()):
        # C makes other fingerprints (FNV-1a), which would be slow here; nobody else sees them.
        key = (xxhash.xxh3_64_intdigest(match[0]) >> 1) | 1
        slot = _slot(keys, key)
        if keys[slot] == key:
            found[count] = values[slot]
        else:
            found[count] = NEW
            if misses < len(missed):
                missed[misses] = count, key, match.start(), match.end()
            misses += 1
        count += 1
    return count, misses


class WordTable:
    """Numbers of words; who uses it says what they stand for.

    Two words have one number where their 63-bit fingerprints are equal: never by chance, and whoever
    makes such a pair on purpose has joined two words on their own page.

    Example:
        >>> table = WordTable()
        >>> words = b"owl and owl"
        >>> found, new = table.scan(words)
        >>> [words[start:end] for _, _, start, end in new.tolist()]
        [b'owl', b'and', b'owl']
        >>> table.put(new[:1, 1], np.array([7], np.int32))
        >>> table.scan(words)[0].tolist()
        [7, -1, 7]
    """

    def __init__(self) -> None:
        self.clear()

    def __len__(self) -> int:
        """Words that are known."""
        return self._count

    def clear(self) -> None:
        """Forget everything."""
        self._keys: Longs = np.zeros(FIRST_SIZE, np.int64)
        self._values: Ints = np.zeros(FIRST_SIZE, np.int32)
        self._count = 0

    def scan(self, data: bytes) -> tuple[Ints, Longs]:
        """The number of each word between spaces; a row (place, key, start, end) for each that has none."""
        found = np.empty(len(data) // 2 + 1, np.int32)
        room = FEW
        while True:
            missed = np.empty((room, 4), np.int64)
            text = np.frombuffer(data, np.uint8)
            count, misses = _scan(text, self._keys, self._values, found, missed)
            if misses <= room:
                return found[:count], missed[:misses]
            room = misses

    def put(self, keys: Longs, numbers: Ints) -> None:
        """Remember words by the keys that `scan` gave for them."""
        size = len(self._keys)
        while size < 2 * (self._count + len(keys)):
            size *= 4
        if size > len(self._keys):
            known = self._keys != 0
            old, values = self._keys[known], self._values[known]
            self._keys, self._values = np.zeros(size, np.int64), np.zeros(size, np.int32)
            _put(self._keys, self._values, old, values)
        self._count += _put(self._keys, self._values, np.ascontiguousarray(keys), numbers)
