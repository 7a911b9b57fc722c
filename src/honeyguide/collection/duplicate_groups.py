"""Groups of pages that repeat each other, from the marks the crawl left on them (`store.duplicates`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.model import Outcome
from honeyguide.store.state import State


class DuplicateGroup(msgspec.Struct, frozen=True):
    """Pages that say the same: the one fetched first, and its copies in order of fetching."""

    first: int
    """Row of the page that was there first."""
    equal: tuple[int, ...]
    """Rows of pages with the same bytes."""
    near: tuple[int, ...]
    """Rows of pages with nearly the same text."""

    @property
    def size(self) -> int:
        """Number of pages, the first one included."""
        return 1 + len(self.equal) + len(self.near)

    @property
    def rows(self) -> tuple[int, ...]:
        """All of them, the first one first."""
        return (self.first, *self.equal, *self.near)


def duplicate_groups(state: State, *, relevant: bool = True) -> list[DuplicateGroup]:
    """Groups of pages that repeat each other, largest first; `noindex` pages are left out.

    Args:
        state: Of the collection.
        relevant: Only groups with a page on topic.
    """
    parent = {row: (equal or near, not equal) for row, equal, near in state.duplicates()}
    members: dict[int, list[tuple[int, bool]]] = {}
    for row in parent:
        first, is_near = _root(parent, row)
        members.setdefault(first, [(first, False)]).append((row, is_near))
    status = state.columns().status
    rows, on_topic, _ = state.verdicts()
    wanted = set(rows[on_topic].tolist()) if relevant else set(rows.tolist())
    groups = []
    for group in members.values():
        kept = [(row, near) for row, near in group if row < len(status) and status[row] != Outcome.NOINDEX]
        if len(kept) < 2 or not any(row in wanted for row, _ in kept):
            continue
        (first, _), *copies = kept
        equal = tuple(row for row, near in copies if not near)
        groups.append(DuplicateGroup(first, equal, tuple(row for row, near in copies if near)))
    return sorted(groups, key=lambda group: (-group.size, group.first))


def without_copies(state: State, rows: NDArray[np.int32]) -> NDArray[np.int32]:
    """Those rows that repeat none of the others, in their order: the first page of each group stays."""
    held = set(rows.tolist())
    copies = [row for row, equal, near in state.duplicates() if (equal or near) in held]
    return rows[~np.isin(rows, copies)]


class _Found(Protocol):
    @property
    def row(self) -> int: ...


Found = TypeVar("Found", bound=_Found)


def best_of_each(state: State, found: Iterable[Found]) -> Iterator[Found]:
    """Those of the pages found that repeat none found before, whichever was fetched first."""
    parent = {row: (equal or near, not equal) for row, equal, near in state.duplicates()}
    seen: set[int] = set()
    for one in found:
        first, _ = _root(parent, one.row)
        if first not in seen:
            seen.add(first)
            yield one


def _root(parent: dict[int, tuple[int, bool]], row: int) -> tuple[int, bool]:
    """The page a chain of copies goes back to, and whether any step of it was only near."""
    is_near = False
    seen: set[int] = set()
    while row in parent and row not in seen:
        seen.add(row)
        row, near = parent[row]
        is_near |= near
    return row, is_near
