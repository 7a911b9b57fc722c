"""Near-duplicate pages: SimHashes within three bits, found by bands."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

_BANDS = 4
_WIDTH = 64 // _BANDS
_MASK = (1 << _WIDTH) - 1
_MOST = 4096
"""Candidates looked at in one band: bounds what pages made to collide can cost."""


class NearDuplicates:
    """Index of 64-bit SimHashes that finds those within a small Hamming distance.

    Two hashes that differ in at most three bits agree in at least one of four 16-bit bands, so only pages
    that share a band are compared. Pages that are near-duplicates themselves need not be added. A hash of 0
    means "no text" and matches nothing. 28 bytes a page and 2 MB.

    Args:
        distance: largest number of differing bits, at most 3.

    Example:
        >>> index = NearDuplicates()
        >>> index.add(1, 0b1111 << 40)
        >>> index.find(0b1110 << 40), index.find(0b1111)
        (1, 0)

    References:
        Manku, Jain, Das Sarma: Detecting near-duplicates for web crawling. WWW 2007.
    """

    def __init__(self, entries: Iterable[tuple[int, int]] = (), *, distance: int = 3) -> None:
        if not 0 <= distance < _BANDS:
            raise ValueError("distance must be 0 to 3: four bands find no more")
        self._distance = distance
        self._rows = array("i")
        self._hashes = array("Q")
        # Pages that share a band are a chain, oldest first: plain numbers, where a list for each band would
        # take a kilobyte a page until all lists have been begun.
        self._first = array("i", [-1]) * (_BANDS << _WIDTH)
        self._last = array("i", [-1]) * (_BANDS << _WIDTH)
        self._next = [array("i") for _ in range(_BANDS)]
        self._fill(list(entries))

    def _fill(self, entries: list[tuple[int, int]]) -> None:
        """`add` of each entry to an empty index, all at once: a resumed crawl has hundreds of thousands."""
        numbers = np.fromiter((row for row, _ in entries), np.int32, len(entries))
        hashes = np.fromiter((simhash for _, simhash in entries), np.uint64, len(entries))
        _, first = np.unique(hashes, return_index=True)
        kept = np.sort(first)
        kept = kept[hashes[kept] != 0]
        numbers, hashes = numbers[kept], hashes[kept]
        self._rows.frombytes(numbers.tobytes())
        self._hashes.frombytes(hashes.tobytes())
        firsts: NDArray[np.int32] = np.frombuffer(self._first, np.int32)
        lasts: NDArray[np.int32] = np.frombuffer(self._last, np.int32)
        for band, chain in enumerate(self._next):
            keys = (hashes >> np.uint64(band * _WIDTH) & np.uint64(_MASK)).astype(np.int64) + (band << _WIDTH)
            order = np.argsort(keys, kind="stable").astype(np.int32)
            same = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
            links = np.full(len(keys), -1, np.int32)
            links[order[same]] = order[same + 1]
            chain.frombytes(links.tobytes())
            lasts[keys] = np.arange(len(keys), dtype=np.int32)
            firsts[keys[::-1]] = np.arange(len(keys) - 1, -1, -1, dtype=np.int32)

    def __len__(self) -> int:
        """Number of pages remembered."""
        return len(self._rows)

    def add(self, row: int, simhash: int) -> None:
        """Remember a page; one whose hash is known already, or 0, is passed over."""
        if simhash == 0 or self._exact(simhash) >= 0:
            return
        place = len(self._rows)
        self._rows.append(row)
        self._hashes.append(simhash)
        for band, chain in enumerate(self._next):
            key = _key(band, simhash)
            before = self._last[key]
            if before < 0:
                self._first[key] = place
            else:
                chain[before] = place
            self._last[key] = place
            chain.append(-1)

    def find(self, simhash: int) -> int:
        """Row of the page with an equal hash, else of the first one added that is near; 0 for none."""
        if simhash == 0:
            return 0
        exact = self._exact(simhash)
        if exact >= 0:
            return self._rows[exact]
        first = len(self._rows)
        hashes, distance = self._hashes, self._distance
        for band, chain in enumerate(self._next):
            place, left = self._first[_key(band, simhash)], _MOST
            while 0 <= place < first and left:
                if (hashes[place] ^ simhash).bit_count() <= distance:
                    first = place
                    break
                place = chain[place]
                left -= 1
        return self._rows[first] if first < len(self._rows) else 0

    def _exact(self, simhash: int) -> int:
        """Place of an equal hash; -1 for none."""
        chain, hashes = self._next[0], self._hashes
        place, left = self._first[_key(0, simhash)], _MOST
        while place >= 0 and left:
            if hashes[place] == simhash:
                return place
            place = chain[place]
            left -= 1
        return -1


def _key(band: int, simhash: int) -> int:
    """Where a hash's chain of a band begins."""
    return band << _WIDTH | simhash >> band * _WIDTH & _MASK
