"""Words of a long text to numbers, by machine code.

A page has thousands of words, nearly all of them seen before. Parting them, hashing them and looking them
up takes one pass over the bytes here, and no object a word: a fifth of the time that a dict takes.
Only words that are new go through Python.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from honeyguide.compiled import compiled

Bytes = NDArray[np.uint8]
Longs = NDArray[np.int64]
Ints = NDArray[np.int32]

NEW: Final = -1
"""What stands for a word that the table has not."""
SPACE: Final = 32
FIRST_SIZE: Final = 1 << 12


@compiled
def _slot(keys: Longs, key: int) -> int:
    """Where a key is, or the free place where it belongs; 0 marks a free place."""
    mask = len(keys) - 1
    place = (key ^ (key >> 29)) & mask
    while keys[place] not in (0, key):
        place = (place + 1) & mask
    return place


@compiled
def _grown(keys: Longs, values: Ints, size: int) -> tuple[Longs, Ints]:
    """The same table with more room."""
    more, numbers = np.zeros(size, np.int64), np.zeros(size, np.int32)
    for place in range(len(keys)):
        if keys[place]:
            slot = _slot(more, keys[place])
            more[slot], numbers[slot] = keys[place], values[place]
    return more, numbers


@compiled
def _put(keys: Longs, values: Ints, new: Longs, numbers: Ints) -> int:
    """Take words in; how many were not there yet."""
    count = 0
    for place in range(len(new)):
        slot = _slot(keys, new[place])
        count += keys[slot] == 0
        keys[slot], values[slot] = new[place], numbers[place]
    return count


@compiled
def _scan(data: Bytes, keys: Longs, values: Ints) -> tuple[Ints, Longs]:
    """The number of each word, and where the new ones are: place among the words, key, start, end."""
    found = np.empty(len(data) // 2 + 1, np.int32)
    missed = np.empty((16, 4), np.int64)
    count = misses = start = 0
    while start < len(data):
        if data[start] == SPACE:
            start += 1
            continue
        end, key = start, np.int64(-3750763034362895579)  # FNV-1a
        while end < len(data) and data[end] != SPACE:
            key = (key ^ np.int64(data[end])) * np.int64(1099511628211)
            end += 1
        key |= np.int64(1)  # never 0
        slot = _slot(keys, int(key))
        if keys[slot] == key:
            found[count] = values[slot]
        else:
            found[count] = NEW
            if misses == len(missed):
                longer = np.empty((2 * misses, 4), np.int64)
                longer[:misses] = missed
                missed = longer
            missed[misses, 0], missed[misses, 1] = count, key
            missed[misses, 2], missed[misses, 3] = start, end
            misses += 1
        count += 1
        start = end
    return found[:count], missed[:misses]


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
        return _scan(np.frombuffer(data, np.uint8), self._keys, self._values)

    def put(self, keys: Longs, numbers: Ints) -> None:
        """Remember words by the keys that `scan` gave for them."""
        size = len(self._keys)
        while size < 2 * (self._count + len(keys)):
            size *= 4
        if size > len(self._keys):
            self._keys, self._values = _grown(self._keys, self._values, size)
        self._count += _put(self._keys, self._values, keys, numbers)
