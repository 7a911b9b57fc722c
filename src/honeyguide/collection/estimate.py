"""How much of the topic is probably found, and when to stop.

Two things are known at any moment: which of the pages so far were on topic, each with the priority it was
fetched at and its place in the crawl (the discovery curve), and the priorities of what waits (the score
distribution of the frontier). Six logistic regressions tell the chance that a URL turns out on topic:
from its priority, from its place in the crawl, or from both, learned from all pages or from the last
ones. Each adds up the chances of everything that waits, in the order it will be fetched, and their geometric
mean is the best guess. URLs that were popped and gave no page (redirects, copies, errors) lower it.

The interval does not trust them. At least, what is found is all there is. At most, everything that waits
is half as rich again as what was fetched; an order that takes the best first makes that unlikely. Pages
bring in new URLs, and those others: with g new ones a page, `waiting / (1 - g)` are to come. Where they come
nearly as fast as they are fetched, or the upper end is over four times what is found, it is too early to say.

What counts as on topic is what the page model calls so: the estimate knows nothing of its mistakes. How often
the interval holds is measured in the lab (`honeyguide lab run estimate`, table in docs/review.md).

For a live view: from arrays it takes 10 ms with 50,000 waiting URLs and 70 ms with a million;
`estimate_of(state, rows=…, relevant=…)` does without reading the table of pages.
"""

from __future__ import annotations

import math
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.model import Outcome
from honeyguide.store.state import State

LEAST_PAGES: Final = 100
LEAST_FOUND: Final = 10
MOST_GROWTH: Final = 0.75
"""New URLs a page from which on the end is not in sight."""
RICHER: Final = 1.5
"""What waits is at most so many times as rich as what was fetched: some webs open up late."""
MOST_TIMES: Final = 4.0
"""Upper end of the interval, as a multiple of what is found, from which on it says nothing."""
NOTED: Final = 1e3
"""Priorities from here on are those of seeds and suggestions: no score behind them."""
MOST_POINTS: Final = 4000
"""Pages and waiting URLs that are looked at; of more, every so many-th."""
NEARLY: Final = 0.95
"""Share of the topic that counts as nearly all."""
ENOUGH: Final = 0.9
"""Share that is surely found from which on a crawl can stop."""
TOO_EARLY: Final = "too early to say"


class Evidence(msgspec.Struct, frozen=True):
    """What the estimate is made from."""

    relevant: NDArray[np.bool_]
    """Whether each page was on topic, in order of fetching."""
    priorities: NDArray[np.float64]
    """The priority each of them was fetched at."""
    waiting: NDArray[np.float64]
    """Priorities of the URLs that wait."""
    yielded: float = 1.0
    """Share of the URLs popped that gave a page."""
    growth: float = 0.0
    """New URLs that a page brought in lately, fetched since or not."""


class Estimate(msgspec.Struct, frozen=True):
    """How much there is, how much of it is found, and what to do. `low` and `high` are the bounds."""

    found: int
    total: float
    """Pages on topic that this crawl could find in all."""
    total_low: float
    total_high: float
    share: float
    """Of them found so far."""
    share_low: float
    share_high: float
    next_chance: float
    """That the next page is on topic."""
    pages_to_most: int | None
    """Pages still to fetch until 95 % are found, if the frontier is popped best first; None: not in reach."""
    stop: bool
    """Whether to stop is suggested."""
    advice: str
    """One sentence for people."""


def estimate_of(
    state: State, *, rows: NDArray[np.int64] | None = None, relevant: NDArray[np.bool_] | None = None
) -> Estimate | None:
    """The estimate for a crawl as its state is now; None while it is too young.

    Args:
        state: Open for reading or writing.
        rows: Rows of all pages in order of fetching, for a caller that holds them already.
        relevant: With `rows`: whether each page was on topic.
    """
    return estimate(evidence_of(state, rows=rows, relevant=relevant))


