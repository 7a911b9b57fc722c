"""How a crawl stands, for those who watch it: totals, curves, the frontier, what came last."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.collection.catalogue import Catalogue
from honeyguide.collection.left_alone import left_alone
from honeyguide.model import Outcome
from honeyguide.store.checked import reading
from honeyguide.store.columns import Columns
from honeyguide.store.state import State

RECENT = 200
"""Pages over which the recent harvest is counted."""
POINTS = 120
"""Points of a curve: more than a screen shows."""
BINS = 20
HOSTS = 12
MAPPED = 60
"""Hosts on the map of the crawl."""
LAST = 12
RATE_SECONDS = 30.0
CURVE_SECONDS = 600.0


class HostLine(msgspec.Struct, frozen=True):
    """One host in the frontier."""

    name: str
    waiting: int
    fetched: int
    relevant: int


class ScoreBin(msgspec.Struct, frozen=True):
    """Waiting URLs with priorities from `low` up to `high`."""

    low: float
    high: float
    waiting: int


class Point(msgspec.Struct, frozen=True, array_like=True):
    """A point of the harvest curve."""

    pages: int
    relevant: int
    recent: float
    """Share on topic among the `RECENT` pages up to here."""


class LastPage(msgspec.Struct, frozen=True):
    """A page that was fetched lately."""

    row: int
    number: int
    at: float
    url: str
    title: str
    score: float
    on_topic: bool
    reason: str
    """The terms behind the verdict."""


class Ended(msgspec.Struct, frozen=True):
    """How many addresses ended in one way."""

    name: str
    """Of the `Outcome`, for addresses and metrics."""
    label: str
    """For people."""
    urls: int
    setting: str
    """The setting that changes it; empty where none does."""


class LastDrop(msgspec.Struct, frozen=True):
    """An address that ended without a page lately."""

    url: str
    outcome: str
    """For people."""
    reason: str
    setting: str
    """The setting that changes it; empty where none does."""


class Overview(msgspec.Struct, frozen=True):
    """The crawl at one moment."""

    pages: int = 0
    relevant: int = 0
    harvest: float = 0.0
    recent_harvest: float = 0.0
    known: int = 0
    waiting: int = 0
    hosts: int = 0
    requests: int = 0
    bytes: int = 0
    seconds: float = 0.0
    rate: float = 0.0
    """Pages a second: lately while it runs, else over the whole crawl."""
    outcomes: list[Ended] = []
    """Addresses that ended, most frequent first."""
    largest_hosts: list[HostLine] = []
    """Hosts with most pages, for the map."""
    frontier_hosts: list[HostLine] = []
    other_hosts: int = 0
    """Hosts with waiting URLs that are not in the list."""
    frontier_scores: list[ScoreBin] = []
    curve: list[Point] = []
    rates: list[tuple[float, float]] = []
    """Seconds before the last page (at most 0), and pages a second then."""
    last_pages: list[LastPage] = []
    last_drops: list[LastDrop] = []
    rests: str = ""
    """What a running crawl waits for, where every host that is left wants to be left alone."""


def look(state: State, catalogue: Catalogue, *, now: float | None) -> Overview:
    """Everything that the live view shows.

    Args:
        state: Open for reading.
        catalogue: Refreshed here.
        now: The time while the crawl runs, None when it does not.
    """
    catalogue.refresh(state)
    columns = state.columns()
    counts = columns.counts()
    waiting = counts.pop(Outcome.WAITING, 0)
    tally = state.setting("tally")
    spent: dict[str, float] = tally if isinstance(tally, dict) else {}
    # All counts are of the pages as they are judged now, so that tiles, tables and lists agree.
    pages, relevant = catalogue.size, int(catalogue.on_topic.sum())
    with reading("figures"):
        requests, size = int(spent.get("requests", 0)), int(spent.get("bytes", 0))
        seconds = float(spent.get("seconds", 0.0))
    lately = catalogue.on_topic[-RECENT:]
    lines, others, best = _frontier_hosts(state, catalogue, columns)
    ended = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    (hosts,) = state.connection.execute("SELECT count(*) FROM host").fetchone()
    return Overview(
        pages=pages,
        relevant=relevant,
        harvest=relevant / pages if pages else 0.0,
        recent_harvest=float(lately.mean()) if len(lately) else 0.0,
        known=waiting + sum(counts.values()),
        waiting=waiting,
        hosts=hosts,
        requests=requests,
        bytes=size,
        seconds=seconds,
        rate=_rate(catalogue.at, now, pages, seconds),
        outcomes=[
            Ended(outcome.name.lower(), outcome.label, count, outcome.setting) for outcome, count in ended
        ],
        largest_hosts=largest_hosts(catalogue),
        frontier_hosts=lines,
        other_hosts=others,
        frontier_scores=frontier_scores(columns),
        curve=harvest_curve(catalogue.on_topic),
        rates=rate_curve(catalogue.at),
        last_pages=last_pages(state),
        last_drops=last_drops(state),
        rests="" if now is None or others else left_alone(state, best, now=now),
    )


def _rate(at: NDArray[np.float64], now: float | None, pages: int, seconds: float) -> float:
    if now is None:
        return pages / seconds if seconds > 0 else 0.0
    lately = at[-20_000:]
    first = max(now - RATE_SECONDS, float(lately[0]) if len(lately) else now)
    return float((lately > now - RATE_SECONDS).sum()) / max(1.0, now - first)


def _frontier_hosts(
    state: State, catalogue: Catalogue, columns: Columns
) -> tuple[list[HostLine], int, list[int]]:
    """The hosts with most waiting URLs, how many others have some, and the rows of the first."""
    status = columns.status[1 : columns.size + 1]
    numbers = np.bincount(columns.hosts[1 : columns.size + 1][status == Outcome.WAITING])
    busy = np.flatnonzero(numbers)
    best = busy[np.argsort(-numbers[busy], kind="stable")][:HOSTS]
    pages, relevant = catalogue.pages_of_hosts()
    lines = []
    for row in best.tolist():
        # Hosts may have come since the last page did.
        name = state.connection.execute("SELECT name FROM host WHERE row = ?", (row,)).fetchone()
        known = row < len(pages)
        fetched, on_topic = (int(pages[row]), int(relevant[row])) if known else (0, 0)
        lines.append(HostLine(str(name[0]) if name else "", int(numbers[row]), fetched, on_topic))
    return lines, len(busy) - len(best), best.tolist()


def largest_hosts(catalogue: Catalogue, *, most: int = MAPPED) -> list[HostLine]:
    """The hosts with most pages; their waiting addresses are not counted."""
    pages, relevant = catalogue.pages_of_hosts()
    best = np.argsort(-pages, kind="stable")[:most]
    return [
        HostLine(catalogue.host_names[row], 0, int(pages[row]), int(relevant[row]))
        for row in best.tolist()
        if pages[row]
    ]


def frontier_scores(columns: Columns) -> list[ScoreBin]:
    """Waiting URLs by priority, in equal steps; what lies far above the rest is in the last one."""
    status = columns.status[1 : columns.size + 1]
    values = columns.priority[1 : columns.size + 1][status == Outcome.WAITING]
    values = values[np.isfinite(values)]
    if not len(values):
        return []
    low, high = float(values.min()), float(np.quantile(values, 0.99))
    if low >= 0.0 and high <= 1.0:
        low, high = 0.0, 1.0
    elif high <= low:
        high = low + 1.0
    edges = np.linspace(low, high, BINS + 1)
    counts, _ = np.histogram(np.clip(values, low, high), bins=edges)
    return [
        ScoreBin(float(edges[place]), float(edges[place + 1]), count)
        for place, count in enumerate(counts.tolist())
    ]


def harvest_curve(on_topic: NDArray[np.bool_]) -> list[Point]:
    """Relevant pages over pages, at up to `POINTS` places."""
    size = len(on_topic)
    if not size:
        return []
    found = np.concatenate([[0], np.cumsum(on_topic)])
    places = np.unique(np.linspace(1, size, min(size, POINTS)).astype(np.int64))
    before = np.maximum(0, places - RECENT)
    recent = (found[places] - found[before]) / (places - before)
    return [
        Point(page, total, round(share, 4))
        for page, total, share in zip(places.tolist(), found[places].tolist(), recent.tolist(), strict=True)
    ]


def rate_curve(at: NDArray[np.float64]) -> list[tuple[float, float]]:
    """Pages a second over the last ten minutes in which there were pages."""
    if len(at) < 2:
        return []
    last = float(at[-1])
    start = max(float(at[0]), last - CURVE_SECONDS)
    length = last - start
    if length <= 0:
        return []
    bins = int(min(60, max(2, length)))
    counts, edges = np.histogram(at[at >= start], bins=bins, range=(start, last))
    step = length / bins
    middles = (edges[:-1] + edges[1:]) / 2 - last
    return [(round(x, 2), round(n / step, 3)) for x, n in zip(middles.tolist(), counts.tolist(), strict=True)]


_decode_terms = msgspec.json.Decoder(list[tuple[str, float]]).decode


def last_pages(state: State, *, most: int = LAST) -> list[LastPage]:
    """The pages fetched last, newest first."""
    found = state.connection.execute(
        "SELECT page.row, number, at, url.url, title, score, on_topic, terms FROM page"
        " JOIN url ON url.row = page.row ORDER BY number DESC LIMIT ?",
        (most,),
    )
    lines = []
    for row, number, at, url, title, score, on_topic, terms in found:
        with reading("pages"):
            behind = ", ".join(term for term, _ in _decode_terms(terms)[:4]) if terms else ""
            own = (float(at), str(url), str(title), float(score), bool(on_topic))
        lines.append(LastPage(row, number, *own, behind))
    return lines


def last_drops(state: State, *, most: int = 8) -> list[LastDrop]:
    """The last addresses that ended without a page, newest first."""
    found = state.connection.execute(
        "SELECT url, data FROM journal WHERE number > (SELECT coalesce(max(number), 0) FROM journal) - 500"
        " AND kind = 'outcome' ORDER BY number DESC LIMIT ?",
        (most,),
    )
    lines = []
    for url, text in found:
        with reading("journal entries"):
            data = msgspec.json.decode(text, type=dict[str, object])
        name = str(data.get("outcome", ""))
        outcome = Outcome.__members__.get(name.upper())
        label, setting = (outcome.label, outcome.setting) if outcome is not None else (name, "")
        lines.append(LastDrop(url, label, str(data.get("reason", "")), setting))
    return lines
