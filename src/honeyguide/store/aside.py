"""Work that is done in turn by a thread of its own, while the caller goes on.

For SQLite and compressors, which let go of Python's lock while they work: another core can do that.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Final, TypeAlias

MOST_WAITING: Final = 64
"""Pieces of work that may wait, unless another number is given."""

Work: TypeAlias = Callable[[], object]


class Aside:
    """Does what it is given, one after the other.

    What goes wrong is raised by all later calls, and nothing more is done: it may need what failed.

    Args:
        name: Of its thread, which begins with the first piece of work.
        most: Pieces of work that may wait; whoever brings another waits for all of them first.

    Example:
        >>> done: list[int] = []
        >>> aside = Aside("sums")
        >>> aside.do(lambda: done.append(1))
        >>> aside.settle()
        >>> done
        [1]
        >>> aside.close()
    """

    def __init__(self, name: str, *, most: int = MOST_WAITING) -> None:
        self._name = name
        self._most = most
        self._queue: SimpleQueue[Work | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._given = self._done = 0
        self._progress = threading.Condition()
        self._problem: BaseException | None = None

    def do(self, work: Work) -> None:
        """Have something done after all that was given before."""
        if self._given - self._done >= self._most:
            self.settle()
        self._check()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        self._given += 1
        self._queue.put(work)

    def settle(self) -> None:
        """Wait until all is done; work that is being done itself does not wait."""
        if self._thread is threading.current_thread():
            return
        if self._given != self._done:
            with self._progress:
                self._progress.wait_for(lambda: self._given == self._done)
        self._check()

    def close(self) -> None:
        """Wait until all is done, and end the thread; of what went wrong nothing is said."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None

    def _check(self) -> None:
        if self._problem is not None:
            raise self._problem

    def _run(self) -> None:
        while (work := self._queue.get()) is not None:
            if self._problem is None:
                try:
                    work()
                except BaseException as error:
                    self._problem = error
            with self._progress:
                self._done += 1
                self._progress.notify_all()
