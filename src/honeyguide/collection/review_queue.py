"""Which pages to show a person next: those that teach the model most.

A word helps where the page model is unsure, on a host of which nothing was said yet, and on a page that
many others link to (what is said of it counts for much). One in four is drawn by chance from the pages that
the model calls on topic, whatever their score: these make the precision estimate honest. Copies of other
pages, and pages that were reviewed, are not asked about.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection as Some
from collections.abc import Mapping
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.store.reviews import Drawn

RANDOM_EVERY: Final = 4
"""One in so many is drawn by chance."""
HOST_WEIGHT: Final = 0.6
LINKS_WEIGHT: Final = 0.4
LEAST_SPREAD: Final = 0.05


class Candidates(msgspec.Struct, frozen=True):
    """Pages that might be shown, by place in all arrays."""

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]
    on_topic: NDArray[np.bool_]
    hosts: NDArray[np.int32]
    """Row of each page's host."""
    in_links: NDArray[np.int64]
    """Pages of the collection that link to each."""
    copies: NDArray[np.bool_]


class Queued(msgspec.Struct, frozen=True):
    """A page to show, and why."""

    row: int
    drawn: Drawn
    reason: str


def threshold_of(scores: NDArray[np.float64], on_topic: NDArray[np.bool_]) -> float:
    """Where the page model draws the line, seen from its verdicts; 0.5 while they are of one kind only.

    Example:
        >>> round(threshold_of(np.array([0.1, 0.4, 0.6]), np.array([False, False, True])), 2)
        0.5
    """
    if on_topic.all() or not on_topic.any():
        return 0.5
    # Models that learn move their line: the middle between the bulk of both sides.
    return float(np.quantile(scores[on_topic], 0.02) + np.quantile(scores[~on_topic], 0.98)) / 2.0


def review_queue(
    pages: Candidates,
    *,
    reviewed: Some[int] = (),
    host_reviews: Mapping[int, int] | None = None,
    limit: int = 20,
    seed: int = 0,
) -> list[Queued]:
    """The pages to show, in order.

    Args:
        pages: All pages of the collection.
        reviewed: Rows of pages with a decision.
        host_reviews: Number of decisions by host row.
        limit: Pages at most.
        seed: For the pages drawn by chance; a caller that shows one page at a time passes the number of
            decisions so far, and so gets another draw each time.
    """
    done = np.fromiter(reviewed, np.int64, len(reviewed))
    open_ = np.flatnonzero(~np.isin(pages.rows, done) & ~pages.copies)
    random = np.random.default_rng(seed)
    line = threshold_of(pages.scores, pages.on_topic) if len(pages.rows) else 0.5
    spread = max(LEAST_SPREAD, float(pages.scores.std())) if len(pages.rows) else 1.0
    unsure = np.exp(-np.abs(pages.scores - line) / spread)
    linked = np.log1p(pages.in_links) / max(1.0, math.log1p(float(pages.in_links.max(initial=0))))
    asked = Counter(dict(host_reviews or {}))
    likely = open_[pages.on_topic[open_]]
    chance = likely[random.permutation(len(likely))].tolist()
    value = unsure + LINKS_WEIGHT * linked
    best = open_[np.argsort(-value[open_], kind="stable")]
    hosts: list[int] = np.unique(pages.hosts[open_]).tolist()
    queue: list[Queued] = []
    taken: set[int] = set()
    while len(queue) < min(limit, len(open_)):
        by_chance = (len(queue) + seed) % RANDOM_EVERY == RANDOM_EVERY - 1
        while by_chance and chance and chance[-1] in taken:
            chance.pop()
        if by_chance and chance:
            place, drawn, reason = (
                int(chance.pop()),
                "random",
                "drawn by chance, to measure how many verdicts are right",
            )
        else:
            # No page gains more by its host than those of the host that was asked about least.
            most = HOST_WEIGHT / (1 + min(asked[host] for host in hosts))
            place = _best(best, value, pages.hosts, asked=asked, taken=taken, most_gain=most)
            drawn, reason = "chosen", _reason(place, pages, unsure, linked=linked, asked=asked)
        taken.add(place)
        asked[int(pages.hosts[place])] += 1
        queue.append(Queued(int(pages.rows[place]), drawn, reason))  # type: ignore[arg-type]
    return queue


def _best(
    order: NDArray[np.intp],
    value: NDArray[np.float64],
    hosts: NDArray[np.int32],
    *,
    asked: Mapping[int, int],
    taken: set[int],
    most_gain: float,
) -> int:
    """The page of most use, given how often each host was asked about."""
    found, most = -1, -1.0
    for place in order.tolist():
        if place in taken:
            continue
        if value[place] + most_gain <= most:
            break  # those that follow are worth less, even on a new host
        worth = float(value[place]) + HOST_WEIGHT / (1 + asked.get(int(hosts[place]), 0))
        if worth > most:
            found, most = place, worth
    return int(found)


def _reason(
    place: int,
    pages: Candidates,
    unsure: NDArray[np.float64],
    *,
    linked: NDArray[np.float64],
    asked: Mapping[int, int],
) -> str:
    said = []
    if unsure[place] > 0.6:
        said.append("close to the line")
    if not asked.get(int(pages.hosts[place]), 0):
        said.append("nothing was said of its host yet")
    if linked[place] > 0.5 and pages.in_links[place] > 2:
        said.append(f"{int(pages.in_links[place])} pages link to it")
    return ", ".join(said) or "next in line"
