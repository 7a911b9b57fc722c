"""The report on a crawl: what was found against what was fetched, where, and what was left out."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.collection.catalogue import Catalogue
from honeyguide.collection.collection import Collection
from honeyguide.collection.estimate import TOO_EARLY, Estimate, estimate_of
from honeyguide.collection.uncertain import Uncertain, uncertain
from honeyguide.model import Outcome
from honeyguide.store.reviews import read_reviews
from honeyguide.store.state import State
from honeyguide.web import url_id

WINDOW = 200
"""Pages over which relevance is averaged."""
NOTED = 1e3
"""Priorities from here on belong to seeds and suggestions: there is no score behind them."""
BINS = 12
NOT_LEFT_OUT = frozenset(
    {Outcome.FETCHED, Outcome.REDIRECTED, Outcome.CANONICAL, Outcome.LISTING, Outcome.GONE}
)
"""Ends of URLs that cost the collection nothing."""


class HostShare(msgspec.Struct, frozen=True):
    """A host, and how much of it was on topic."""

    name: str
    pages: int
    relevant: int


class LeftOut(msgspec.Struct, frozen=True):
    """URLs that ended without a page, for one reason."""

    label: str
    urls: int
    setting: str
    """The setting that changes it; empty where none does."""


class Report(msgspec.Struct, frozen=True):
    """A crawl as its report tells it. Curves have one value a page, in order of fetching."""

    topic: str
    pages: int
    relevant: int
    hosts: int
    first: float
    """When the first page was fetched, in epoch seconds."""
    last: float
    found: NDArray[np.int64]
    """Pages on topic so far."""
    breadth_first: NDArray[np.float64]
    """Pages on topic that a breadth-first crawl would probably have found by then."""
    relevance: NDArray[np.float64]
    """Mean score of the last `WINDOW` pages."""
    where: tuple[HostShare, ...]
    """Hosts with most pages on topic."""
    left_out: tuple[LeftOut, ...]
    waiting: int
    estimate: Estimate | None
    """None: too early to say."""
    uncertain: Uncertain | None = None
    """Where the line is and what lies close to it; None without pages."""


def report_of(collection: Collection, *, hosts: int = 50) -> Report:
    """Everything the report tells.

    Args:
        collection: Open for reading.
        hosts: How many hosts to name.
    """
    state = collection.state
    catalogue = Catalogue()
    catalogue.refresh(state)
    on_topic, scores = catalogue.on_topic, catalogue.scores
    counts = state.counts()
    ends = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return Report(
        topic=collection.name,
        pages=catalogue.size,
        relevant=int(on_topic.sum()),
        hosts=len(np.unique(catalogue.hosts)),
        first=float(catalogue.at.min(initial=np.inf)) if catalogue.size else 0.0,
        last=float(catalogue.at.max(initial=0.0)),
        found=np.cumsum(on_topic, dtype=np.int64),
        breadth_first=breadth_first(state, catalogue),
        relevance=sliding_mean(scores, WINDOW),
        where=_where(catalogue, hosts),
        left_out=tuple(
            LeftOut(outcome.label, count, outcome.setting)
            for outcome, count in ends
            if count and outcome not in NOT_LEFT_OUT and outcome is not Outcome.WAITING
        ),
        waiting=counts.get(Outcome.WAITING, 0),
        estimate=estimate_of(state, rows=catalogue.rows, relevant=on_topic),
        uncertain=uncertain(scores, on_topic, _reviewed(collection, catalogue)),
    )


def _reviewed(collection: Collection, catalogue: Catalogue) -> NDArray[np.bool_]:
    """Pages that a person has spoken about."""
    if collection.layout is None:
        return np.zeros(catalogue.size, np.bool_)
    known = [collection.state.row_of(url_id(url)) for url in read_reviews(collection.layout.root).pages]
    return np.isin(catalogue.rows, known)


def advice_of(report: Report) -> list[str]:
    """What is found and what is uncertain, a sentence each."""
    told = [report.estimate.advice if report.estimate else f"How much of the topic is found: {TOO_EARLY}."]
    if report.uncertain is not None:
        line = f"A page is on topic from a score of {report.uncertain.line:.2f} on."
        told.append(f"{line} {report.uncertain.advice}")
    return told


def sliding_mean(values: NDArray[np.float64], window: int) -> NDArray[np.float64]:
    """Mean of the last `window` values at each place.

    Example:
        >>> sliding_mean(np.array([1.0, 0.0, 0.0, 1.0]), 2).tolist()
        [1.0, 0.5, 0.0, 0.5]
    """
    sums = np.concatenate(([0.0], np.cumsum(values)))
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(ends - window, 0)
    return np.asarray((sums[ends] - sums[starts]) / np.maximum(ends - starts, 1))


def breadth_first(state: State, catalogue: Catalogue) -> NDArray[np.float64]:
    """Pages on topic that fetching URLs level by level would probably have given.

    The links of the fetched pages are followed level by level from the seeds, as a breadth-first crawl would
    on them. Fetched pages count as they were judged. A URL that still waits counts with the share on topic of
    the pages that were fetched at about its priority. Links on pages that were not fetched are unknown, so
    this is rough: `benchmarks/breadth_first.py` prints how far it is from real breadth-first crawls.
    """
    columns = state.columns()
    size = columns.size
    status, priority = columns.status[: size + 1], columns.priority[: size + 1]
    value = np.full(size + 1, np.nan)
    # A crawl that runs may have gone on between two of these readings.
    then = catalogue.rows <= size
    rows, on_topic = catalogue.rows[then], catalogue.on_topic[then]
    value[rows] = on_topic
    waits = status == Outcome.WAITING
    waits[0] = False
    value[waits] = _chances(priority[rows], on_topic, priority[waits])
    first = "SELECT row FROM url WHERE parent = 0 AND row <= ? ORDER BY row"
    seeds = [row for (row,) in state.connection.execute(first, (size,))]
    sources, targets = state.links()
    kept = (sources <= size) & (targets <= size)
    order = level_by_level(np.array(seeds, np.int64), sources[kept], targets[kept], size=size)
    met = value[order]
    return np.asarray(np.cumsum(met[~np.isnan(met)])[: len(rows)])


def level_by_level(
    seeds: NDArray[np.int64], sources: NDArray[np.int32], targets: NDArray[np.int32], *, size: int
) -> NDArray[np.int64]:
    """Rows in breadth-first order; those that no link leads to come last.

    Args:
        seeds: Rows to begin with.
        sources: Row of the page that each link is on, in ascending order of pages or not.
        targets: Row that each link leads to.
        size: Highest row.

    Example:
        >>> links = np.array([1, 1, 3], np.int32), np.array([3, 2, 4], np.int32)
        >>> level_by_level(np.array([1]), *links, size=5).tolist()
        [1, 3, 2, 4, 5]
    """
    by_source = np.argsort(sources, kind="stable")
    starts = np.searchsorted(sources[by_source], np.arange(size + 2))
    linked = targets[by_source].astype(np.int64)
    unseen = np.ones(size + 1, np.bool_)
    unseen[0] = False
    level, levels = seeds, [seeds]
    unseen[seeds] = False
    while len(level):
        counts = starts[level + 1] - starts[level]
        # Places of all links of the level, page after page.
        places = np.repeat(starts[level] - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
        found = linked[places + np.arange(len(places))]
        found = found[unseen[found]]
        _, first = np.unique(found, return_index=True)
        level = found[np.sort(first)]
        unseen[level] = False
        levels.append(level)
    return np.concatenate([*levels, np.flatnonzero(unseen)])


def _chances(
    priorities: NDArray[np.float64], on_topic: NDArray[np.bool_], waiting: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Share on topic among pages of about the same priority."""
    scored = np.isfinite(priorities) & (priorities < NOTED)
    known, hits = priorities[scored], on_topic[scored]
    if not len(known):
        return np.full(len(waiting), float(on_topic.mean()) if len(on_topic) else 0.0)
    edges = np.unique(np.quantile(known, np.linspace(0, 1, min(BINS, len(known)) + 1)[1:-1]))
    bins = np.searchsorted(edges, known)
    counts = np.bincount(bins, minlength=len(edges) + 1)
    found = np.bincount(bins, weights=hits, minlength=len(edges) + 1)
    rates = (found + hits.mean()) / (counts + 1.0)
    return np.asarray(rates[np.searchsorted(edges, waiting)])


def _where(catalogue: Catalogue, most: int) -> tuple[HostShare, ...]:
    size = len(catalogue.host_names)
    pages = np.bincount(catalogue.hosts, minlength=size)
    relevant = np.bincount(catalogue.hosts[catalogue.on_topic], minlength=size)
    best = np.lexsort((np.arange(size), -pages, -relevant))[:most]
    return tuple(
        HostShare(catalogue.host_names[row], int(pages[row]), int(relevant[row]))
        for row in best.tolist()
        if pages[row]
    )
