"""From finished crawls to numbers: measures of each, means with intervals, paired tests.

Everything here is deterministic: the same cells give the same bytes. Times are kept elsewhere.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.errors import HoneyguideError
from honeyguide.lab.measures import CrawlRecord, bootstrap, measure, needed, paired_t_test, wilcoxon
from honeyguide.topic.file import nearest

Number: TypeAlias = float | int | None

MEASURES: dict[str, str] = {
    "area_of_oracle": "area / oracle's",
    "oracle_multiple_half": "times oracle's pages to 50 %",
    "oracle_multiple_nine_tenths": "times oracle's pages to 90 %",
    "recall": "recall",
    "harvest_rate": "harvest",
    "area": "area",
    "downloads_to_half": "pages to 50 %",
    "downloads_to_nine_tenths": "pages to 90 %",
    "requests_to_half": "requests to 50 %",
    "requests_to_nine_tenths": "requests to 90 %",
    "area_by_requests": "area / oracle's, by requests",
    "precision_at_0.1": "P at R=0.1",
    "precision_at_0.5": "P at R=0.5",
    "precision_at_1.0": "P at R=1.0",
    "f1_at_0.1": "F1 at R=0.1",
    "f1_at_0.5": "F1 at R=0.5",
    "f1_at_1.0": "F1 at R=1.0",
    "sum_of_information": "sum of information",
    "target_length": "target length",
    "pages": "pages",
    "requests": "requests",
    "bytes": "bytes",
}
"""All measures of a crawl, with their headings. The first three are the headline."""
LOWER_IS_BETTER = frozenset(
    name for name in MEASURES if name.startswith(("oracle_multiple", "downloads", "requests"))
) | {"target_length", "bytes", "pages"}
HEADLINE = ("area_of_oracle", "oracle_multiple_half", "oracle_multiple_nine_tenths")
DIGITS = 6
_ROUNDS = 10_000


class Row(msgspec.Struct, frozen=True):
    """One crawl."""

    web: str
    topic: str
    site: str
    group: str
    recipe: str
    repetition: int
    given: str
    reachable: int
    pages_in_reach: int
    nearest_target: int
    seeds: tuple[str, ...]
    measures: dict[str, Number]
    outcomes: dict[str, int]
    ended: str

    @property
    def pair(self) -> tuple[str, str, str, int]:
        """What rows of different recipes are compared by."""
        return self.web, self.topic, self.site, self.repetition


class Mean(msgspec.Struct, frozen=True):
    """A measure of one recipe over the topics of a group."""

    mean: float
    low: float
    high: float
    count: int
    """Crawls it is a mean of: those that got that far."""
    of: int


class Summary(msgspec.Struct, frozen=True):
    """One recipe over the topics of a group."""

    recipe: str
    group: str
    given: str
    measures: dict[str, Mean]


class Test(msgspec.Struct, frozen=True):
    """A recipe against the baseline over the same topics, by area of the oracle's."""

    recipe: str
    baseline: str
    difference: float
    low: float
    high: float
    t_test: float | None
    wilcoxon: float | None
    topics: int


class Results(msgspec.Struct, frozen=True):
    """Everything an experiment found; what `results.json` holds."""

    experiment: str
    title: str
    version: str
    webs: dict[str, str]
    rows: tuple[Row, ...] = ()
    summaries: tuple[Summary, ...] = ()
    tests: tuple[Test, ...] = ()
    tables: tuple[dict[str, Any], ...] = ()
    """Of a study."""
    notes: tuple[str, ...] = ()


def check_measure(name: str, also: Iterable[str] = ()) -> str:
    """The name itself, when there is such a measure."""
    known = [*MEASURES, *also]
    if name not in known:
        raise HoneyguideError(f"unknown measure {name!r}; {nearest(name, known)}")
    return name


def flat_measures(
    record: CrawlRecord, oracle: NDArray[np.int64], *, budget: int, requests: int
) -> dict[str, Number]:
    """All measures of a crawl by name, rounded."""
    found = measure(record, oracle, budget=budget)
    values: dict[str, Any] = msgspec.structs.asdict(found)
    values.pop("ordering_seconds_per_page")
    for key in ("precision_at", "f1_at"):
        for recall, value in values.pop(key).items():
            values[f"{key}_{recall}"] = value
    values["requests"] = requests
    spent = by_request(record)
    for name, share in (("half", 0.5), ("nine_tenths", 0.9)):
        place = int(np.searchsorted(spent, needed(record.reachable, share)))
        values[f"requests_to_{name}"] = place + 1 if place < len(spent) else None
    values["area_by_requests"] = _area_ratio(spent, oracle, record.reachable, budget)
    return {name: _rounded(values[name]) for name in MEASURES}


