"""One look at the collection for all who watch it: shared figures, and the stream of them.

However many readers the live view has, the collection is read once a tick, and one message is made of
it; a reader costs one write to its socket. Nobody watching, nobody looks. Looking takes at most a fiftieth of
a processor: on a large frontier the ticks come less often.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray
from starlette.concurrency import run_in_threadpool

from honeyguide.collection.catalogue import Catalogue
from honeyguide.collection.collection import BROKEN_OFF
from honeyguide.collection.estimate import Estimate, estimate_of
from honeyguide.collection.merging import bring_up_to_date
from honeyguide.collection.overview import POINTS, Overview, look
from honeyguide.collection.report import breadth_first
from honeyguide.engine.budget import Budget
from honeyguide.engine.control import OBEYED, Obeyed, with_limits
from honeyguide.engine.control import read as read_control
from honeyguide.errors import CollectionError, HoneyguideError
from honeyguide.model import Outcome
from honeyguide.store.layout import Layout
from honeyguide.store.lock import holder
from honeyguide.store.shards import is_sharded
from honeyguide.store.state import State

TICK_SECONDS = 1.0
REST_FACTOR = 50.0
"""Rest this many times as long as a look took."""
FOLLOW_FACTOR = 10.0
"""Merging shards takes at most a tenth of the time."""
HEARTBEAT_SECONDS = 15.0
MOST_READERS = 500
GROWN = 1.25
"""The breadth-first curve is worked out again when the crawl has grown so much."""


class Standing(msgspec.Struct, frozen=True):
    """Whether the crawl runs, and under which limits."""

    running: bool = False
    paused: bool = False
    process: int = 0
    session: int = 0
    sessions: int = 0
    started: float = 0.0
    reason: str = ""
    """Why the last run ended."""
    budget: Budget | None = None
    """Limits as the crawl last said; None when it never did."""


class Figures(msgspec.Struct, frozen=True):
    """What a tick of the live view carries."""

    at: float
    standing: Standing
    overview: Overview
    estimate: Estimate | None = None
    """How much of the topic is found; None while the crawl is too young to tell."""
    breadth_first: list[tuple[int, float]] = []
    """Pages, and pages on topic that a breadth-first crawl would probably have found with so many."""


class BreadthFirst:
    """What breadth-first would have given, worked out beside the readers whenever the crawl has grown."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._pages = 0
        self._busy = False
        self._curve: list[tuple[int, float]] = []

    def curve(self, pages: int) -> list[tuple[int, float]]:
        """The curve of now, or of a little earlier; empty before it is known."""
        with self._lock:
            due = not self._busy and pages > GROWN * self._pages
            self._busy = self._busy or due
        if due:
            threading.Thread(target=self._work_out, daemon=True, name="breadth-first").start()
        return self._curve

    def _work_out(self) -> None:
        try:
            with State.open(Layout(self._folder).state_file, read_only=True) as state:
                catalogue = Catalogue()
                catalogue.refresh(state)
                found = breadth_first(state, catalogue)
            places = np.unique(np.linspace(0, len(found) - 1, min(len(found), POINTS)).astype(np.int64))
            self._curve = [(place + 1, round(float(found[place]), 1)) for place in places.tolist()]
            self._pages = catalogue.size
        except (HoneyguideError, sqlite3.Error):
            """Shown without; it is tried again."""
        finally:
            self._busy = False


