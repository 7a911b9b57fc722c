from __future__ import annotations

from pathlib import Path

import numpy as np
from crawls import finish, small_crawl

from honeyguide.collection.collection import Collection
from honeyguide.collection.estimate import Evidence, estimate, estimate_of


def saturating(pages: int, *, total: int = 300, left: int = 800) -> Evidence:
    """A crawl whose chances fall as its priorities do: best first, as a good order would."""
    chances = 0.9 * np.exp(-np.arange(4000) / (total / 0.9))
    hits = np.random.default_rng(1).random(4000) < chances
    return Evidence(hits[:pages], chances[:pages], chances[pages : pages + left])


def test_the_estimate_nears_the_truth_and_its_interval_narrows() -> None:
    truth = int(saturating(4000).relevant.sum())
    errors, widths = [], []
    for pages in (1600, 2000, 2500):
        made = estimate(saturating(pages, left=4000 - pages))
        assert made is not None
        assert made.found == saturating(pages).relevant.sum()
        assert made.share_low <= made.share <= made.share_high <= 1.0
        assert made.total_low <= truth <= made.total_high
        errors.append(abs(made.total - truth))
        widths.append(made.total_high - made.total_low)
    assert errors == sorted(errors, reverse=True)
    assert widths == sorted(widths, reverse=True)
    assert errors[-1] < 0.05 * truth


def test_it_says_when_to_stop_and_when_not() -> None:
    young, old = estimate(saturating(1200, left=2000)), estimate(saturating(2500, left=100))
    assert young is not None
    assert old is not None
    assert not young.stop
    assert "can stop" not in young.advice
    assert old.stop
    assert "can stop" in old.advice


def test_it_is_too_early_while_most_is_ahead_or_new_urls_come_as_fast_as_they_are_fetched() -> None:
    assert estimate(saturating(250, left=3000)) is None
    plain = saturating(1200, left=500)
    assert estimate(plain) is not None
    growing = Evidence(plain.relevant, plain.priorities, plain.waiting, growth=0.95)
    assert estimate(growing) is None


def test_nothing_waiting_means_all_is_found() -> None:
    made = estimate(Evidence(np.ones(40, np.bool_), np.ones(40), np.zeros(0)))
    assert made is not None
    assert (made.share, made.stop, made.total) == (1.0, True, 40.0)


def test_no_estimate_from_a_few_pages_or_without_a_relevant_one() -> None:
    assert estimate(Evidence(np.ones(10, np.bool_), np.ones(10), np.ones(5))) is None
    assert estimate(Evidence(np.zeros(100, np.bool_), np.ones(100), np.ones(5))) is None


def test_urls_that_give_no_page_lower_it_and_new_ones_raise_it() -> None:
    plain = saturating(1200, left=500)
    fewer = Evidence(plain.relevant, plain.priorities, plain.waiting, yielded=0.5)
    more = Evidence(plain.relevant, plain.priorities, plain.waiting, growth=0.5)
    made = [one for one in (estimate(fewer), estimate(plain), estimate(more)) if one]
    for ends in ([one.total for one in made], [one.total_high for one in made]):
        assert ends == sorted(ends)
        assert len(set(ends)) == 3


async def test_it_reads_a_crawl(tmp_path: Path) -> None:
    await finish(small_crawl(tmp_path / "crawl", max_pages=5000))
    with Collection.open(tmp_path / "crawl") as collection:
        made = estimate_of(collection.state)
        status = collection.status()
    assert made is not None
    assert made.found == made.total == status.relevant
    assert made.stop
