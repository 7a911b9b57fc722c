"""What lists need to know of every page at once, as arrays: filters and sorting without touching the file.

The state has no indexes by host, language, date or score, since each would cost every commit of the crawl.
A reader that stays (the portal) keeps these few values in memory instead, 40 bytes a page, and reads only
what is new when it looks again. A question over 100,000 pages takes a few milliseconds; the texts of those
that are shown are then read by row.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.model import Outcome
from honeyguide.store.checked import reading
from honeyguide.store.state import State

Sort: TypeAlias = Literal["newest", "oldest", "best", "worst"]
SORTS: tuple[Sort, ...] = ("newest", "oldest", "best", "worst")
_BATCH = 20_000
_READ = (
    "SELECT number, row, at, score, on_topic, language, duplicate_of, near_duplicate_of FROM page"
    " WHERE number > ? ORDER BY number LIMIT ?"
)


class Wanted(msgspec.Struct, frozen=True):
    """Which pages to list; a default asks for nothing."""

    on_topic: bool | None = None
    host: str = ""
    """This host, or hosts below it."""
    language: str = ""
    since: float | None = None
    until: float | None = None
    """Fetched before this time."""
    least: float | None = None
    most: float | None = None
    """Highest score."""
    copies: bool = True
    """Also pages that copy an earlier one."""


class Catalogue:
    """Values of all pages, in order of fetching."""

    def __init__(self) -> None:
        self._clear()
        self._heard = -1

    def _clear(self) -> None:
        self.numbers: NDArray[np.int64] = np.zeros(0, np.int64)
        self.rows: NDArray[np.int64] = np.zeros(0, np.int64)
        self.at: NDArray[np.float64] = np.zeros(0)
        self.scores: NDArray[np.float64] = np.zeros(0)
        self.on_topic: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self.languages: NDArray[np.int32] = np.zeros(0, np.int32)
        self.copies: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self.hosts: NDArray[np.int32] = np.zeros(0, np.int32)
        """Row of each page's host."""
        self.shown: NDArray[np.bool_] = np.zeros(0, np.bool_)
        """False for pages that asked not to be searched (`noindex`)."""
        self.host_names: list[str] = [""]
        """Names by host row."""
        self._codes: dict[str, int] = {}

    @property
    def size(self) -> int:
        """Number of pages."""
        return len(self.rows)

    def refresh(self, state: State) -> int:
        """Read what was committed since the last time; how many pages that were.

        A page model that has learned judges earlier pages again, and a page that was visited again may have
        changed: then everything is read again.
        """
        if self._learned(state):
            self._clear()
        before = self.size
        while True:
            after = int(self.numbers[-1]) if self.size else 0
            found = state.connection.execute(_READ, (after, _BATCH)).fetchall()
            if found:
                with reading("pages"):
                    self._append(found, state)
            if len(found) < _BATCH:
                break
        return self.size - before

    def _learned(self, state: State) -> bool:
        """Whether pages were judged again or have changed since the last time; the journal tells."""
        before, ask = self._heard, state.connection.execute
        (self._heard,) = ask("SELECT coalesce(max(number), 0) FROM journal").fetchone()
        if before < 0:
            return False
        judged = (
            "SELECT 1 FROM journal WHERE number > ? AND (kind = 'learned'"
            " OR (kind = 'revisit' AND data NOT LIKE '%\"what\":\"same\"%')) LIMIT 1"
        )
        return ask(judged, (before,)).fetchone() is not None

    def _append(self, found: list[tuple[object, ...]], state: State) -> None:
        numbers, rows, at, scores, on_topic, languages, exact, near = zip(*found, strict=True)
        columns = state.columns()
        fresh = np.asarray(rows, np.int64)
        largest = int(columns.hosts[1 : columns.size + 1].max(initial=0))
        if largest >= len(self.host_names):
            names = dict(state.connection.execute("SELECT row, name FROM host"))
            if largest > len(names) or max(names, default=0) > len(names):
                raise ValueError("hosts are missing")  # and a list up to the largest could be of any length
            self.host_names = [str(names.get(row, "")) for row in range(len(names) + 1)]
        codes = [self._codes.setdefault(str(language), len(self._codes)) for language in languages]
        copies = np.asarray(exact, np.int64) + np.asarray(near, np.int64) > 0
        self.numbers = np.concatenate([self.numbers, np.asarray(numbers, np.int64)])
        self.rows = np.concatenate([self.rows, fresh])
        self.at = np.concatenate([self.at, np.asarray(at, np.float64)])
        self.scores = np.concatenate([self.scores, np.asarray(scores, np.float64)])
        self.on_topic = np.concatenate([self.on_topic, np.asarray(on_topic, np.bool_)])
        self.languages = np.concatenate([self.languages, np.asarray(codes, np.int32)])
        self.copies = np.concatenate([self.copies, copies])
        self.hosts = np.concatenate([self.hosts, columns.hosts[fresh]])
        self.shown = np.concatenate([self.shown, columns.status[fresh] != Outcome.NOINDEX])

    def find(self, wanted: Wanted, *, sort: Sort = "newest") -> NDArray[np.int64]:
        """Rows of the pages that are wanted, in order; `best` has those on topic first."""
        places = np.flatnonzero(self.passes(wanted))
        scores = self.scores[places]
        if sort == "best":
            places = places[np.lexsort((-scores, ~self.on_topic[places]))]
        elif sort == "worst":
            places = places[np.argsort(scores, kind="stable")]
        elif sort == "newest":
            places = places[::-1]
        return self.rows[places]

    def places_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Places of rows in these arrays, in the order given; rows that are not there are left out."""
        if not self.size or not len(rows):
            return np.zeros(0, np.int64)
        order = np.argsort(self.rows, kind="stable")
        found = order[np.minimum(np.searchsorted(self.rows, rows, sorter=order), self.size - 1)]
        return np.asarray(found[self.rows[found] == rows])

    def passes(self, wanted: Wanted) -> NDArray[np.bool_]:
        """Which pages are wanted, by place."""
        keep = self.shown.copy()
        if wanted.on_topic is not None:
            keep &= self.on_topic == wanted.on_topic
        if wanted.host:
            keep &= np.isin(self.hosts, self._host_rows(wanted.host))
        if wanted.language:
            keep &= self.languages == self._codes.get(wanted.language, -1)
        if wanted.since is not None:
            keep &= self.at >= wanted.since
        if wanted.until is not None:
            keep &= self.at < wanted.until
        if wanted.least is not None:
            keep &= self.scores >= wanted.least
        if wanted.most is not None:
            keep &= self.scores <= wanted.most
        if not wanted.copies:
            keep &= ~self.copies
        return keep

    def _host_rows(self, name: str) -> list[int]:
        name = name.lower()
        below = f".{name}"
        return [
            row
            for row, host in enumerate(self.host_names)
            # Hosts carry their port unless it is the usual one.
            if host == name or host.endswith(below) or host.partition(":")[0] == name
        ]

    @property
    def language_names(self) -> list[str]:
        """Languages by their number in `languages`."""
        return list(self._codes)

    def language_counts(self, *, most: int = 40) -> list[tuple[str, int]]:
        """Languages with their numbers of pages, most frequent first."""
        counts = np.bincount(self.languages, minlength=len(self._codes)).tolist()
        return Counter(dict(zip(self._codes, counts, strict=True))).most_common(most)

    def pages_of_hosts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pages and pages on topic by host row."""
        size = len(self.host_names)
        return np.bincount(self.hosts, minlength=size), np.bincount(self.hosts[self.on_topic], minlength=size)

    def host_counts(self, *, most: int = 40, on_topic: bool = True) -> list[tuple[str, int]]:
        """Hosts with their numbers of pages (on topic), most first."""
        chosen = self.hosts[self.on_topic & self.shown] if on_topic else self.hosts[self.shown]
        counts = np.bincount(chosen, minlength=len(self.host_names))
        best = np.argsort(-counts, kind="stable")[:most]
        return [(self.host_names[row], int(counts[row])) for row in best if counts[row]]
