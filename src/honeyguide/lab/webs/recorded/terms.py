"""Terms of cached pages: their texts, analysed once for all replays.

Most page models begin by taking a page's text apart. That takes longer than all the rest of a replay, and
gives the same terms every time, so they are kept beside the parsed pages: numbers in one file, mapped into
memory, and the terms that they stand for. They serve analysers for English, the default; others analyse
the text as always.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from honeyguide.text.segmentation import best_segmenter
from honeyguide.text.tokens import LONG, Analyser

NUMBERS = "terms.bin"
INDEX = "terms.idx"


class TermIndex(msgspec.Struct, frozen=True):
    """What the numbers stand for, and where each page's are."""

    segmenter: str
    terms: tuple[str, ...]
    offsets: tuple[int, ...]
    """One more than pages: the last is the end."""


class TermWriter:
    """Collects the terms of pages in the order in which they are cached."""

    def __init__(self) -> None:
        self._analyser = Analyser()
        self._numbers: dict[str, int] = {}
        self._pages: list[np.ndarray[tuple[int], np.dtype[np.int32]]] = []

    def add(self, text: str) -> None:
        """The next page's text."""
        numbers = self._numbers
        found = [numbers.setdefault(term, len(numbers)) for term in self._analyser.terms(text)]
        self._pages.append(np.array(found, np.int32))

    def write(self, folder: Path) -> None:
        """Write both files."""
        with (folder / NUMBERS).open("wb") as file:
            for page in self._pages:
                file.write(page.tobytes())
        offsets = tuple(itertools.accumulate(map(len, self._pages), initial=0))
        index = TermIndex(self._analyser.segmenter, tuple(self._numbers), offsets)
        (folder / INDEX).write_bytes(msgspec.msgpack.encode(index))


class TermStore:
    """Terms by the page's place in the cache."""

    def __init__(self, folder: Path) -> None:
        index = msgspec.msgpack.decode((folder / INDEX).read_bytes(), type=TermIndex)
        self._known = index.segmenter == best_segmenter()
        self._offsets: Sequence[int] = index.offsets
        self._terms = np.array(index.terms, dtype=object)
        size = (folder / NUMBERS).stat().st_size
        if size != 4 * index.offsets[-1]:
            raise ValueError(f"{NUMBERS} has {size} bytes instead of {4 * index.offsets[-1]}")
        self._numbers = np.memmap(folder / NUMBERS, np.int32, mode="r") if size else np.zeros(0, np.int32)
        self._analyser = Analyser()

    def remember(self, place: int, text: str) -> None:
        """Let analysers have a page's terms without work, while its text is the last one that was visited."""
        if self._known and len(text) >= LONG:
            numbers = self._numbers[self._offsets[place] : self._offsets[place + 1]]
            self._analyser.remember(text, self._terms[numbers].tolist())
