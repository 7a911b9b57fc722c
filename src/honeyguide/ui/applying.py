"""Taking reviews in while no crawl runs: a process of its own, a moment after the last decision."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from honeyguide.collection.collection import Collection
from honeyguide.collection.review_desk import link_counts
from honeyguide.errors import HoneyguideError
from honeyguide.ui.launch import Launcher

_CALM = 1.0
"""Seconds without a decision after which the model is trained again."""
_FEW = 5_000
"""Pages whose links are counted while the reader waits."""


class Applier:
    """Runs `honeyguide review apply` when decisions have come to rest. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._launcher = Launcher()
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether decisions are being taken in, or are about to be."""
        return self._launcher.running or self._timer is not None

    @property
    def problem(self) -> str:
        """Why the last time failed; empty when all is well."""
        return self._launcher.problem

    def soon(self, wanted: Callable[[], bool]) -> None:
        """Take decisions in after a moment of calm, if they are then still `wanted`."""
        with self._lock:
            if self._closed:
                return
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(_CALM, self._start, (wanted,))
            self._timer.daemon = True
            self._timer.start()

    def _start(self, wanted: Callable[[], bool]) -> None:
        if self._launcher.running:
            self.soon(wanted)
            return
        with suppress(HoneyguideError):
            if wanted():
                self._launcher.start(["review", "apply", str(self._folder.resolve())])
        with self._lock:
            self._timer = None

    def close(self) -> None:
        """Stop it; what was not taken in is taken in next time."""
        with self._lock:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()
        self._launcher.close()


class LinkCounter:
    """How many pages link to each, counted beside the reader where there are many. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._counts: NDArray[np.int64] = np.zeros(1, np.int64)
        self._pages = 0
        self._counting = False

    def counts(self, pages: int) -> NDArray[np.int64]:
        """The counts of now, or of a little earlier; zeros before they are known."""
        with self._lock:
            due = not self._counting and pages > 1.1 * self._pages
            self._counting = self._counting or due
        if due and pages <= _FEW:
            self._count(pages)
        elif due:
            threading.Thread(target=self._count, args=(pages,), daemon=True).start()
        return self._counts

    def _count(self, pages: int) -> None:
        try:
            with Collection.open(self._folder) as collection:
                self._counts, self._pages = link_counts(collection.state), pages
        except HoneyguideError:
            """The queue does without; it is tried again."""
        finally:
            self._counting = False
