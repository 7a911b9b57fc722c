"""How much of the topic is probably found, and when to stop.

Two things are known at any moment: which of the pages so far were on topic, each with the priority it was
fetched at and its place in the crawl (the discovery curve), and the priorities of what waits (the score
distribution of the frontier). Six logistic regressions tell the chance that a URL turns out on topic:
from its priority, from its place in the crawl, or from both, learned from all pages or from the last
ones. Each adds up the chances of everything that waits, in the order it will be fetched. Their geometric
mean is the estimate, and what they disagree on makes its interval wider. URLs that were popped and gave no
page (redirects, copies, errors) lower it in proportion; URLs that nobody has found yet raise it, by half
of the rate at which pages still bring in new ones, one at most.

What counts as on topic is what the page model calls so: the estimate knows nothing of its mistakes. The
error was measured in the lab (`honeyguide lab run estimate`, table in docs/review.md): on whole crawls of
recorded and generated webs the total is typically off by half and more after 10 % of the pages, by 4 to 20 %
after 25 % (by more on generated webs), and by 1 to 10 % after that. Before `LEAST_PAGES` pages there is none.

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

LEAST_PAGES: Final = 30
NOTED: Final = 1e3
"""Priorities from here on are those of seeds and suggestions: no score behind them."""
MOST_POINTS: Final = 4000
"""Pages and waiting URLs that are looked at; of more, every so many-th."""
OWN_DEVIATION: Final = 0.7
"""Standard deviation of the logarithm of what is left when all regressions agree; measured in the lab."""
WIDTH: Final = 1.2816
"""Half the width of an 80 % interval, in standard deviations."""
NEARLY: Final = 0.95
"""Share of the topic at which a crawl may as well stop."""
POOR: Final = 0.005
"""Chance of the next page being on topic below which going on is a waste."""


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
    fresh: float = 0.0
    """New URLs that a page brought in lately."""


class Estimate(msgspec.Struct, frozen=True):
    """How much there is, how much of it is found, and what to do. `low` and `high` bound 80 % intervals."""

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
    fresh = 0.0
    if len(rows) > window:
        # Rows are numbered in order of discovery: the last link of a page tells what was known by then.
        before = rows[max(0, len(rows) - window - 10) : len(rows) - window]
        known = max((int(links.max()) for row in before if len(links := state.links_of(int(row)))), default=0)
        fresh = float(np.count_nonzero(waits[known:])) / window if known else 0.0
    return Evidence(
        relevant=relevant,
        priorities=columns.priority[rows],
        waiting=columns.priority[1 : columns.size + 1][waits],
        yielded=min(1.0, len(rows) / popped) if popped else 1.0,
        fresh=fresh,
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
    if pages < LEAST_PAGES or not found:
        return None
    ahead = len(evidence.waiting)
    if not ahead:
        return _told(evidence, np.zeros(0), 0.0, 0.0)
    curves = _chances(evidence)
    sums = np.log(np.maximum(curves.sum(axis=1), 0.0) + 0.5)
    left = max(0.0, math.exp(float(sums.mean())) - 0.5)
    mean = curves.mean(axis=0)
    # Beyond the frontier: half of the rate at which pages still bring in new URLs.
    factor = evidence.yielded * (1.0 + 0.5 * min(1.0, evidence.fresh))
    scale = left * factor / float(mean.sum()) if mean.sum() > 0.0 else 0.0
    deviation = math.hypot(OWN_DEVIATION, float(sums.std()), 1.0 / math.sqrt(found))
    return _told(evidence, mean * scale, left * factor, deviation)


def _told(evidence: Evidence, chances: NDArray[np.float64], left: float, deviation: float) -> Estimate:
    found = int(np.count_nonzero(evidence.relevant))
    spread = math.exp(WIDTH * deviation)
    # What is left is a count: small ones vary by their root, whatever the regressions say.
    noise = WIDTH * math.sqrt(left + 1.0) if len(chances) else 0.0
    low, high = found + max(0.0, left / spread - noise), found + left * spread + noise
    total = found + left
    share = found / total
    step = max(1.0, len(evidence.waiting) / max(1, len(chances)))
    first = float(chances[: max(1, math.ceil(50 / step))].mean()) / step if len(chances) else 0.0
    reached = np.flatnonzero(found + np.cumsum(chances) >= NEARLY * total)
    needed = 0 if share >= NEARLY else math.ceil((reached[0] + 1) * step) if len(reached) else None
    stop = share >= NEARLY or first < POOR
    return Estimate(
        found=found,
        total=total,
        total_low=low,
        total_high=high,
        share=share,
        share_low=found / high,
        share_high=found / low,
        next_chance=min(1.0, first),
        pages_to_most=needed,
        stop=stop,
        advice=_advice(share, found / high, found / low, first=first, needed=needed, ended=not len(chances)),
    )


def _advice(share: float, low: float, high: float, *, first: float, needed: int | None, ended: bool) -> str:
    if ended:
        return "Nothing is left to fetch: what these seeds can reach is found."
    known = f"About {share:.0%} of the topic is found ({low:.0%} to {high:.0%})"
    if share >= NEARLY:
        return f"{known}; the crawl can stop."
    if first < POOR:
        return (
            f"{known}, but of the next {1 / POOR:.0f} pages hardly one will be on topic: stop, or add seeds."
        )
    if needed is None:
        return f"{known}; go on."
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
