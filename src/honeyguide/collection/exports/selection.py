"""Which pages an export holds, in the order they were fetched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from honeyguide.collection.duplicate_groups import without_copies
from honeyguide.model import Outcome
from honeyguide.store.records import PageRecord
from honeyguide.store.reviews import Reviews
from honeyguide.store.state import State
from honeyguide.web.url import url_id

Progress: TypeAlias = Callable[[int, int], None]
"""Told how many pages are done, and of how many."""

_EVERY = 64
_SAID = {1: "accept", -1: "reject", 0: ""}


def silent(_done: int, _total: int) -> None:
    """A progress that is told to nobody."""


class Selection:
    """The pages to export: those on topic or all, without those that asked not to be indexed.

    Where a person has reviewed a page, their word counts and not the model's. A crawl may go on while an
    export runs; what was not there when it began is left out.

    Args:
        state: Of the collection.
        relevant: Only pages on topic.
        reviews: What people said.
        as_of: As it was at this moment (epoch seconds); None for now.
        language: Only pages in this language, such as `en`; empty for all.
        unique: Leave out pages that repeat, or nearly repeat, another page of the export.
    """

    def __init__(
        self,
        state: State,
        *,
        relevant: bool = True,
        reviews: Reviews | None = None,
        as_of: float | None = None,
        language: str = "",
        unique: bool = False,
    ) -> None:
        self.state = state
        self.as_of = as_of
        status = state.columns().status
        rows, on_topic, _ = state.verdicts()
        known = rows < len(status)  # the others were committed since the columns were read
        rows, on_topic = rows[known], on_topic[known]
        said = _said(state, rows, reviews)
        if as_of is not None:
            then = {page.row: page.on_topic for page in state.pages_as_of(as_of)}
            there = np.isin(rows, list(then))
            rows, said = rows[there], said[there]
            on_topic = np.fromiter((then[row] for row in rows.tolist()), np.bool_, len(rows))
        judged = (said > 0) | (on_topic & (said == 0))
        allowed = status[rows] != Outcome.NOINDEX
        wanted = allowed & judged if relevant else allowed
        self.kept_back = int(np.count_nonzero(~allowed & judged if relevant else ~allowed))
        """Pages that would be here, had they not asked to be left out of indexes."""
        if language:
            wanted &= np.isin(rows, state.rows_in_language(language.lower()))
        self.rows: NDArray[np.int32] = without_copies(state, rows[wanted]) if unique else rows[wanted]
        """Rows of the pages in order of fetching; four bytes a page."""
        self._held = np.zeros(len(status), np.bool_)
        self._held[rows[allowed]] = True
        self._wanted = np.zeros(len(status), np.bool_)
        self._wanted[self.rows] = True
        self._judged = np.zeros(len(status), np.bool_)
        self._judged[rows[judged]] = True
        self._said = np.zeros(len(status), np.int8)
        self._said[rows] = said
        # Skips most of a large collection, unless people accepted pages that the model had not.
        self._only = True if relevant and not (judged & ~on_topic).any() else None

    @property
    def total(self) -> int:
        """Number of pages."""
        return len(self.rows)

    def may_leave(self, row: int) -> bool:
        """Whether the collection holds this page and it did not ask to be left out of indexes."""
        return 0 < row < len(self._held) and bool(self._held[row])

    def is_relevant(self, row: int) -> bool:
        """Whether the page is on topic, by a person's word or else by the model's."""
        return 0 < row < len(self._judged) and bool(self._judged[row])

    def review(self, row: int) -> str:
        """What a person said of the page: `accept`, `reject`, or nothing."""
        return _SAID[int(self._said[row])] if 0 < row < len(self._said) else ""

    def pages(self, progress: Progress = silent) -> Iterator[PageRecord]:
        """The pages themselves, a few hundred at a time in memory."""
        done = 0
        pages = (
            self.state.pages(on_topic=self._only)
            if self.as_of is None
            else self.state.pages_as_of(self.as_of, on_topic=self._only)
        )
        for page in pages:
            if done == self.total:
                break
            if page.row >= len(self._wanted) or not self._wanted[page.row]:
                continue
            yield page
            done += 1
            if done % _EVERY == 0:
                progress(done, self.total)
        progress(self.total, self.total)


def _said(state: State, rows: NDArray[np.int32], reviews: Reviews | None) -> NDArray[np.int8]:
    """1 for pages that people accepted, -1 for those they rejected, 0 for the others."""
    said = np.zeros(len(rows), np.int8)
    if reviews is None or not len(reviews) or not len(rows):
        return said
    columns = state.columns()
    last = np.zeros(len(rows), np.int64)  # number of the decision that counts so far
    hosts = columns.hosts[rows]
    numbers = {host.name: host.row for host, _ in state.hosts()}
    for name, decision in reviews.hosts.items():
        # Pages are numbered from 1 in the order of `rows`.
        places = np.flatnonzero(hosts[: decision.upto] == numbers.get(name, -1))
        said[places] = 1 if decision.said == "accept" else -1
        last[places] = decision.number
    ids = columns.ids[rows]
    order = np.argsort(ids, kind="stable")
    for url, decision in reviews.pages.items():
        wanted = url_id(url)
        place = int(np.searchsorted(ids, wanted, sorter=order))
        if place < len(ids) and ids[order[place]] == wanted and decision.number > last[order[place]]:
            said[order[place]] = 1 if decision.said == "accept" else -1
    return said
