"""Words of a long text to numbers, in C where that was built.

A page has thousands of words, nearly all of them seen before. Parting them, hashing them and looking them
up takes one pass over the bytes here, and no object a word: a tenth of the time that a dict takes.
Only words that are new go through Python.
"""

from __future__ import annotations

import math
import re
import secrets
from typing import Final, NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

from honeyguide.compiled import compiled

Bytes = NDArray[np.uint8]
Longs = NDArray[np.int64]
Ints = NDArray[np.int32]
Floats = NDArray[np.float64]

NEW: Final = -1
"""What stands for a word that the table has not."""
SPACED: Final = bytes(
    (ord(chr(code).lower()) if chr(code).isalnum() else 32) if code < 128 else code for code in range(256)
)
"""Letters and digits of ASCII as lower case, bytes of other characters as they are, the rest as spaces."""
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
def _read(  # noqa: PLR0917 - as C takes them
    data: Bytes, keys: Longs, values: Ints, found: Ints, missed: Longs, seed: int
) -> tuple[int, int]:
    """How many words there are, those of number 0 left out, and how many of them are new.

    Args:
        data: Text in UTF-8.
        keys: The table's fingerprints of words.
        values: The table's numbers.
        found: Gets the number of each word.
        missed: Gets, of as many new words as fit, place among the words, key, start and end.
        seed: Of the fingerprints.
    """
    count = misses = 0
    for match in re.finditer(b"[^ ]+", data.tobytes().translate(SPACED)):
        # C makes other fingerprints, which would be slow here; nobody else sees them.
        key = (xxhash.xxh3_64_intdigest(match[0], seed) >> 1) | 1
        slot = _slot(keys, key)
        if keys[slot] == key:
            found[count] = values[slot]
            count += int(values[slot] != 0)
        else:
            found[count] = NEW
            if misses < len(missed):
                missed[misses] = count, key, match.start(), match.end()
            misses += 1
            count += 1
    return count, misses


NONE_OF_THEM, ONE_OF_THEM, UNSURE = range(3)
SHORT_TEXT: Final = 4096
"""Bytes of the longest text that is looked through for words."""


@compiled
def _mentions(texts: list[str], keys: Longs, values: Ints, marked: Bytes, seed: int) -> bytes:
    """For each text, whether it has a word whose number is marked.

    `UNSURE` where it has none of those, but a word whose number is not known, or is no number of one term.

    Args:
        texts: A few words each.
        keys: As above.
        values: As above.
        marked: 1 or 0, by number.
        seed: As above.
    """
    found = bytearray(len(texts))
    for place, text in enumerate(texts):
        try:
            data = text.encode()
        except UnicodeEncodeError:
            data = b" " * (SHORT_TEXT + 1)
        if len(data) > SHORT_TEXT:
            found[place] = UNSURE
            continue
        for word in data.translate(SPACED).split(b" "):
            if not word:
                continue
            key = (xxhash.xxh3_64_intdigest(word, seed) >> 1) | 1
            slot = _slot(keys, key)
            if keys[slot] != key or not 0 <= values[slot] < len(marked):
                found[place] = UNSURE
            elif marked[values[slot]]:
                found[place] = ONE_OF_THEM
                break
    return bytes(found)


@compiled
def _count(numbers: Ints, places: Ints, distinct: Ints, counts: Longs) -> int:
    """How many different numbers there are.

    Args:
        numbers: The numbers.
        places: As long as the largest of them; all 0 before and after.
        distinct: Gets each number once, in the order of their first occurrences.
        counts: Gets how often each occurs.
    """
    del places  # only C needs it
    found: dict[int, int] = {}
    for number in numbers.tolist():
        found[number] = found.get(number, 0) + 1
    distinct[: len(found)] = list(found)
    counts[: len(found)] = list(found.values())
    return len(found)


