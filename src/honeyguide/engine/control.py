"""Steering a running crawl from another process: one small file in the collection's folder.

The convention. `control.json` holds the requested state, not a list of commands: it is written whole and put
in place by a rename, so a reader sees the old request or the new one. Writers use `ask`, which takes a lock
for the moment of reading and writing; the crawl looks at the file's date four times a second and reads
it only when that has changed, so nothing is spent on a crawl that nobody steers.

- `paused`, `stop` and `budget` are meant for one run of the crawl, named by `session` (the number in the
  table of sessions). A run ignores what was said to an earlier one: a crawl that was stopped yesterday
  can be resumed today.
- `reviews` counts how often a person's decisions were added. It only grows, whatever the session; a
  running crawl that sees it grow takes them in (`engine.retraining`).
- What the crawl made of it is in the state's setting `control` (`Obeyed`): the portal shows that, and not
  the request.

A crawl on a virtual clock (the lab) is not steered: equal seeds must give equal journals.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from honeyguide.engine.budget import Budget
from honeyguide.errors import CollectionError, HoneyguideError
from honeyguide.store.atomic import replacing
from honeyguide.store.plain import open_plain, read_plain

FILE = "control.json"
LOOK_SECONDS = 0.25
_MOST_BYTES = 64 * 1024
OBEYED = "control"
"""Key of the state's setting that tells what a crawl made of its control file."""


class Control(msgspec.Struct, frozen=True):
    """The requested state of a crawl."""

    session: int = 0
    """The run that `paused`, `stop` and `budget` are meant for."""
    paused: bool = False
    stop: bool = False
    budget: dict[str, float | None] = {}
    """Changed limits by the names of `Budget`; None takes a limit away."""
    reviews: int = 0


class Obeyed(msgspec.Struct, frozen=True):
    """What a crawl made of it; kept in the state's setting `control`."""

    session: int
    paused: bool
    budget: Budget


def read(folder: Path) -> Control:
    """The requested state; the default when there is no file, or none that can be read."""
    try:
        return msgspec.json.decode(read_plain(folder / FILE, _MOST_BYTES), type=Control)
    except (OSError, CollectionError, msgspec.MsgspecError, RecursionError):
        return Control()


def ask(
    folder: Path,
    *,
    session: int | None = None,
    paused: bool | None = None,
    stop: bool | None = None,
    budget: Mapping[str, float | None] | None = None,
    reviews: int = 0,
) -> Control:
    """Change the requested state of the crawl in a folder, and leave the rest as it is.

    Args:
        folder: The collection.
        session: The run that is spoken to; None leaves it. Another run than before starts from nothing.
        paused: True lets requests under way finish and sends no others; False goes on.
        stop: True ends the run in order; it can be resumed.
        budget: New limits, see `checked_limits`.
        reviews: How many decisions were added.

    Raises:
        HoneyguideError: a limit makes no sense.
        CollectionError: the folder cannot be written.
    """
    limits = checked_limits(budget or {})
    with _alone(folder):
        held = read(folder)
        if session is not None and session != held.session:
            held = Control(session=session, reviews=held.reviews)
        requested = Control(
            session=held.session,
            paused=held.paused if paused is None else paused,
            stop=held.stop if stop is None else stop,
            budget={**held.budget, **limits},
            reviews=held.reviews + reviews,
        )
        with replacing(folder / FILE) as temporary:
            temporary.write_bytes(msgspec.json.encode(requested) + b"\n")
    return requested


def checked_limits(limits: Mapping[str, float | None]) -> dict[str, float | None]:
    """Limits as `Budget` takes them.

    Raises:
        HoneyguideError: an unknown name, or a number that is not above zero.

    Example:
        >>> checked_limits({"max_pages": 500, "max_seconds": None})
        {'max_pages': 500, 'max_seconds': None}
    """
    for name, value in limits.items():
        if name not in Budget.__struct_fields__:
            known = ", ".join(Budget.__struct_fields__)
            raise HoneyguideError(f"unknown limit {name!r}; choose one of {known}")
        whole = name != "max_seconds"
        # NaN is above nothing.
        if value is not None and not (0 < value < 1e15 and (not whole or value == int(value))):
            kind = "a whole number" if whole else "a number"
            raise HoneyguideError(
                f"{name} must be {kind} above 0, not {value:g}; leave it empty for no limit"
            )
    return {
        name: value if value is None or name == "max_seconds" else int(value)
        for name, value in limits.items()
    }


def with_limits(budget: Budget, limits: Mapping[str, float | None]) -> Budget:
    """A budget with some limits changed; limits that make no sense change nothing."""
    try:
        checked = checked_limits(limits)
    except (HoneyguideError, TypeError, OverflowError):
        return budget
    return msgspec.structs.replace(budget, **checked)


class Steering:
    """Watches the control file for one run of a crawl."""

    def __init__(self, folder: Path, *, session: int) -> None:
        self._folder = folder
        self.session = session
        self._wake: Callable[[], None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._seen: tuple[int, int, int] | None = self._signature()
        held = read(folder)
        # What was asked while the crawl was still being set up.
        self._fresh: Control | None = held if held.session == session else None
        self._reviews = held.reviews
        self._idle = 0.0
        self._since: float | None = None

    @property
    def watching(self) -> bool:
        """Whether the file is being looked at."""
        return self._wake is not None

    def start(self, wake: Callable[[], None]) -> None:
        """Look at the file from now on, and call `wake` when it has changed."""
        self._wake = wake
        self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)

    def end(self) -> None:
        """Look no longer."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._wake = None

    def fresh(self) -> tuple[Control, bool] | None:
        """What is newly requested of this run, and whether there are new reviews. None: nothing new."""
        asked, self._fresh = self._fresh, None
        if asked is None:
            return None
        reviewed = asked.reviews > self._reviews
        self._reviews = max(self._reviews, asked.reviews)
        if asked.session != self.session:
            asked = Control(session=self.session, reviews=asked.reviews)
        return asked, reviewed

    def pause(self, now: float, *, paused: bool) -> None:
        """Note since when the crawl rests."""
        self._idle = self.idle(now)
        self._since = now if paused else None

    def idle(self, now: float) -> float:
        """Seconds this run has rested: they count against no budget."""
        return self._idle + (now - self._since if self._since is not None else 0.0)

    def _signature(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._folder / FILE)  # noqa: PTH116 - a Path's own stat costs twice as much
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ino, found.st_size

    def _look(self) -> None:
        if self._wake is None:
            return
        self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)
        signature = self._signature()
        if signature is not None and signature != self._seen:
            self._seen = signature
            self._fresh = read(self._folder)
            self._wake()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One writer of the control file at a time."""
    try:
        descriptor = open_plain(folder / f"{FILE}.lock", os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise CollectionError(f"{folder}: {error.strerror}; check the folder's permissions") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