def by_request(record: CrawlRecord) -> NDArray[np.int64]:
    """Targets found after each request: pages, redirects, errors, robots.txt and questions to sources."""
    total = record.fetched[-1].requests if record.fetched else 0
    found = np.zeros(total, dtype=np.int64)
    for page in record.fetched:
        if page.on_target and page.requests:
            found[page.requests - 1] += 1
    return np.cumsum(found)


def _area_ratio(hits: NDArray[np.int64], oracle: NDArray[np.int64], reachable: int, budget: int) -> float:
    def total(curve: NDArray[np.int64]) -> int:
        part = curve[:budget]
        return int(part.sum()) + (int(part[-1]) * (budget - len(part)) if len(part) else 0)

    best = total(oracle)
    return total(hits) / best if best and reachable else 0.0


def _rounded(value: Number) -> Number:
    return round(value, DIGITS) if isinstance(value, float) else value


def summarise(rows: Sequence[Row], recipes: Sequence[str]) -> tuple[Summary, ...]:
    """Means over all topics (group `all`) and over each group, with 0.95 bootstrap intervals."""
    groups = ["all", *dict.fromkeys(row.group for row in rows)]
    if len(groups) == 2:
        groups = ["all"]
    found = []
    for group in groups:
        for recipe in recipes:
            mine = [row for row in rows if row.recipe == recipe and group in ("all", row.group)]
            if mine:
                names = dict.fromkeys(name for row in mine for name in row.measures)
                means = {name: mean for name in names if (mean := _mean(mine, name)) is not None}
                given = joined({row.given for row in mine})
                found.append(Summary(recipe, group, given, means))
    return tuple(found)


def joined(given: Iterable[str]) -> str:
    """Several descriptions as one, where only a number differs.

    Example:
        >>> joined(["keywords, 290 texts (same site)", "keywords, 310 texts (same site)"])
        'keywords, 290-310 texts (same site)'
    """
    texts = sorted(set(given))
    split = [re.split(r"(\d[\d,]*)", text) for text in texts]
    if len({tuple(parts[::2]) for parts in split}) != 1:
        return " / ".join(texts)
    merged = []
    for place, column in enumerate(zip(*split, strict=True)):
        numbers = sorted(set(column), key=lambda text: (len(text), text))
        merged.append(column[0] if place % 2 == 0 or len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}")
    return "".join(merged)


def _mean(rows: Sequence[Row], name: str) -> Mean | None:
    """Mean over topics; repetitions of a topic are averaged first."""
    topics: dict[tuple[str, str, str], list[float]] = {}
    for row in rows:
        value = row.measures.get(name)
        if value is not None:
            topics.setdefault(row.pair[:3], []).append(float(value))
    if not topics:
        return None
    values = [math.fsum(one) / len(one) for one in topics.values()]
    got = bootstrap(values, np.random.default_rng(1), rounds=_ROUNDS)
    everything = len({row.pair[:3] for row in rows})
    mean, low, high = (round(value, DIGITS) for value in (got.mean, got.low, got.high))
    return Mean(mean, low, high, len(values), everything)


def tests_against(rows: Sequence[Row], recipes: Sequence[str], baseline: str) -> tuple[Test, ...]:
    """Every recipe against the baseline."""
    return tuple(
        paired(
            values_of(rows, recipe, "area_of_oracle"),
            values_of(rows, baseline, "area_of_oracle"),
            recipe,
            baseline,
        )
        for recipe in recipes
        if recipe not in (baseline, "oracle")
    )


def values_of(rows: Iterable[Row], recipe: str, name: str) -> dict[tuple[str, str, str], float]:
    """A measure of a recipe by topic, repetitions averaged; crawls that did not get that far are left out."""
    topics: dict[tuple[str, str, str], list[float]] = {}
    for row in rows:
        value = row.measures.get(name)
        if row.recipe == recipe and value is not None:
            topics.setdefault(row.pair[:3], []).append(float(value))
    return {topic: math.fsum(values) / len(values) for topic, values in topics.items()}


def paired(first: Mapping[Any, float], second: Mapping[Any, float], recipe: str, baseline: str) -> Test:
    """First minus second over the topics that both have."""
    topics = [topic for topic in first if topic in second]
    if not topics:
        raise HoneyguideError(f"{recipe} and {baseline} have no topic in common; run both on the same topics")
    a, b = [first[topic] for topic in topics], [second[topic] for topic in topics]
    got = bootstrap([x - y for x, y in zip(a, b, strict=True)], np.random.default_rng(1), rounds=_ROUNDS)
    t = w = None
    if len(topics) > 1:
        t = round(paired_t_test(a, b).p_value, DIGITS)
        w = round(wilcoxon(a, b).p_value, DIGITS)
    mean, low, high = (round(value, DIGITS) for value in (got.mean, got.low, got.high))
    return Test(recipe, baseline, mean, low, high, t, w, len(topics))


def to_json(results: Results) -> bytes:
    """As written to disk: the same bytes for the same results."""
    return msgspec.json.format(msgspec.json.encode(results, order="deterministic"), indent=1) + b"\n"
