"""Near-duplicate pages: SimHashes within three bits, found by bands."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

_BANDS = 4
_WIDTH = 64 // _BANDS
_MASK = (1 << _WIDTH) - 1
_MOST = 4096
"""Candidates looked at in one band: bounds what pages made to collide can cost."""


class NearDuplicates:
    """Index of 64-bit SimHashes that finds those within a small Hamming distance.

    Two hashes that differ in at most three bits agree in at least one of four 16-bit bands, so only pages
    that share a band are compared. Pages that are near-duplicates themselves need not be added. A hash of 0
    means "no text" and matches nothing. About 70 bytes a page.

    Parameters:
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
        self._rows: list[int] = []
        self._hashes: array[int] = array("Q")
        self._exact: dict[int, int] = {}
        self._bands: dict[int, array[int]] = {}
        for row, simhash in entries:
            self.add(row, simhash)

    def __len__(self) -> int:
        """Number of pages remembered."""
        return len(self._rows)

    def add(self, row: int, simhash: int) -> None:
        """Remember a page; one whose hash is known already, or 0, is passed over."""
        if simhash == 0 or simhash in self._exact:
            return
        place = len(self._rows)
        self._rows.append(row)
        self._hashes.append(simhash)
        self._exact[simhash] = row
        for band in range(_BANDS):
            key = band << _WIDTH | simhash >> band * _WIDTH & _MASK
            self._bands.setdefault(key, array("I")).append(place)

    def find(self, simhash: int) -> int:
        """Row of the page with an equal hash, else of the first one added that is near; 0 for none."""
        if simhash == 0:
            return 0
        exact = self._exact.get(simhash)
        if exact is not None:
            return exact
        first = len(self._rows)
        for band in range(_BANDS):
            key = band << _WIDTH | simhash >> band * _WIDTH & _MASK
            for place in self._bands.get(key, ())[:_MOST]:
                if place >= first:
                    break
                if (self._hashes[place] ^ simhash).bit_count() <= self._distance:
                    first = place
                    break
        return self._rows[first] if first < len(self._rows) else 0
