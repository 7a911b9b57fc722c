"""What people said about pages: one line a decision in `reviews.jsonl`, only ever added to.

The portal and the command line write it while a crawl in another process runs, so it is not part of the
crawl's own state. A decision is one JSON line, written under a lock and flushed to the disk before `add`
returns; half a line that a crash left behind is cut off by the next writer and ignored by readers. Nothing is
ever taken out: to undo a decision is a decision too.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from honeyguide.errors import CollectionError, HoneyguideError
from honeyguide.store.layout import Layout, is_collection
from honeyguide.store.plain import open_plain, reading

FILE = "reviews.jsonl"
_MOST_BYTES = 256 << 20

Said: TypeAlias = Literal["accept", "reject", "undo"]
Drawn: TypeAlias = Literal["", "random", "chosen"]


class Decision(msgspec.Struct, frozen=True, omit_defaults=True):
    """One decision of a person."""

    number: int
    """1 for the first, 2 for the second, ..."""
    at: float
    said: Said
    url: str = ""
    """The page, by canonical URL; empty for a whole host."""
    host: str = ""
    """Every page of this host, up to the page numbered `upto`."""
    upto: int = 0
    undoes: int = 0
    """Number of the decision that is taken back."""
    drawn: Drawn = ""
    """How the queue came to show the page: by chance, or because it teaches the model most."""
    score: float | None = None
    """What the page model thought of the page at the time."""
    on_topic: bool | None = None
    """Its verdict at the time."""


class Reviews:
    """The decisions that stand: the last one on each page or host that was not taken back.

    Example:
        >>> held = Reviews([
        ...     Decision(1, 0.0, "accept", url="https://a.example/x"),
        ...     Decision(2, 1.0, "reject", host="a.example", upto=10),
        ...     Decision(3, 2.0, "undo", undoes=2),
        ... ])
        >>> held.on("https://a.example/x", "a.example", 5).said, len(held), held.last.number
        ('accept', 1, 1)
    """

    def __init__(self, decisions: Sequence[Decision]) -> None:
        self.written = len(decisions)
        """Number of lines, undone ones and undoings included."""
        undone = {one.undoes for one in decisions if one.said == "undo"}
        self._standing = [one for one in decisions if one.said != "undo" and one.number not in undone]
        self.pages: dict[str, Decision] = {one.url: one for one in self._standing if one.url}
        self.hosts: dict[str, Decision] = {one.host: one for one in self._standing if one.host}

    def __len__(self) -> int:
        """Pages and hosts with a decision."""
        return len(self.pages) + len(self.hosts)

    @property
    def standing(self) -> list[Decision]:
        """All that was not undone, oldest first."""
        return list(self._standing)

    @property
    def last(self) -> Decision | None:
        """The newest decision that stands: the one that undo would take back."""
        return self._standing[-1] if self._standing else None

    def on(self, url: str, host: str, number: int) -> Decision | None:
        """What was said of a page: of itself, or of its host, whichever was said later."""
        own, whole = self.pages.get(url), self.hosts.get(host)
        if whole is None or number > whole.upto:
            return own
        return whole if own is None or whole.number > own.number else own


def read_reviews(folder: Path) -> Reviews:
    """The decisions on a collection; none where nobody has said anything yet.

    Raises:
        CollectionError: The file cannot be read, or a line in it is none of ours.
    """
    path = folder / FILE
    try:
        with reading(path) as file:
            return Reviews(_parsed(path, file.read(_MOST_BYTES)))
    except FileNotFoundError:
        return Reviews([])
    except OSError as error:
        raise CollectionError(f"{path}: {error.strerror}; check its permissions") from error


def add_review(
    folder: Path,
    said: Literal["accept", "reject"],
    *,
    at: float,
    url: str = "",
    host: str = "",
    upto: int = 0,
    drawn: Drawn = "",
    score: float | None = None,
    on_topic: bool | None = None,
) -> Decision:
    """Write down a decision on a page (`url`) or on all pages so far of a host (`host` and `upto`).

    Raises:
        HoneyguideError: Neither or both are given.
        CollectionError: The file cannot be written.
    """
    if bool(url) == bool(host):
        raise HoneyguideError("a decision is on one page or on one host; name one of them")
    with _writing(folder) as (written, write):
        number = len(written) + 1
        decision = Decision(number, at, said, url, host, upto, drawn=drawn, score=score, on_topic=on_topic)
        write(decision)
    return decision


def undo_review(folder: Path, *, at: float, number: int | None = None) -> Decision:
    """Take back a decision, by default the newest that stands; returns the one taken back.

    Raises:
        HoneyguideError: There is nothing to take back.
    """
    with _writing(folder) as (written, write):
        standing = Reviews(written).standing
        wanted = [one for one in standing if number is None or one.number == number]
        if not wanted:
            what = "no decision is left" if number is None else f"there is no decision {number}"
            raise HoneyguideError(f"{what} to undo; see `honeyguide review list --decided`")
        write(Decision(len(written) + 1, at, "undo", undoes=wanted[-1].number))
        return wanted[-1]


class _Writer:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __call__(self, decision: Decision) -> None:
        data = msgspec.json.encode(decision) + b"\n"
        while data:
            data = data[os.write(self._descriptor, data) :]
        os.fsync(self._descriptor)


@contextmanager
def _writing(folder: Path) -> Iterator[tuple[list[Decision], _Writer]]:
    """One writer at a time; half a line that a crash left is cut off."""
    path = folder / FILE
    if is_collection(folder):
        Layout(folder).require_ours()
    try:
        descriptor = open_plain(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    except OSError as error:
        raise CollectionError(f"{path}: {error.strerror}; check the folder's permissions") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        data = b""
        while chunk := os.read(descriptor, 1 << 20):
            data += chunk
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.ftruncate(descriptor, whole)
        yield _parsed(path, data[:whole]), _Writer(descriptor)
    except OSError as error:
        raise CollectionError(f"{path}: {error.strerror}; free space on the disk") from error
    finally:
        os.close(descriptor)


def _parsed(path: Path, data: bytes) -> list[Decision]:
    decisions: list[Decision] = []
    lines = data[: data.rfind(b"\n") + 1].splitlines()
    decoder = msgspec.json.Decoder(Decision)
    for place, line in enumerate(lines, 1):
        try:
            decision = decoder.decode(line)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise CollectionError(f"{path}, line {place}: {error}; take the line out") from error
        # The line's place is its number, whatever it says: others refer to it by that.
        decisions.append(msgspec.structs.replace(decision, number=place))
    return decisions
