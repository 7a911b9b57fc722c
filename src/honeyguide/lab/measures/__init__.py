"""Every measure the lab reports for a crawl, as pure functions of its record.

A record lists the fetched pages in order. A page counts as `on_target` at most once: copies of a target
that was fetched before are not targets, or recall would pass 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.errors import HoneyguideError, MissingExtra

RECALLS = (0.1, 0.5, 1.0)
"""Where precision and F1 are read, as in the WebKB study."""


class Fetched(msgspec.Struct, frozen=True, array_like=True):
    """One fetched page of a crawl."""

    page: int
    """URL fingerprint or index."""
    on_target: bool
    relevance: float = 0.0
    """As judged for evaluation, not by the crawl's own model."""
    depth: int = 0
    """Links from the seed along the crawl path."""
    bytes: int = 0
    requests: int = 0
    """Requests so far, this one included; 0 where they were not counted."""


class CrawlRecord(msgspec.Struct, frozen=True):
    """A crawl as the lab sees it."""

    fetched: tuple[Fetched, ...]
    reachable: int
    """Targets that can be reached from the seeds at all."""
    ordering_seconds: float = 0.0
    """CPU seconds spent on ordering links."""
    name: str = ""

    def hits(self) -> NDArray[np.int64]:
        """Targets found after 1, 2, 3, … downloads."""
        found = np.cumsum([page.on_target for page in self.fetched], dtype=np.int64)
        if len(found) and found[-1] > self.reachable:
            raise HoneyguideError(
                f"the record has {found[-1]} targets but only {self.reachable} are reachable: "
                "count each target once, and reachable ones only"
            )
        return found


class Measures(msgspec.Struct, frozen=True):
    """All numbers of one crawl. None means: the crawl ended before that point."""

    pages: int
    harvest_rate: float
    recall: float
    precision_at: dict[str, float | None]
    f1_at: dict[str, float | None]
    sum_of_information: float
    target_length: int
    downloads_to_half: int | None
    downloads_to_nine_tenths: int | None
    area: float
    area_of_oracle: float | None
    oracle_multiple_half: float | None
    oracle_multiple_nine_tenths: float | None
    bytes: int
    requests: int
    ordering_seconds_per_page: float


def harvest_rate(record: CrawlRecord) -> float:
    """Share of fetched pages that are on target."""
    return float(record.hits()[-1]) / len(record.fetched) if record.fetched else 0.0


def harvest_curve(record: CrawlRecord) -> NDArray[np.float64]:
    """Harvest rate after each download."""
    return record.hits() / np.arange(1, len(record.fetched) + 1)


def sliding_harvest(record: CrawlRecord, window: int = 200) -> NDArray[np.float64]:
    """Share of targets among the last `window` downloads (or all, before there are as many)."""
    return _sliding([float(page.on_target) for page in record.fetched], window)


def sliding_relevance(record: CrawlRecord, window: int = 200) -> NDArray[np.float64]:
    """Mean relevance of the last `window` downloads."""
    return _sliding([page.relevance for page in record.fetched], window)


def _sliding(values: Sequence[float], window: int) -> NDArray[np.float64]:
    sums = np.concatenate([[0.0], np.cumsum(values)])
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(0, ends - window)
    means: NDArray[np.float64] = (sums[ends] - sums[starts]) / (ends - starts)
    return means


def recall_curve(record: CrawlRecord) -> NDArray[np.float64]:
    """Share of the reachable targets found after each download."""
    return record.hits() / max(1, record.reachable)


def needed(reachable: int, recall: float) -> int:
    """How many targets make up this recall: at least one."""
    # The small term undoes binary fractions: 0.1 * 30 is 3, not 4.
    return max(1, math.ceil(recall * reachable - 1e-9))


def downloads_to(record: CrawlRecord, recall: float) -> int | None:
    """Downloads until this share of the reachable targets is found, or None."""
    return _first(record.hits(), needed(record.reachable, recall))


def _first(hits: NDArray[np.int64], count: int) -> int | None:
    place = int(np.searchsorted(hits, count))
    return place + 1 if place < len(hits) else None


def precision_at_recall(record: CrawlRecord, recall: float) -> float | None:
    """Share of targets among the downloads it took to reach this recall, or None."""
    downloads = downloads_to(record, recall)
    return None if downloads is None else needed(record.reachable, recall) / downloads


def f1_at_recall(record: CrawlRecord, recall: float) -> float | None:
    """Harmonic mean of precision and recall where this recall is first reached, or None."""
    precision = precision_at_recall(record, recall)
    if precision is None:
        return None
    reached = needed(record.reachable, recall) / record.reachable
    return 2 * precision * reached / (precision + reached)


def precision_recall_curve(record: CrawlRecord) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Recall and precision at each download that found a target."""
    found = np.array([page.on_target for page in record.fetched], dtype=bool)
    return recall_curve(record)[found], harvest_curve(record)[found]


def sum_of_information(record: CrawlRecord) -> float:
    """Sum of the relevance of all fetched pages."""
    return math.fsum(page.relevance for page in record.fetched)


def target_length(record: CrawlRecord) -> int:
    """Distance from the seed along the crawl path, summed over the targets found."""
    return sum(page.depth for page in record.fetched if page.on_target)


def area_under_recall(hits: NDArray[np.int64], reachable: int, budget: int) -> float:
    """Mean recall over the first `budget` downloads; a crawl that ends early keeps its last recall."""
    if budget < 1 or reachable < 1 or not len(hits):
        return 0.0
    part = hits[:budget]
    total = int(part.sum()) + int(part[-1]) * (budget - len(part))
    return total / (reachable * budget)


def area_of_oracle(record: CrawlRecord, oracle: NDArray[np.int64], budget: int) -> float:
    """Area under the recall curve divided by the oracle's, for the same number of downloads."""
    best = area_under_recall(oracle, record.reachable, budget)
    return area_under_recall(record.hits(), record.reachable, budget) / best if best else 0.0


