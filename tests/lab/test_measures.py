from __future__ import annotations

import math

import numpy as np
import pytest

from honeyguide.errors import HoneyguideError
from honeyguide.lab import measures
from honeyguide.lab.measures import CrawlRecord, Fetched, measure

# Ten pages, targets at downloads 2, 3, 6 and 10 of five that are reachable.
TARGETS = (2, 3, 6, 10)
RECORD = CrawlRecord(
    tuple(
        Fetched(
            n,
            n in TARGETS,
            relevance=0.9 if n in TARGETS else 0.1,
            depth=n // 2,
            bytes=100 * n,
            requests=2 * n,
        )
        for n in range(1, 11)
    ),
    reachable=5,
    ordering_seconds=0.05,
)
ORACLE = np.array([0, 1, 2, 3, 4, 5])


def test_harvest_rate_and_curve() -> None:
    assert measures.harvest_rate(RECORD) == 0.4
    assert measures.harvest_curve(RECORD)[:4].tolist() == [0, 0.5, 2 / 3, 0.5]


def test_sliding_windows() -> None:
    assert measures.sliding_harvest(RECORD, 4).tolist() == pytest.approx(
        [0, 1 / 2, 2 / 3, 2 / 4, 2 / 4, 2 / 4, 1 / 4, 1 / 4, 1 / 4, 1 / 4]
    )
    assert measures.sliding_relevance(RECORD, 2)[1:3].tolist() == pytest.approx([0.5, 0.9])
    assert measures.sliding_harvest(RECORD)[-1] == pytest.approx(0.4)


def test_recall_curve() -> None:
    assert measures.recall_curve(RECORD).tolist() == [0, 0.2, 0.4, 0.4, 0.4, 0.6, 0.6, 0.6, 0.6, 0.8]


def test_precision_and_f1_at_recall() -> None:
    # Recall 0.1 needs one target (download 2), 0.5 needs three (download 6), 1.0 needs five.
    assert measures.precision_at_recall(RECORD, 0.1) == 0.5
    assert measures.precision_at_recall(RECORD, 0.5) == 0.5
    assert measures.precision_at_recall(RECORD, 1.0) is None
    assert measures.f1_at_recall(RECORD, 0.5) == pytest.approx(2 * 0.5 * 0.6 / 1.1)
    assert measures.f1_at_recall(RECORD, 1.0) is None


def test_needed_is_not_fooled_by_binary_fractions() -> None:
    assert measures.needed(30, 0.1) == 3
    assert measures.needed(10, 0.7) == 7
    assert measures.needed(7, 0.5) == 4
    assert measures.needed(3, 0.1) == 1


def test_precision_recall_curve_stands_at_targets() -> None:
    recall, precision = measures.precision_recall_curve(RECORD)
    assert recall.tolist() == [0.2, 0.4, 0.6, 0.8]
    assert precision.tolist() == [1 / 2, 2 / 3, 3 / 6, 4 / 10]


def test_sum_of_information_and_target_length() -> None:
    assert measures.sum_of_information(RECORD) == pytest.approx(4 * 0.9 + 6 * 0.1)
    assert measures.target_length(RECORD) == 1 + 1 + 3 + 5


def test_downloads_to() -> None:
    assert measures.downloads_to(RECORD, 0.5) == 6
    assert measures.downloads_to(RECORD, 0.8) == 10
    assert measures.downloads_to(RECORD, 0.9) is None


def test_area_under_recall() -> None:
    hits = RECORD.hits()
    assert hits.tolist() == [0, 1, 2, 2, 2, 3, 3, 3, 3, 4]
    assert measures.area_under_recall(hits, 5, 10) == pytest.approx(23 / 50)
    assert measures.area_under_recall(hits, 5, 3) == pytest.approx(3 / 15)
    # A crawl that ends early keeps its recall.
    assert measures.area_under_recall(hits, 5, 12) == pytest.approx((23 + 8) / 60)