@compiled
def _frequent(texts: tuple[Ints, ...], places: Ints, distinct: Ints, weights: Floats) -> tuple[int, int]:
    """How many different numbers are kept, and how many words those are.

    Args:
        texts: Numbers.
        places: As long as the largest of them; all 0 before and after.
        distinct: Gets each number once, in the order of their first occurrences; where there are more than it
            has room for the most frequent, the most frequent first.
        weights: Gets `1 + log` of how often each occurs.
    """
    del places  # only C needs it
    found: dict[int, int] = {}
    for numbers in texts:
        for number in numbers.tolist():
            found[number] = found.get(number, 0) + 1
    kept = list(found.items())
    if len(kept) > len(distinct):
        kept = sorted(kept, key=lambda item: -item[1])[: len(distinct)]
    distinct[: len(kept)] = [number for number, _ in kept]
    weights[: len(kept)] = [1.0 + math.log(count) for _, count in kept]
    return len(kept), sum(count for _, count in kept)


class WordTable:
    """Numbers of words; who uses it says what they stand for.

    Two words have one number where their 63-bit fingerprints are equal: never by chance, and not on purpose
    either, since nobody outside knows the seed. No number depends on it.

    Example:
        >>> table = WordTable()
        >>> words = b"Owl and owl"
        >>> found, new = table.scan(words)
        >>> [words[start:end] for _, _, start, end in new.tolist()]
        [b'Owl', b'and', b'owl']
        >>> table.put(new[:1, 1], np.array([7], np.int32))
        >>> table.scan(words)[0].tolist()
        [7, -1, 7]
    """

    def __init__(self) -> None:
        self._seed = secrets.randbits(64)
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
        """The number of each word of a text in UTF-8; a row (place, key, start, end) for each that has none.

        A word is a run of ASCII letters, in lower case, digits, and whatever is not ASCII. Words of number 0
        are left out.
        """
        found = np.empty(len(data) // 2 + 1, np.int32)
        room = FEW
        while True:
            missed = np.empty((room, 4), np.int64)
            text = np.frombuffer(data, np.uint8)
            count, misses = _read(text, self._keys, self._values, found, missed, self._seed)
            if misses <= room:
                return found[:count], missed[:misses]
            room = misses

    def mentions(self, texts: list[str], marked: Bytes) -> bytes:
        """For each text `ONE_OF_THEM`, `NONE_OF_THEM` or `UNSURE`: whether it has a word that is marked.

        Args:
            texts: A few words each.
            marked: 1 or 0, by number.
        """
        return _mentions(texts, self._keys, self._values, marked, self._seed)

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


class Frequent(NamedTuple):
    """The most frequent terms of texts."""

    numbers: Ints
    """Each once, in the order of first occurrences; the most frequent first where not all are here."""
    weights: Floats
    """`1 + log(tf)` of each."""
    words: int
    """How many words they are."""


class Counting:
    """Counts numbers of words."""

    def __init__(self) -> None:
        self._places: Ints = np.zeros(FIRST_SIZE, np.int32)

    def count(self, numbers: Ints, below: int) -> tuple[Ints, Longs]:
        """Each number once, in the order of first occurrences, and how often it occurs.

        Args:
            numbers: Any, from 0 on.
            below: All are less than this.

        Example:
            >>> numbers, counts = Counting().count(np.array([7, 2, 7], np.int32), 8)
            >>> numbers.tolist(), counts.tolist()
            ([7, 2], [2, 1])
        """
        self._make_room(below)
        distinct, counts = np.empty(len(numbers), np.int32), np.empty(len(numbers), np.int64)
        different = _count(numbers, self._places, distinct, counts)
        return distinct[:different], counts[:different]

    def frequent(self, texts: tuple[Ints, ...], below: int, most: int) -> Frequent:
        """The numbers of texts that occur most often, `most` of them.

        Example:
            >>> texts = np.array([7, 2, 7], np.int32), np.array([3, 3], np.int32)
            >>> numbers, weights, words = Counting().frequent(texts, 8, 2)
            >>> numbers.tolist(), words
            ([7, 3], 4)
        """
        self._make_room(below)
        most = min(most, sum(map(len, texts)))
        distinct, weights = np.empty(most, np.int32), np.empty(most)
        kept, words = _frequent(texts, self._places, distinct, weights)
        return Frequent(distinct[:kept], weights[:kept], words)

    def _make_room(self, below: int) -> None:
        if below > len(self._places):
            self._places = np.zeros(2 * below, np.int32)
