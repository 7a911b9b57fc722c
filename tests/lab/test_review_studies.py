from __future__ import annotations

from honeyguide.lab.experiments.estimate import run as run_estimate
from honeyguide.lab.experiments.review import run as run_review
from honeyguide.lab.runner.load import load_experiment
from honeyguide.lab.runner.study import DataFinder


def quiet(_: str) -> None:
    """No progress."""


def test_the_experiments_are_there() -> None:
    for name in ("review", "estimate", "verdicts", "verdicts-quick", "verdicts-uneven"):
        assert load_experiment(name).experiment.study == name.partition("-")[0]


def test_the_estimate_is_compared_with_what_the_whole_crawl_finds() -> None:
    options: dict[str, object] = {"experiments": ("quick",), "most_topics": 1, "shares": (50, 75)}
    found = run_estimate(options, data=DataFinder(), progress=quiet, jobs=1)
    summary, detail = found.tables
    assert [row[2] for row in summary.rows] == ["50 %", "75 %"]
    for row in detail.rows:
        assert 0.0 < float(str(row[3])) <= 1.0
        assert row[5] == ("too early" if row[4] is None else "True")
    assert any(row[4] is not None and abs(float(str(row[4]))) < 0.5 for row in detail.rows)


def test_reviews_improve_the_ranking_of_other_pages() -> None:
    options: dict[str, object] = {
        "experiment": "quick",
        "models": ("tf-cosine",),
        "crawl_pages": 100,
        "others": 80,
        "reviews": 10,
    }
    found = run_review(options, data=DataFinder(), progress=quiet, jobs=1)
    (table,) = found.tables
    assert len(table.rows) == 2
    for row in table.rows:
        before, after = float(str(row[2])), float(str(row[3]))
        assert 0.0 <= before <= 1.0
        assert after >= before - 0.05
        assert float(str(row[4])) == round(after - before, 3)