class Watch:
    """Figures of one collection, shared by all readers. Thread-safe, but for `stream`."""

    def __init__(self, folder: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._layout = Layout(folder)
        self._clock = clock
        self._lock = threading.RLock()
        self._state: State | None = None
        self._file = 0
        self._follow_at = 0.0
        self._catalogue = Catalogue()
        self._beside = BreadthFirst(folder)
        self._version = -1
        self._latest: Figures | None = None
        self.readers = 0
        self.look_seconds = 0.0
        """How long the last look took."""
        self._message = b""
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._ending = False

    # From any thread

    @property
    def latest(self) -> Figures | None:
        """The newest figures, without looking."""
        return self._latest

    def figures(self, *, newest: bool = False) -> Figures:
        """The figures; looked up again when they are older than a tick.

        Raises:
            CollectionError: There is no collection, or it cannot be read.
        """
        with self._lock:
            held = self._latest
            if held is not None and not newest and self._clock() - held.at < TICK_SECONDS:
                return held
            started = time.perf_counter()
            state = self._open()
            now = self._clock()
            standing = stands(state, self._layout)
            (version,) = state.connection.execute("PRAGMA data_version").fetchone()
            if held is not None and version == self._version and not standing.running:
                beside = self._beside.curve(self._catalogue.size)
                figures = msgspec.structs.replace(held, at=now, standing=standing, breadth_first=beside)
            else:
                held_pages = self._pages(state)
                overview = look(state, held_pages, now=now if standing.running else None)
                estimate = estimate_of(state, rows=held_pages.rows, relevant=held_pages.on_topic)
                figures = Figures(now, standing, overview, estimate, self._beside.curve(held_pages.size))
                self._version = version
            self._latest = figures
            self.look_seconds = time.perf_counter() - started
            return figures

    def catalogue(self) -> tuple[Catalogue, threading.RLock]:
        """Values of all pages, up to date, and the lock to hold while asking it."""
        with self._lock:
            return self._pages(self._open()), self._lock

    def row_of(self, url_id: int) -> int:
        """Row of a URL by its fingerprint; 0 when unknown."""
        with self._lock:
            return self._open().row_of(url_id)

    def addresses(
        self, outcome: Outcome, *, host: str, start: int, most: int
    ) -> tuple[list[int], list[float], int]:
        """Rows and priorities of URLs of one status (waiting ones best first), and how many there are."""
        with self._lock:
            state = self._open()
            columns = state.columns()
            keep = columns.status[1 : columns.size + 1] == outcome
            if host:
                found = state.connection.execute("SELECT row FROM host WHERE name = ?", (host,)).fetchone()
                keep &= columns.hosts[1 : columns.size + 1] == (found[0] if found else -1)
            rows = np.flatnonzero(keep) + 1
            total = len(rows)
            if outcome is Outcome.WAITING:
                rows = _best(rows, columns.priority[rows], start + most)
            shown = rows[start : start + most]
            return shown.tolist(), columns.priority[shown].tolist(), total

    def outcome_counts(self) -> list[tuple[str, int]]:
        """Statuses and numbers of URLs, most frequent first."""
        with self._lock:
            counts = self._open().counts()
        return [(one.name.lower(), count) for one, count in sorted(counts.items(), key=lambda item: -item[1])]

    def standing(self) -> Standing:
        """Whether the crawl runs, right now."""
        with self._lock:
            return stands(self._open(), self._layout)

    def close(self) -> None:
        """Close the reader."""
        with self._lock:
            if self._state is not None:
                self._state.close()
            self._state = None

    def _pages(self, state: State) -> Catalogue:
        """The catalogue, up to date."""
        self._catalogue.refresh(state)
        return self._catalogue

    def follow(self) -> None:
        """Merge what the shards of a collection have committed; seldom enough to leave time for others.

        Raises:
            CollectionError: They cannot be read.
        """
        with self._lock:
            now = time.monotonic()
            if now >= self._follow_at and is_sharded(self._layout.root):
                bring_up_to_date(self._layout.root)
                took = time.monotonic() - now
                self._follow_at = now + max(TICK_SECONDS, FOLLOW_FACTOR * took)

    def _open(self) -> State:
        """The state, reopened when the collection was deleted and made again."""
        self.follow()
        try:
            file = self._layout.state_file.stat().st_ino
        except OSError:
            file = 0
        if self._state is None or file != self._file:
            self.close()
            Layout.open(self._layout.root)
            self._state = State.open(self._layout.state_file, read_only=True)
            self._file, self._catalogue, self._latest = file, Catalogue(), None
        return self._state

    # From the server's loop

    async def stream(self) -> AsyncIterator[bytes]:
        """Server-sent events, the newest figures first; ends when the reader hangs up."""
        if self.readers >= MOST_READERS:
            yield b"event: full\ndata: too many readers; close some windows\n\n"
            return
        self.readers += 1
        try:
            if self._task is None or self._task.done():
                self._task = asyncio.ensure_future(self._tick())
            if self._message:
                yield self._message
            while not self._ending:
                try:
                    async with asyncio.timeout(HEARTBEAT_SECONDS):
                        await self._news.wait()
                except TimeoutError:
                    yield b": still here\n\n"
                    continue
                yield self._message
        finally:
            self.readers -= 1

    def end(self) -> None:
        """Let all readers go: the server is about to end, and they would not hang up by themselves."""
        self._ending = True
        self._news.set()

    async def _tick(self) -> None:
        """Look as long as somebody watches, and tell all of them at once."""
        while self.readers and not self._ending:
            self._message = await run_in_threadpool(self._look)
            news, self._news = self._news, asyncio.Event()
            news.set()
            await asyncio.sleep(max(TICK_SECONDS, REST_FACTOR * self.look_seconds))
        self._message = b""

    def _look(self) -> bytes:
        try:
            figures = self.figures(newest=True)
        except CollectionError as error:
            return b"event: problem\ndata: " + msgspec.json.encode(str(error)) + b"\n\n"
        return b"event: figures\ndata: " + msgspec.json.encode(figures) + b"\n\n"


def _best(rows: NDArray[np.int64], values: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """The rows with the highest values, best first, ties in order: what lies behind is not sorted."""
    if len(rows) > count:
        keep = values >= np.partition(values, len(values) - count)[len(values) - count]
        rows, values = rows[keep], values[keep]
    return rows[np.argsort(-values, kind="stable")][:count]


def stands(state: State, layout: Layout) -> Standing:
    """Whether a crawl runs on a collection: its last run has no end, and its process is alive."""
    sessions = state.sessions()
    if not sessions:
        return Standing()
    last = sessions[-1]
    process = holder(layout.lock_file) if last.stop is None else 0
    budget, paused = None, False
    held = state.setting(OBEYED)
    if held is not None:
        try:
            obeyed = msgspec.convert(held, Obeyed)
        except msgspec.ValidationError:
            pass
        else:
            budget, paused = obeyed.budget, obeyed.paused and obeyed.session == last.number
    if is_sharded(layout.root):  # their coordinator keeps no state of its own
        asked = read_control(layout.root)
        if asked.session == last.number:
            budget, paused = with_limits(budget or Budget(), asked.budget), asked.paused
    ended = BROKEN_OFF if last.stop is None and not process else last.reason
    return Standing(
        running=process > 0,
        paused=paused and process > 0,
        process=process,
        session=last.number,
        sessions=len(sessions),
        started=last.start,
        reason="" if process else ended,
        budget=budget,
    )
