"""Makes things durable in the right order: archive first, then the state, then the index."""

from __future__ import annotations

from contextlib import ExitStack
from math import inf

import msgspec

from honeyguide.engine.budget import Tally
from honeyguide.engine.neighbours import Neighbours
from honeyguide.engine.visit import Visit
from honeyguide.failpoint import failpoint
from honeyguide.frontier import Frontier
from honeyguide.model import Event
from honeyguide.store.archive import ArchiveWriter
from honeyguide.store.index import FullText
from honeyguide.store.state import State

INDEX_CHANGES = 64
INDEX_SECONDS = 1.0
"""While pages come in, so many changes of the index, or those of so long, are one transaction: each leaves a
segment to be merged later, and with few pages in each a page takes twice the time."""


class Stores(msgspec.Struct, frozen=True):
    """Where a crawl keeps things. Archive and index are optional (the lab needs neither)."""

    state: State
    archive: ArchiveWriter | None = None
    index: FullText | None = None

    def close(self, *, keep_state: bool = False) -> None:
        """Close all of them, even if a full disk makes one fail; a state in memory may be kept open."""
        with ExitStack() as closing:
            if not keep_state:
                closing.callback(self.state.close)
            if self.index is not None:
                closing.callback(self.index.close)
            if self.archive is not None:
                closing.callback(self.archive.close)


class Committer:
    """Groups changes into transactions and holds events back until they are committed."""

    def __init__(
        self,
        stores: Stores,
        frontier: Frontier,
        tally: Tally,
        *,
        pages: int = 64,
        seconds: float = 1.0,
        neighbours: Neighbours | None = None,
    ) -> None:
        self._neighbours = neighbours
        self._stores = stores
        self._frontier = frontier
        self._tally = tally
        self._pages = pages
        self._seconds = seconds
        self._held: list[Event] = []
        self._ready: list[Event] = []
        self._last_pages = tally.pages + tally.revisits
        self._last_time = 0.0
        self._hurried = self._entered = False
        self._indexed = -inf

    def add(self, events: list[Event]) -> None:
        """Hold events that the open transaction contains."""
        self._held.extend(events)

    def event(self, kind: str, url: str, data: dict[str, object], at: float) -> None:
        """Journal something and hold its event."""
        self._held.append(self._stores.state.append_event(kind, url, data, at=at))

    def setting(self, key: str, value: object) -> None:
        """Keep something for readers of the state, with the next commit."""
        self._stores.state.put_setting(key, msgspec.to_builtins(value))

    def keep(self, visit: Visit) -> None:
        """Keep what a visit brought that ends no URL: robots.txt, answers to be asked again."""
        keep_robots(self._stores.state, visit)
        if self._stores.archive is not None:
            for exchange in visit.exchanges:
                self._stores.archive.write_exchange(exchange)

    @property
    def holds(self) -> bool:
        """Whether events wait for their transaction, or what was indexed."""
        index = self._stores.index
        return bool(self._held) or (index is not None and index.changes > 0)

    def hurry(self) -> None:
        """Commit soon: something was said that must not be forgotten by a crash."""
        self._hurried = True

    def entered(self) -> None:
        """Something came in from outside; the next transaction has it, and its sender is told then."""
        self._entered = True

    @property
    def hurried(self) -> bool:
        """Whether something waits to be committed that is not an event."""
        return self._hurried or self._entered

    def due(self, now: float) -> bool:
        """Whether enough has gathered, or waited long enough, for a transaction."""
        if self._hurried:
            return True
        taken = self._tally.pages + self._tally.revisits - self._last_pages
        return taken >= self._pages or now - self._last_time >= self._seconds

    def commit(self, now: float, *, going_on: bool = False) -> None:
        """Flush the archive, commit the state with the archive's end, then the index.

        Args:
            now: On the crawl's clock.
            going_on: Whether more is to come, so that the index may wait for it.
        """
        state = self._stores.state
        self._frontier.flush()
        failpoint("commit.frontier")
        if self._stores.archive is not None:
            end = self._stores.archive.flush()
            state.put_setting("archive_end", [end.file, end.offset])
        state.put_setting("tally", msgspec.to_builtins(self._tally))
        state.put_setting("clock", now)
        if self._neighbours is not None:
            self._neighbours.write(state)
        failpoint("commit.flushed")
        state.commit()
        failpoint("commit.state")
        if self._neighbours is not None:
            self._neighbours.committed()
        index = self._stores.index
        late = index is not None and (index.changes >= INDEX_CHANGES or now - self._indexed >= INDEX_SECONDS)
        if index is not None and (late or not going_on):
            index.commit(later=going_on)
            self._indexed = now
        failpoint("commit.done")
        self._ready.extend(self._held)
        self._held.clear()
        self._last_pages = self._tally.pages + self._tally.revisits
        self._last_time = now
        self._hurried = self._entered = False

    def fresh(self) -> list[Event]:
        """Events committed since the last call."""
        ready, self._ready = self._ready, []
        return ready


def keep_robots(state: State, visit: Visit) -> None:
    """Keep a robots.txt that a visit read: a resumed crawl must not ask for it again, nor be late by it."""
    if visit.robots_origin:
        state.put_robots(visit.robots_origin, visit.status, visit.robots_body, visit.exchanges[-1].at)
