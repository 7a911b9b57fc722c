"""Curves of crawls, drawn side by side: recall, harvest, precision and relevance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from honeyguide.errors import HoneyguideError
from honeyguide.lab.measures import (
    CrawlRecord,
    bootstrap_band,
    harvest_curve,
    precision_recall_curve,
    recall_curve,
    sliding_harvest,
    sliding_relevance,
)
from honeyguide.plots.panels import Curve, Panel


def crawl_panels(
    runs: Sequence[CrawlRecord], *, oracle: NDArray[np.int64] | None = None, window: int = 200
) -> tuple[Panel, ...]:
    """The four usual panels of some crawls of one topic: harvest, recall, sliding relevance, precision."""
    pages = "pages fetched"
    recalls = [_curve(run.name, recall_curve(run)) for run in runs]
    if oracle is not None and runs:
        longest = max(len(run.fetched) for run in runs)
        best = np.minimum(_padded(oracle, longest) / max(1, runs[0].reachable), 1.0)
        recalls.append(_curve("oracle", best, reference=True))
    sliding = f"mean of the last {window} pages"
    precision = [Curve(run.name, *precision_recall_curve(run)) for run in runs]
    return (
        Panel("Harvest rate", pages, "share on topic", _curves(runs, harvest_curve)),
        Panel("Target recall", pages, "share of reachable targets", tuple(recalls)),
        Panel(
            "Sliding relevance",
            pages,
            sliding,
            tuple(_curve(run.name, sliding_relevance(run, window)) for run in runs),
        ),
        Panel("Precision and recall", "recall", "precision", tuple(precision)),
    )


def harvest_and_recall(
    runs: Sequence[CrawlRecord], *, oracle: NDArray[np.int64] | None = None
) -> tuple[Panel, Panel]:
    """Harvest rate and target recall side by side."""
    harvest, recall, *_ = crawl_panels(runs, oracle=oracle)
    return harvest, recall


def averaged_panels(
    runs: Mapping[str, Sequence[CrawlRecord]], random: np.random.Generator, *, budget: int, window: int = 200
) -> tuple[Panel, Panel]:
    """Sliding harvest and recall of strategies, averaged over topics, with 0.95 bootstrap bands.

    Args:
        runs: The crawls of each strategy, one a topic.
        random: For the bootstrap.
        budget: Downloads to show; a shorter crawl keeps its last value.
        window: Pages of the sliding harvest.
    """
    recall: list[Curve] = []
    harvest: list[Curve] = []
    for name, records in runs.items():
        if not records:
            raise HoneyguideError(f"strategy {name!r} has no crawls to draw: run it on one topic at least")
        recall.append(_banded(name, [_padded(recall_curve(run), budget) for run in records], random))
        sliding = [_padded(sliding_harvest(run, window), budget) for run in records]
        harvest.append(_banded(name, sliding, random))
    return (
        Panel("Harvest rate", "pages fetched", f"share of the last {window} pages", tuple(harvest)),
        Panel("Target recall", "pages fetched", "share of reachable targets", tuple(recall)),
    )


def _curve(name: str, values: NDArray[np.float64], *, reference: bool = False) -> Curve:
    return Curve(name, np.arange(1.0, len(values) + 1.0), values, reference=reference)


def _curves(runs: Sequence[CrawlRecord], measure: Any) -> tuple[Curve, ...]:
    return tuple(_curve(run.name, measure(run)) for run in runs)


def _padded(values: NDArray[Any], length: int) -> NDArray[np.float64]:
    """The values cut or continued with their last one."""
    out = np.zeros(length)
    part = values[:length]
    out[: len(part)] = part
    if len(part):
        out[len(part) :] = part[-1]
    return out


def _banded(name: str, curves: list[NDArray[np.float64]], random: np.random.Generator) -> Curve:
    mean, low, high = bootstrap_band(np.stack(curves), random)
    x = np.arange(1.0, len(mean) + 1.0)
    return Curve(name, x, mean, low, high) if len(curves) > 1 else Curve(name, x, mean)
