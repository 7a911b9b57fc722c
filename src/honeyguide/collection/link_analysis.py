"""Hubs and authorities of a collection."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.collection.hits import hits
from honeyguide.model import Outcome
from honeyguide.store.state import State


class RankedPage(msgspec.Struct, frozen=True):
    """A page and its place in a ranking."""

    row: int
    url: str
    title: str
    weight: float
    """Hub or authority score, the largest of the collection being one."""
    links: int
    """Links out to (of hubs) or in from (of authorities) other known pages."""
    score: float | None
    """Relevance; None where the page was not fetched."""
    on_topic: bool


class LinkAnalysis(msgspec.Struct, frozen=True):
    """The best hubs and authorities."""

    hubs: tuple[RankedPage, ...]
    authorities: tuple[RankedPage, ...]
    nodes: int
    """Addresses with a link that counts."""
    links: int
    rounds: int
    pages: int = 0
    """Pages the collection had when this was computed."""


def analyse_links(
    state: State, *, limit: int = 1_000, relevant: bool = True, within_hosts: bool = False
) -> LinkAnalysis:
    """Rank the pages of a collection by HITS.

    Args:
        state: Of the collection.
        limit: Length of each ranking.
        relevant: Only links from pages on topic count, whatever they lead to: the base set of a topic, and
            the authorities may be pages that were never fetched. Else links of all fetched pages count.
        within_hosts: Count links within a host too, each at full weight (plain HITS).
    """
    sources, targets = state.links()
    rows, on_topic, scores = state.verdicts()
    columns = state.columns()
    size = columns.size + 1
    known = (sources < size) & (targets > 0) & (targets < size)
    if relevant:
        base = np.zeros(size, np.bool_)
        base[rows[on_topic & (rows < size)]] = True
        known &= base[np.where(sources < size, sources, 0)]
    sources, targets = sources[known], targets[known]
    # Only nodes with a link take part; the frontier is ten times as large.
    nodes, inverse = np.unique(np.concatenate((sources, targets)), return_inverse=True)
    left, right = inverse[: len(sources)].astype(np.int32), inverse[len(sources) :].astype(np.int32)
    hosts = None if within_hosts else _hosts_of(state, nodes, columns.hosts)
    found = hits(left, right, len(nodes), hosts=hosts)
    distinct = np.unique(left.astype(np.int64) * max(1, len(nodes)) + right)
    left, right = distinct // max(1, len(nodes)), distinct % max(1, len(nodes))
    outward, inward = np.bincount(left, minlength=len(nodes)), np.bincount(right, minlength=len(nodes))
    counting = np.ones(len(left), np.bool_) if hosts is None else hosts[left] != hosts[right]
    verdicts = {
        row: (bool(yes), float(score)) for row, yes, score in zip(rows, on_topic, scores, strict=True)
    }
    shown = _Shown(state, nodes, columns.status, verdicts)
    return LinkAnalysis(
        hubs=shown.best(found.hubs, outward, limit),
        authorities=shown.best(found.authorities, inward, limit),
        nodes=len(np.unique(np.concatenate((left[counting], right[counting])))),
        links=int(counting.sum()),
        rounds=found.rounds,
        pages=len(rows),
    )


def _hosts_of(state: State, nodes: NDArray[np.int32], hosts: NDArray[np.int32]) -> NDArray[np.int32]:
    """The host of each node, as a number.

    Addresses that were dropped at once (nofollow, out of scope) have none in the columns: it is read from the
    address, else a page's own navigation would count as links to strangers.
    """
    found = hosts[nodes].astype(np.int32)
    lost = np.flatnonzero(found == 0)
    if not len(lost):
        return found
    numbers = {host.name: host.row for host, _ in state.hosts()}
    free = max(int(found.max(initial=0)), *numbers.values(), 0) + 1
    for place in lost.tolist():
        name = "".join(state.url_text(int(nodes[place])).split("/", 3)[2:3])
        if name not in numbers:
            numbers[name], free = free, free + 1
        found[place] = numbers[name]
    return found


class _Shown:
    """Turns node numbers into pages."""

    def __init__(
        self,
        state: State,
        nodes: NDArray[np.int32],
        status: NDArray[np.uint8],
        verdicts: dict[int, tuple[bool, float]],
    ) -> None:
        self._state = state
        self._nodes = nodes
        self._status = status
        self._verdicts = verdicts

    def best(
        self, weights: NDArray[np.float64], links: NDArray[np.int64], limit: int
    ) -> tuple[RankedPage, ...]:
        """The pages with the largest weights; those that asked not to be indexed are left out."""
        order = np.lexsort((self._nodes, -weights))
        shown: list[RankedPage] = []
        for place in order.tolist():
            if len(shown) == limit or weights[place] < 1e-12:
                break
            row = int(self._nodes[place])
            if self._status[row] == Outcome.NOINDEX:
                continue
            on_topic, score = self._verdicts.get(row, (False, None))
            page = self._state.page_by_row(row) if score is not None else None
            shown.append(
                RankedPage(
                    row=row,
                    url=page.url if page else self._state.url_text(row),
                    title=page.title if page else "",
                    weight=float(weights[place] / weights[order[0]]),
                    links=int(links[place]),
                    score=score,
                    on_topic=on_topic,
                )
            )
        return tuple(shown)
