"""SimHash: 64-bit fingerprints that are near for near-duplicate texts.

Works on code points with numpy, or in C where that was built, from end to end: no Python object is made for a
word. A shingle is three words in a row; characters of scripts without spaces are words of their own.

References:
    Moses Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002.
    Gurmeet Manku, Arvind Jain, Anish Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007
    (near-duplicates: at most 3 of 64 bits differ).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from honeyguide.native import native
from honeyguide.text.segmentation import UNSPACED
from honeyguide.text.tokens import MAX_CHARACTERS

_Words: TypeAlias = NDArray[np.uint64]

_SEPARATOR, _LETTER, _ALONE = 0, 1, 2
_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX: Final = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_BYTE_ONES: Final = np.uint64(0x0101010101010101)
_GROUP: Final = 255  # Eight counters fit into one word until a byte overflows.


def _mix(x: _Words) -> _Words:
    """SplitMix64's finaliser: every input bit moves every output bit."""
    x = (x ^ (x >> np.uint64(30))) * _MIX[0]
    x = (x ^ (x >> np.uint64(27))) * _MIX[1]
    return x ^ (x >> np.uint64(31))


_POWERS: Final = _mix(np.arange(1, 65, dtype=np.uint64) * _GOLDEN) | np.uint64(1)


def _characters() -> str:
    """The basic plane."""
    return np.arange(0x10000, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")


@lru_cache(maxsize=1)
def _class_table() -> bytes:
    """The class of each code point of the basic plane; the last entry stands for all beyond it."""
    characters = _characters()
    table = np.array([character.isalnum() for character in characters], np.uint8) * np.uint8(_LETTER)
    # All at once: looking at each of 30,000 matches would stop a crawl for a tenth of a second.
    replaced = UNSPACED.sub("\0", characters).encode("utf-16-le", "surrogatepass")
    table[np.frombuffer(replaced, "<u2") != np.arange(0x10000)] = _ALONE
    table[0xFFFF] = _ALONE
    return table.tobytes()


@lru_cache(maxsize=1)
def _lower_table() -> bytes:
    """The lower case of each code point of the basic plane, two bytes each; 0 where that will not do."""
    # The sigma has two, by its place in a word; the dotted I becomes two characters.
    simple = _characters().replace("\u03a3", "\0").replace("\u0130", "\0").lower()
    assert len(simple) == 0x10000
    codes = np.frombuffer(simple.encode("utf-16-le", "surrogatepass"), "<u2")
    return codes.astype(np.uint16).tobytes()


def _word_hashes(text: str) -> _Words:
    data = text[:MAX_CHARACTERS].lower().encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(data, dtype=np.uint32)
    classes = np.frombuffer(_class_table(), dtype=np.uint8)
    kinds = classes[np.minimum(codes, 0xFFFF)]
    keep = kinds != _SEPARATOR
    starts_here = kinds == _ALONE
    # A word starts at a letter after anything but a letter.
    letter = kinds == _LETTER
    starts_here |= letter & np.concatenate(([True], ~letter[:-1]))
    codes, starts_here = codes[keep].astype(np.uint64), starts_here[keep]
    starts = np.flatnonzero(starts_here)
    if not len(starts):
        return np.empty(0, dtype=np.uint64)
    offsets = np.arange(len(codes)) - starts[np.cumsum(starts_here) - 1]
    return np.asarray(np.add.reduceat(codes * _POWERS[offsets & 63], starts), dtype=np.uint64)


def _bit_counts(hashes: _Words) -> NDArray[np.int64]:
    """How many of the hashes have each bit set: byte-wide counters, eight bits at a time."""
    groups = np.arange(0, len(hashes), _GROUP)
    counts = np.empty((8, 8), dtype=np.int64)
    for shift in range(8):
        sums = np.add.reduceat((hashes >> np.uint64(shift)) & _BYTE_ONES, groups)
        counts[:, shift] = sums.astype("<u8").view(np.uint8).reshape(-1, 8).sum(axis=0, dtype=np.int64)
    return counts.reshape(64)


def simhash(text: str, *, shingle: int = 3) -> int:
    """The signed 64-bit fingerprint of `text`; 0 for a text without words.

    Args:
        text: Visible text of a page.
        shingle: Words a shingle. A text with fewer words is one shingle of all of them.

    Example:
        >>> base = " ".join(f"word{i}" for i in range(400))
        >>> hamming(simhash(base), simhash(base + " more")) <= 3
        True
        >>> hamming(simhash(base), simhash("A text about something else.")) > 10
        True
    """
    if native is not None:
        text = text[:MAX_CHARACTERS]
        # In ASCII, lower case costs nothing; beyond it, as much as the whole fingerprint.
        found = None if text.isascii() else native.simhash(text, shingle, _class_table(), _lower_table())
        if found is None:
            found = native.simhash(text.lower(), shingle, _class_table(), None)
        assert found is not None
        return found
    hashes = _word_hashes(text)
    if not len(hashes):
        return 0
    width = min(shingle, len(hashes))
    count = len(hashes) - width + 1
    joined = np.zeros(count, dtype=np.uint64)
    for place in range(width):
        joined = joined * _GOLDEN + hashes[place : place + count]
    majority = _bit_counts(_mix(joined)) * 2 > count
    return int(np.packbits(majority, bitorder="little").view("<i8")[0])


def hamming(a: int, b: int) -> int:
    """Number of bits in which two fingerprints differ.

    Example:
        >>> hamming(-1, 0)
        64
    """
    return ((a ^ b) & 0xFFFFFFFFFFFFFFFF).bit_count()