def oracle_multiple(record: CrawlRecord, oracle: NDArray[np.int64], recall: float) -> float | None:
    """How many times the oracle's downloads it took to reach this recall, or None."""
    mine = downloads_to(record, recall)
    best = _first(oracle, needed(record.reachable, recall))
    return None if mine is None or best is None else mine / best


def ordering_seconds_per_page(record: CrawlRecord) -> float:
    """CPU seconds of ordering work for each fetched page."""
    return record.ordering_seconds / len(record.fetched) if record.fetched else 0.0


def measure(
    record: CrawlRecord, oracle: NDArray[np.int64] | None = None, *, budget: int | None = None
) -> Measures:
    """All measures of a crawl.

    Args:
        record: The crawl.
        oracle: Targets the oracle has after each download (`oracle.Oracle.hits`), where it is known.
        budget: Downloads over which areas are taken; the crawl's own length by default. Give the same
            number for crawls that are compared.
    """
    over = budget or len(record.fetched)
    half = oracle_multiple(record, oracle, 0.5) if oracle is not None else None
    most = oracle_multiple(record, oracle, 0.9) if oracle is not None else None
    return Measures(
        pages=len(record.fetched),
        harvest_rate=harvest_rate(record),
        recall=float(recall_curve(record)[-1]) if record.fetched else 0.0,
        precision_at={str(recall): precision_at_recall(record, recall) for recall in RECALLS},
        f1_at={str(recall): f1_at_recall(record, recall) for recall in RECALLS},
        sum_of_information=sum_of_information(record),
        target_length=target_length(record),
        downloads_to_half=downloads_to(record, 0.5),
        downloads_to_nine_tenths=downloads_to(record, 0.9),
        area=area_under_recall(record.hits(), record.reachable, over),
        area_of_oracle=area_of_oracle(record, oracle, over) if oracle is not None else None,
        oracle_multiple_half=half,
        oracle_multiple_nine_tenths=most,
        bytes=sum(page.bytes for page in record.fetched),
        requests=record.fetched[-1].requests if record.fetched else 0,
        ordering_seconds_per_page=ordering_seconds_per_page(record),
    )


class Interval(msgspec.Struct, frozen=True):
    """A mean with its confidence interval."""

    mean: float
    low: float
    high: float


def bootstrap(
    values: Sequence[float], random: np.random.Generator, *, level: float = 0.95, rounds: int = 10_000
) -> Interval:
    """Mean over topics with its percentile bootstrap interval.

    Example:
        >>> bootstrap([0.5, 0.5, 0.5], np.random.default_rng(1))
        Interval(mean=0.5, low=0.5, high=0.5)
    """
    if not len(values):
        raise HoneyguideError("no values to average: give at least one topic")
    sample = np.asarray(values, dtype=np.float64)
    means = sample[random.integers(0, len(sample), (rounds, len(sample)))].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(sample.mean()), float(low), float(high))


def bootstrap_band(
    curves: NDArray[np.float64], random: np.random.Generator, *, level: float = 0.95, rounds: int = 1_000
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Mean curve over topics (rows) with its lower and upper bootstrap curves."""
    chosen = random.integers(0, len(curves), (rounds, len(curves)))
    # Counts of each topic in each round times the curves: one product, no huge intermediate.
    counts = np.stack([np.bincount(row, minlength=len(curves)) for row in chosen]) / len(curves)
    low, high = np.quantile(counts @ curves, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return curves.mean(axis=0), low, high


class Comparison(msgspec.Struct, frozen=True):
    """A paired comparison of two strategies over the same topics."""

    difference: float
    """Mean of first minus second."""
    p_value: float
    test: str


def paired_t_test(first: Sequence[float], second: Sequence[float]) -> Comparison:
    """Student's paired t-test. Equal differences leave nothing to chance: p is 1 for none, else 0."""
    return _compare(first, second, "paired t-test", lambda a, b: float(_statistics().ttest_rel(a, b).pvalue))


def wilcoxon(first: Sequence[float], second: Sequence[float]) -> Comparison:
    """Wilcoxon's signed-rank test, exact for small samples without ties."""
    return _compare(first, second, "wilcoxon", lambda a, b: float(_statistics().wilcoxon(a, b).pvalue))


def _statistics() -> Any:
    try:
        from scipy import stats
    except ImportError:
        raise MissingExtra("a significance test", "lab") from None
    return stats


def _compare(
    first: Sequence[float],
    second: Sequence[float],
    test: str,
    p_value: Callable[[NDArray[np.float64], NDArray[np.float64]], float],
) -> Comparison:
    if len(first) != len(second) or len(first) < 2:
        raise HoneyguideError("a paired test needs the same topics for both strategies: give two or more")
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    difference = a - b
    mean = float(difference.mean())
    if not difference.any():
        return Comparison(0.0, 1.0, test)
    if test != "wilcoxon" and np.ptp(difference) == 0.0:
        return Comparison(mean, 0.0, test)
    return Comparison(mean, p_value(a, b), test)
