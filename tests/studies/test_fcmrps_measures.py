from __future__ import annotations

import pytest

from honeyguide.lab.measures import CrawlRecord, Fetched
from honeyguide.lab.measures.extras import Finished, find_extra
from honeyguide.lab.runner.load import load_experiment
from honeyguide.lab.runner.situation import Situation, Task

URLS = (
    "http://en.example/sports/lanqiu.html",
    "http://en.example/sports/x.html",
    "http://zh.example/tax.html",
    "http://zh.example/basketball/",
)


def finished(*, grades: tuple[float, ...], hits: tuple[bool, ...]) -> Finished:
    task = Task("w", "t", ("sports",), (), taxonomy="Sports|体育/Basketball|篮球")
    there = Situation(task, URLS[:1], frozenset(URLS), {}, (), (), 4, 0)
    fetched = tuple(Fetched(n, hit, grade) for n, (hit, grade) in enumerate(zip(hits, grades, strict=True)))
    record = CrawlRecord(fetched, len(URLS))
    # State, crawler and parts are open while a real crawl is measured; these measures look at none of them.
    nothing = dict.fromkeys(("state", "crawler", "model", "order"))
    return Finished(situation=there, record=record, urls=URLS, events=(), **nothing)  # type: ignore[arg-type]


def measured(name: str, crawl: Finished) -> dict[str, float]:
    return dict(find_extra(f"fcmrps_measures:{name}")(crawl))


def test_precision_by_description_counts_high_cosines() -> None:
    crawl = finished(grades=(0.5, 0.21, 0.2, 0.0), hits=(True,) * 4)
    assert measured("by_description", crawl) == {"precision_by_description": 0.5}


def test_tokens_of_topic_and_context_are_told_apart() -> None:
    crawl = finished(grades=(0.5, 0.5, 0.0, 0.0), hits=(True, True, True, True))
    assert measured("tokens_in_urls", crawl) == pytest.approx(
        {
            "targets_with_topic_token": 0.5,
            "targets_with_context_token": 0.25,
            "described_with_topic_token": 0.5,
            "described_with_context_token": 0.5,
        }
    )
    none = finished(grades=(0.0,) * 4, hits=(False,) * 4)
    assert set(measured("tokens_in_urls", none).values()) == {0.0}


def test_languages_are_told_by_host() -> None:
    crawl = finished(grades=(0.0,) * 4, hits=(True, False, True, True))
    assert measured("languages_reached", crawl) == {"targets_english": 1.0, "targets_chinese": 2.0}


def test_the_experiment_has_what_the_study_asks_for() -> None:
    experiment = load_experiment("studies/fcmrps.toml").experiment
    assert sum(entry.count for entry in experiment.generate) >= 15
    assert {entry.levels for entry in experiment.generate} == {2, 3}
    assert len({topic.labels for topic in experiment.topics}) == 8
    assert {topic.sites for topic in experiment.topics} == {("en-us",), ("zh-cn",), ()}
    rows = {recipe.name for recipe in experiment.recipes}
    assert {"breadth-first", "best-first", "shark-fcmrps", "fcmrps", "fcmrps13", "fcmrps124"} <= rows
