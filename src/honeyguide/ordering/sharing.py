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

    def of_page(self, page: Page) -> dict[str, float]:
        """What it knows of a page of its own that others need to rank the page's links."""
        ...

    def away(self, urls: Sequence[UrlId]) -> None:
        """These targets of the page that was just ranked wait in other shards."""
        ...

    def meet(self, page: Page, verdict: Verdict, told: Mapping[str, float]) -> None:
        """A page that another shard fetched, before its links are ranked here.

        Args:
            page: Its address.
            verdict: On it, in the other shard.
            told: What `of_page` said there.
        """
        ...


def sparse(title: str, table: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """A table as the arrays that travel."""
    at = np.flatnonzero(table.reshape(len(table), -1).any(axis=1)).astype(np.int32)
    return {f"at {title}": at, f"sum {title}": table[at]}


def dense(title: str, told: Saved, like: NDArray[Any]) -> NDArray[Any]:
    """A table again; zeros where nothing was told.

    Raises:
        ValueError: It does not fit the table that it is to be like.
    """
    table = np.zeros_like(like)
    at, values = told.arrays.get(f"at {title}"), told.arrays.get(f"sum {title}")
    if at is None or values is None or not len(at):
        return table
    if at.min() < 0 or at.max() >= len(like) or values.shape[1:] != like.shape[1:] or len(at) != len(values):
        raise ValueError(f"what was told of {title!r} does not fit")
    table[at] = values
    return table