def evidence_of(
    state: State, *, rows: NDArray[np.int64] | None = None, relevant: NDArray[np.bool_] | None = None
) -> Evidence:
    """Read the evidence from a state."""
    if rows is None or relevant is None:
        found = state.connection.execute("SELECT row, on_topic FROM page ORDER BY number").fetchall()
        rows = np.fromiter((row for row, _ in found), np.int64, len(found))
        relevant = np.fromiter((on_topic for _, on_topic in found), np.bool_, len(found))
    columns = state.columns()
    status, hosts = columns.status[1 : columns.size + 1], columns.hosts[1 : columns.size + 1]
    waits = status == Outcome.WAITING
    popped = int(np.count_nonzero(~waits & (hosts > 0)))
    window = max(20, len(rows) // 4)
    growth = 0.0
    if len(rows) > window:
        # Rows are numbered in order of discovery: the last link of a page tells what was known by then.
        before = rows[max(0, len(rows) - window - 10) : len(rows) - window]
        known = max((int(links.max()) for row in before if len(links := state.links_of(int(row)))), default=0)
        growth = float(np.count_nonzero(hosts[known:] > 0)) / window if known else 0.0
    return Evidence(
        relevant=relevant,
        priorities=columns.priority[rows],
        waiting=columns.priority[1 : columns.size + 1][waits],
        yielded=min(1.0, len(rows) / popped) if popped else 1.0,
        growth=growth,
    )


def estimate(evidence: Evidence) -> Estimate | None:
    """Estimate from the evidence alone; equal evidence gives equal answers.

    Example:
        >>> random = np.random.default_rng(0)
        >>> place = np.arange(1000)
        >>> hits = random.random(1000) < 0.6 * np.exp(-place / 200)
        >>> made = estimate(Evidence(hits, np.exp(-place / 400), np.full(500, 0.05)))
        >>> made.found <= made.total_low < made.total < made.total_high
        True
    """
    pages, found = len(evidence.relevant), int(np.count_nonzero(evidence.relevant))
    ahead = len(evidence.waiting)
    if not ahead and found:
        return _told(evidence, np.zeros(0), 0.0, 0.0)
    if pages < LEAST_PAGES or found < LEAST_FOUND:
        return None
    growth = evidence.growth * evidence.yielded
    to_come = ahead * evidence.yielded / (1.0 - growth) if growth < MOST_GROWTH else math.inf
    expected = RICHER * found * to_come / pages
    if found + expected > MOST_TIMES * found:
        return None
    most = expected + 2.0 * math.sqrt(min(expected, found) + 1.0)  # a count varies by its root
    curves = _chances(evidence)
    sums = np.log(np.maximum(curves.sum(axis=1), 0.0) + 0.5)
    guess = max(0.0, math.exp(float(sums.mean())) - 0.5) * to_come / ahead
    left = min(guess, most)
    mean = curves.mean(axis=0)
    scale = left / float(mean.sum()) if mean.sum() > 0.0 else 0.0
    return _told(evidence, mean * scale, left, most)


def _told(evidence: Evidence, chances: NDArray[np.float64], left: float, most: float) -> Estimate:
    found = int(np.count_nonzero(evidence.relevant))
    total = found + left
    share, low = found / total, found / (found + most)
    step = max(1.0, len(evidence.waiting) / max(1, len(chances)))
    first = float(chances[: max(1, math.ceil(50 / step))].mean()) / step if len(chances) else 0.0
    reached = np.flatnonzero(found + np.cumsum(chances) >= NEARLY * total)
    needed = 0 if share >= NEARLY else math.ceil((reached[0] + 1) * step) if len(reached) else None
    return Estimate(
        found=found,
        total=total,
        total_low=float(found),
        total_high=found + most,
        share=share,
        share_low=low,
        share_high=1.0,
        next_chance=min(1.0, first),
        pages_to_most=needed,
        stop=low >= ENOUGH or not len(chances),
        advice=_advice(share, low, needed=needed, ended=not len(chances)),
    )


def _advice(share: float, low: float, *, needed: int | None, ended: bool) -> str:
    if ended:
        return "Nothing is left to fetch: what these seeds can reach is found."
    known = f"About {share:.0%} of what can be reached is found, {low:.0%} at the least"
    if low >= ENOUGH:
        return f"{known}; the crawl can stop."
    if not needed:
        return f"{known}."
    return f"{known}; some {_rounded(needed):,} pages more would bring it to 95 %."


def _rounded(number: int) -> int:
    """Two digits are all an estimate deserves."""
    return int(float(f"{number:.2g}"))


def _chances(evidence: Evidence) -> NDArray[np.float64]:
    """One row a regression: the expected number of hits of each waiting URL looked at, best first."""
    pages = len(evidence.relevant)
    place = np.arange(1, pages + 1)
    usual = evidence.priorities < NOTED
    if not usual.any():
        usual = np.ones(pages, np.bool_)
    waiting = np.sort(evidence.waiting)[::-1]
    ahead = len(waiting)
    step = max(1, math.ceil(ahead / MOST_POINTS))
    waiting = waiting[step // 2 :: step] if step > 1 else waiting
    low, high = np.quantile(evidence.priorities[usual], [0.02, 0.98])
    low = min(float(low), float(waiting[-1]))
    width = max(float(high) - low, 1e-9)

    def features(
        priorities: NDArray[np.float64], places: NDArray[np.float64], use: str
    ) -> NDArray[np.float64]:
        columns = [np.ones(len(priorities))]
        if "p" in use:
            columns.append(4.0 * np.clip((priorities - low) / width, 0.0, 1.0))
        if "t" in use:
            columns.append(2.0 * np.log(places / pages))
        return np.stack(columns, axis=1)

    future = pages + np.linspace(1.0, float(ahead), len(waiting))
    answers = []
    for use, last in (("p", 0.3), ("p", 0.6), ("p", 1.0), ("t", 0.6), ("t", 1.0), ("pt", 1.0)):
        chosen = np.flatnonzero(usual & (place > pages * (1.0 - last)))
        if len(chosen) > MOST_POINTS:
            chosen = chosen[:: math.ceil(len(chosen) / MOST_POINTS)]
        if not len(chosen):
            chosen = np.flatnonzero(usual)
        weights = _logistic(
            features(evidence.priorities[chosen], place[chosen].astype(np.float64), use),
            evidence.relevant[chosen].astype(np.float64),
        )
        answers.append(_sigmoid(features(waiting, future, use) @ weights) * (ahead / len(waiting)))
    return np.array(answers)


def _sigmoid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * np.clip(values, -30.0, 30.0))))


def _logistic(features: NDArray[np.float64], hits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ridge logistic regression by Newton's method; the first feature is the constant."""
    penalty = np.ones(features.shape[1])
    penalty[0] = 1e-3
    weights = np.zeros(features.shape[1])
    share = min(max(float(hits.mean()), 1e-4), 1.0 - 1e-4)
    weights[0] = math.log(share / (1.0 - share))
    for _ in range(30):
        chance = _sigmoid(features @ weights)
        gradient = features.T @ (hits - chance) - penalty * weights
        hessian = (features.T * np.maximum(chance * (1.0 - chance), 1e-9)) @ features + np.diag(penalty)
        step = np.clip(np.linalg.solve(hessian, gradient), -3.0, 3.0)
        weights = weights + step
        if float(np.abs(step).max()) < 1e-6:
            break
    return weights
