"""What the state knows of every page that may be visited again, as arrays for the policies of `revisit/`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.model import Outcome, Seen
from honeyguide.revisit import Known
from honeyguide.revisit.change_rate import host_rates, irregular
from honeyguide.revisit.hubs import news_rates
from honeyguide.store.checked import reading
from honeyguide.store.history import Lives
from honeyguide.store.state import State

GONE_WEIGHT: Final = 0.1
"""What it is worth to see that a page that is gone is back, beside one that is there."""
LISTING_WEIGHT: Final = 0.02
"""What a sitemap or feed is worth that has brought nothing yet: its dates help to choose pages."""

Rates: TypeAlias = Callable[[Sequence[str]], NDArray[np.float64]]
"""Changes a second of pages by their addresses, where somebody knows them (the lab)."""


class Prospects(msgspec.Struct, frozen=True):
    """The pages that may be visited again, one place each."""

    rows: NDArray[np.int64]
    last: NDArray[np.float64]
    """When each was visited last with an answer; 0 for a sitemap of an older collection."""
    tried: NDArray[np.float64]
    """When it was asked for last, also in vain."""
    told: NDArray[np.bool_]
    """Whether its site says that it has changed since."""
    known: Known


def prospects(state: State, *, everything: bool = False, rates: Rates | None = None) -> Prospects:
    """Pages on topic, pages on which those were found, sitemaps and feeds.

    Args:
        state: Of the crawl, with everything flushed.
        everything: Other pages, too.
        rates: Change rates that are known, instead of learned ones.
    """
    rows, at, on_topic, score = _pages(state)
    lives = state.history.lives()
    parents, children = _found_on(state)
    columns = state.columns()
    status = columns.status
    held = np.isin(status[rows], (Outcome.FETCHED, Outcome.GONE))
    held &= on_topic | np.isin(rows, parents) | everything
    listings = np.flatnonzero(status[: columns.size + 1] == Outcome.LISTING)
    weight = np.where(on_topic, score, 0.0) * np.where(status[rows] == Outcome.GONE, GONE_WEIGHT, 1.0)
    all_rows = np.concatenate([rows[held], listings])
    last = np.concatenate([at[held], np.zeros(len(listings))])
    weight = np.concatenate([weight[held], np.full(len(listings), LISTING_WEIGHT)])
    place = _places(all_rows, lives.rows)
    np.maximum.at(last, place[place >= 0], lives.at[place >= 0])
    if rates is not None:
        rate = rates([state.url_text(row) for row in all_rows.tolist()])
    else:
        rate = _learned(lives, place, columns.hosts[all_rows].astype(np.int64), len(all_rows))
    news = _news(lives, place, _places(all_rows, parents), children, len(all_rows))
    return Prospects(
        all_rows,
        last,
        np.maximum(last, _by_row(state.history.tried_last(), all_rows)),
        _by_row(state.history.hints(), all_rows) > last,
        Known(weight, rate, news),
    )


def _pages(
    state: State,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    found = state.connection.execute("SELECT row, at, on_topic, score FROM page ORDER BY number").fetchall()
    size = len(found)
    with reading("pages"):
        return (
            np.fromiter((one[0] for one in found), np.int64, size),
            np.fromiter((one[1] for one in found), np.float64, size),
            np.fromiter((one[2] != 0 for one in found), np.bool_, size),
            np.fromiter((one[3] for one in found), np.float64, size),
        )


def _found_on(state: State) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of pages on topic, and of the pages on which they were found, in pairs."""
    pairs = state.connection.execute(
        "SELECT url.parent, url.row FROM page JOIN url ON url.row = page.row"
        " WHERE page.on_topic = 1 AND url.parent > 0"
    ).fetchall()
    with reading("pages"):
        return (
            np.fromiter((one[0] for one in pairs), np.int64, len(pairs)),
            np.fromiter((one[1] for one in pairs), np.int64, len(pairs)),
        )


def _places(rows: NDArray[np.int64], wanted: NDArray[np.integer]) -> NDArray[np.int64]:
    """Where in `rows` each of `wanted` is; -1 for nowhere."""
    if not len(rows):
        return np.full(len(wanted), -1, np.int64)
    order = np.argsort(rows, kind="stable")
    found = order[np.minimum(np.searchsorted(rows, wanted, sorter=order), len(rows) - 1)]
    return np.where(rows[found] == wanted, found, -1).astype(np.int64)


def _by_row(values: dict[int, float], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.fromiter((values.get(row, 0.0) for row in rows.tolist()), np.float64, len(rows))


def _learned(
    lives: Lives, place: NDArray[np.int64], hosts: NDArray[np.int64], size: int
) -> NDArray[np.float64]:
    """Changes a second of each page, from its visits and those of its host."""
    later = np.zeros(len(place), np.bool_)
    later[1:] = (lives.rows[1:] == lives.rows[:-1]) & (place[1:] >= 0)
    which = np.flatnonzero(later)
    gaps = lives.at[which] - lives.at[which - 1]
    now, before = lives.what[which], lives.what[which - 1]
    changed = np.isin(now, (Seen.CHANGED, Seen.BACK)) | ((now == Seen.GONE) & (before != Seen.GONE))
    whole = gaps > 0
    gaps, changed, owner = gaps[whole], changed[whole], place[which][whole]
    names, host = np.unique(hosts, return_inverse=True)
    prior = host_rates(gaps, changed, host[owner], len(names))[host]
    return irregular(gaps, changed, owner, prior) if size else np.zeros(0)


def _news(
    lives: Lives,
    place: NDArray[np.int64],
    parent: NDArray[np.int64],
    children: NDArray[np.int64],
    size: int,
) -> NDArray[np.float64]:
    """New pages on topic a second that each page brings: those with rows above what was known before."""
    known = np.full(size, np.iinfo(np.int64).max)
    first, newest = np.full(size, np.inf), np.zeros(size)
    mine = place >= 0
    np.minimum.at(known, place[mine], lives.known[mine])
    np.minimum.at(first, place[mine], lives.at[mine])
    np.maximum.at(newest, place[mine], lives.at[mine])
    watched = np.where(np.isfinite(first), newest - first, 0.0)
    ours = parent >= 0
    fresh = ours & (children > known[np.maximum(parent, 0)])
    found = np.bincount(parent[fresh], minlength=size).astype(np.float64)
    hub = np.bincount(parent[ours], minlength=size) > 0
    return news_rates(found, watched, hub)
