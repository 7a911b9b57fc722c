"""Texts by number on disk: for lookups in more data than fits in memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

PARTITIONS: Final = 256
"""One partition is sorted in memory at a time: of 100 million entries that is 400,000."""


class KeyedWriter:
    """Takes pairs of number and text in any order; `finish` makes them a `KeyedFile`.

    Pairs go to one of 256 partitions by the low bits of their number, so memory holds one batch at a time.

    Args:
        folder: A new folder.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._folder = folder

    def add(self, keys: NDArray[np.int64], values: Sequence[bytes] | NDArray[np.int64]) -> None:
        """Take a batch. Numbers are kept as eight bytes, the lowest first."""
        part = keys & (PARTITIONS - 1)
        order = np.argsort(part, kind="stable")
        bounds = np.searchsorted(part[order], np.arange(PARTITIONS + 1))
        for number in range(PARTITIONS):
            chosen = order[bounds[number] : bounds[number + 1]]
            if not len(chosen):
                continue
            if isinstance(values, np.ndarray):
                text, lengths = values[chosen].astype("<i8").tobytes(), np.full(len(chosen), 8, np.uint32)
            else:
                texts = [values[index] for index in chosen.tolist()]
                text, lengths = b"".join(texts), np.fromiter(map(len, texts), np.uint32, len(texts))
            for kind, data in (
                ("keys", keys[chosen].tobytes()),
                ("lengths", lengths.tobytes()),
                ("text", text),
            ):
                with (self._folder / f"{number:03}.{kind}").open("ab") as file:
                    file.write(data)

    def finish(self) -> None:
        """Sort each partition by number; the texts stay where they are."""
        for number in range(PARTITIONS):
            unsorted = self._folder / f"{number:03}.keys"
            if not unsorted.exists():
                continue
            keys = np.fromfile(unsorted, np.int64)
            lengths = np.fromfile(self._folder / f"{number:03}.lengths", np.uint32)
            order = np.argsort(keys, kind="stable")
            starts = np.cumsum(lengths, dtype=np.int64) - lengths
            keys[order].tofile(unsorted)
            np.stack([starts[order], lengths[order].astype(np.int64)], axis=1).tofile(
                self._folder / f"{number:03}.places"
            )
            (self._folder / f"{number:03}.lengths").unlink()


class KeyedFile:
    """Looks texts up by number.

    Args:
        folder: What `KeyedWriter` made.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: int, limit: int) -> list[bytes]:
        """The first texts of a number, in the order they were added."""
        number = key & (PARTITIONS - 1)
        path = self._folder / f"{number:03}.keys"
        if not path.exists():
            return []
        keys = np.memmap(path, np.int64, "r")
        first, end = (int(np.searchsorted(keys, key, side)) for side in ("left", "right"))
        end = min(end, first + limit)
        if first >= end:
            return []
        places = np.memmap(self._folder / f"{number:03}.places", np.int64, "r").reshape(-1, 2)[first:end]
        with (self._folder / f"{number:03}.text").open("rb") as file:
            found = []
            for start, length in places.tolist():
                file.seek(start)
                found.append(file.read(length))
        return found
