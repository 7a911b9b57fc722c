"""Orders whose learning can be merged with that of other shards, and the form it travels in.

Tables are mostly empty, so of each only the entries that hold something travel. `cluster.learning` adds them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from honeyguide.model import Page, UrlId, Verdict
from honeyguide.store.models import Saved


@runtime_checkable
class SharingOrder(Protocol):
    """An order whose learning can be merged with that of the same order in other shards."""

    def shared(self) -> Saved:
        """What it learned by itself."""
        ...

    def join(self, others: Saved) -> None:
        """Take what all others learned, in place of what was taken before."""
        ...

    def spread(self) -> Saved:
        """How what waits here scores, by what all have learned; asked after `join`."""
        ...

    def agree(self, others: Saved) -> None:
        """Weigh anew, by how what waits in all others scores; all shards hear it together."""
        ...

    def of_page(self, page: Page) -> dict[str, float]:
        """What it knows of a page of its own that others need to rank the page's links."""
        ...

    def of_link(self, url: UrlId) -> str:
        """What it knows of a link of that page that others cannot work out without the rest of the page."""
        ...

    def away(self, urls: Sequence[UrlId]) -> None:
        """These targets of the page that was just ranked wait in other shards."""
        ...

    def meet(
        self, page: Page, verdict: Verdict, told: Mapping[str, float], links: Mapping[UrlId, str]
    ) -> None:
        """A page that another shard fetched, before its links are ranked here.

        Args:
            page: Its address.
            verdict: On it, in the other shard.
            told: What `of_page` said there.
            links: What `of_link` said there, by target.
        """
        ...


def sparse(
    title: str, table: NDArray[Any], told: Saved | None = None, least: float = 0.0
) -> dict[str, NDArray[Any]]:
    """A table as the arrays that travel, without what others told of it.

    Only entries that hold something are looked at: tables are large, and shards tell each other often.

    Args:
        title: Of the table.
        table: What is known by now.
        told: What others told, which is in it.
        least: Differences below this are what rounding leaves, and no news.
    """
    at = _held(table)
    own = table[at]
    if told is not None and f"at {title}" in told.arrays:
        place = np.searchsorted(at, told.arrays[f"at {title}"])
        known = np.flatnonzero(place < len(at))
        known = known[at[place[known]] == told.arrays[f"at {title}"][known]]
        own[place[known]] -= told.arrays[f"sum {title}"][known]
    if least:
        own[np.abs(own) < least] = 0.0
        some = _held(own)
        at, own = at[some], own[some]
    return {f"at {title}": at.astype(np.int32), f"sum {title}": own}


def _held(table: NDArray[Any]) -> NDArray[np.int64]:
    """Entries that hold something."""
    columns = np.atleast_2d(table.T)  # one after the other: much faster than any() over rows
    some = columns[0] != 0.0
    for column in columns[1:]:
        some |= column != 0.0
    return np.flatnonzero(some)


def checked(title: str, told: Saved, like: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Entries and sums that were told of a table; none where nothing was.

    Raises:
        ValueError: They do not fit the table.
    """
    at, values = told.arrays.get(f"at {title}"), told.arrays.get(f"sum {title}")
    if at is None or values is None or not len(at):
        return np.zeros(0, np.int32), like[:0]
    if at.min() < 0 or at.max() >= len(like) or values.shape[1:] != like.shape[1:] or len(at) != len(values):
        raise ValueError(f"what was told of {title!r} does not fit")
    return at, values


def change(title: str, table: NDArray[Any], before: Saved, now: Saved) -> None:
    """Put what others tell now in the place of what they told before."""
    was, old = checked(title, before, table)
    at, new = checked(title, now, table)
    both = np.union1d(was, at)
    difference = np.zeros((len(both), *table.shape[1:]), table.dtype)
    difference[np.searchsorted(both, at)] = new
    difference[np.searchsorted(both, was)] -= old
    table[both] += difference