def test_against_the_oracle() -> None:
    oracle_area = (0 + 1 + 2 + 3 + 4 + 5 * 5) / 50
    assert measures.area_of_oracle(RECORD, ORACLE, 10) == pytest.approx(23 / 50 / oracle_area)
    assert measures.oracle_multiple(RECORD, ORACLE, 0.5) == 6 / 4
    assert measures.oracle_multiple(RECORD, ORACLE, 0.9) is None


def test_measure_joins_them() -> None:
    result = measure(RECORD, ORACLE)
    assert (result.pages, result.recall, result.bytes, result.requests) == (10, 0.8, 5500, 20)
    assert result.precision_at == {"0.1": 0.5, "0.5": 0.5, "1.0": None}
    assert (result.downloads_to_half, result.downloads_to_nine_tenths) == (6, None)
    assert result.area == pytest.approx(0.46)
    assert result.oracle_multiple_half == 1.5
    assert result.ordering_seconds_per_page == pytest.approx(0.005)
    assert measure(RECORD).area_of_oracle is None
    assert measure(RECORD, ORACLE, budget=12).area == pytest.approx(31 / 60)


def test_empty_crawl() -> None:
    result = measure(CrawlRecord((), reachable=5), ORACLE)
    assert (result.pages, result.harvest_rate, result.recall, result.area) == (0, 0.0, 0.0, 0.0)
    assert result.downloads_to_half is None


def test_targets_counted_twice_are_refused() -> None:
    with pytest.raises(HoneyguideError, match="count each target once"):
        measure(CrawlRecord((Fetched(1, True), Fetched(1, True)), reachable=1))


def test_bootstrap_is_seeded_and_covers_the_mean() -> None:
    values = [0.1, 0.2, 0.3, 0.4]
    interval = measures.bootstrap(values, np.random.default_rng(7))
    assert interval == measures.bootstrap(values, np.random.default_rng(7))
    assert interval.mean == pytest.approx(0.25)
    # Standard error of the mean with n in the denominator: sqrt(0.0125 / 4) = 0.0559.
    assert interval.low == pytest.approx(0.25 - 1.96 * 0.0559, abs=0.02)
    assert interval.high == pytest.approx(0.25 + 1.96 * 0.0559, abs=0.02)
    with pytest.raises(HoneyguideError, match="at least one topic"):
        measures.bootstrap([], np.random.default_rng(7))


def test_bootstrap_band_equals_bootstrap_of_each_point() -> None:
    curves = np.array([[0.1, 1.0], [0.2, 1.0], [0.3, 1.0], [0.4, 1.0]])
    mean, low, high = measures.bootstrap_band(curves, np.random.default_rng(7), rounds=10_000)
    assert mean.tolist() == pytest.approx([0.25, 1.0])
    assert low[0] == pytest.approx(0.14, abs=0.02)
    assert high[1] == pytest.approx(1.0)


def test_paired_t_test_by_hand() -> None:
    # Differences 1, 2, 3: mean 2, standard deviation 1, t = 2 * sqrt(3), two degrees of freedom,
    # where p = 1 - t / sqrt(2 + t * t).
    t = 2 * math.sqrt(3)
    result = measures.paired_t_test([1, 2, 3], [0, 0, 0])
    assert result.difference == 2
    assert result.p_value == pytest.approx(1 - t / math.sqrt(2 + t * t))


def test_wilcoxon_by_hand() -> None:
    # Five differences of one sign and no ties: 2 of the 2 ** 5 signings are as extreme.
    result = measures.wilcoxon([1, 2, 3, 4, 5], [0, 0, 0, 0, 0])
    assert result.p_value == pytest.approx(2 / 32)


def test_tests_without_variance() -> None:
    assert measures.paired_t_test([1, 2], [1, 2]).p_value == 1.0
    assert measures.wilcoxon([1, 2], [1, 2]).p_value == 1.0
    assert measures.paired_t_test([2, 3], [1, 2]).p_value == 0.0
    with pytest.raises(HoneyguideError, match="same topics"):
        measures.wilcoxon([1, 2], [1])
