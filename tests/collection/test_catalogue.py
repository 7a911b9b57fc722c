from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from honeyguide.collection.catalogue import Catalogue, Sort, Wanted
from honeyguide.collection.collection import Collection
from honeyguide.collection.overview import frontier_scores, harvest_curve, look, rate_curve
from honeyguide.model import Outcome, Verdict
from honeyguide.store.records import PageRecord
from honeyguide.store.state import State
from honeyguide.testing.made_collection import MadeCollection

HOSTS = ("a.example", "www.b.example", "b.example:8080", "ab.example")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = random.Random(3)
    out = tmp_path_factory.mktemp("catalogue") / "made"
    with MadeCollection(out) as made:
        for number in range(400):
            host = rng.choice(HOSTS)
            made.page(
                f"http://{host}/{number}", host=host, title=f"page {number}", text="words",
                score=rng.random(), on_topic=rng.random() < 0.4, language=rng.choice(("en", "de", "")),
                at=1e9 + number / 10,
            )  # fmt: skip
            made.address(f"http://{host}/w{number}", host=host, priority=rng.random())
        made.dropped("http://a.example/no", outcome=Outcome.ROBOTS, reason="Disallow: /")
        made.address("http://seed.example/", host="seed.example", priority=1e6)
    return out


def catalogue_of(collection: Collection) -> Catalogue:
    catalogue = Catalogue()
    assert catalogue.refresh(collection.state) == 400
    assert catalogue.refresh(collection.state) == 0
    return catalogue


@pytest.mark.parametrize(
    ("wanted", "passes"),
    [
        (Wanted(), lambda page: True),
        (Wanted(on_topic=True), lambda page: page.on_topic),
        (Wanted(on_topic=False, language="de"), lambda page: not page.on_topic and page.language == "de"),
        (Wanted(host="b.example"), lambda page: "://www.b.e" in page.url or "://b.e" in page.url),
        (Wanted(host="B.EXAMPLE:8080"), lambda page: "://b.example:8080/" in page.url),
        (Wanted(least=0.3, most=0.6), lambda page: 0.3 <= page.score <= 0.6),
        (Wanted(since=1e9 + 10, until=1e9 + 20), lambda page: 1e9 + 10 <= page.at < 1e9 + 20),
        (Wanted(language="xx"), lambda page: False),
    ],
)
def test_filters_as_a_plain_scan_would(folder: Path, wanted: Wanted, passes: object) -> None:
    assert callable(passes)
    with Collection.open(folder) as collection:
        expected = [page.row for page in collection.pages(relevant=None) if passes(page)]
        catalogue = catalogue_of(collection)
        assert catalogue.find(wanted, sort="oldest").tolist() == expected
        assert catalogue.find(wanted).tolist() == expected[::-1]


@pytest.mark.parametrize("sort", ["best", "worst"])
def test_order_by_score(folder: Path, sort: Sort) -> None:
    def key(page: PageRecord) -> tuple[float, int]:
        return (-page.score if sort == "best" else page.score, page.number)

    with Collection.open(folder) as collection:
        expected = [page.row for page in sorted(collection.pages(), key=key)]
        assert catalogue_of(collection).find(Wanted(on_topic=True), sort=sort).tolist() == expected


def test_counts(folder: Path) -> None:
    with Collection.open(folder) as collection:
        catalogue = catalogue_of(collection)
        pages = list(collection.pages(relevant=None))
    assert sum(count for _, count in catalogue.language_counts()) == 400
    assert dict(catalogue.host_counts())["a.example"] == sum(
        page.on_topic and "://a.example/" in page.url for page in pages
    )
    assert [count for _, count in catalogue.host_counts()] == sorted(
        (count for _, count in catalogue.host_counts()), reverse=True
    )


def test_an_overview_agrees_with_the_status(folder: Path) -> None:
    with Collection.open(folder) as collection:
        status = collection.status()
        seen = look(collection.state, Catalogue(), now=None)
    assert (seen.pages, seen.relevant, seen.known, seen.waiting) == (400, status.relevant, status.known, 401)
    assert {end.name: end.urls for end in seen.outcomes} == status.outcomes
    assert seen.known == seen.waiting + sum(end.urls for end in seen.outcomes)
    assert seen.rate == pytest.approx(400 / 60)
    assert seen.curve[-1].pages == 400
    assert seen.curve[-1].relevant == seen.relevant
    assert seen.curve[-1].recent == pytest.approx(seen.recent_harvest, abs=1e-4)
    assert sum(line.waiting for line in seen.frontier_hosts) == 401
    assert [page.number for page in seen.last_pages] == list(range(400, 388, -1))
    assert [(drop.outcome, drop.reason) for drop in seen.last_drops] == [
        ("Disallowed by robots.txt", "Disallow: /")
    ]


def test_seeds_do_not_stretch_the_scores(folder: Path) -> None:
    with Collection.open(folder) as collection:
        bins = frontier_scores(collection.state.columns())
    assert (bins[0].low, bins[-1].high) == (0.0, 1.0)
    assert sum(one.waiting for one in bins) == 401


def test_curves_of_little() -> None:
    assert harvest_curve(np.zeros(0, np.bool_)) == []
    assert harvest_curve(np.array([True]))[0].recent == 1.0
    assert rate_curve(np.array([5.0])) == []
    assert rate_curve(np.array([5.0, 5.0])) == []
    assert sum(rate for _, rate in rate_curve(np.arange(0.0, 100.0))) > 0


def test_counts_agree_after_pages_were_judged_anew(tmp_path: Path) -> None:
    """Tiles, hosts and curve are of the verdicts as they stand, not as they were when a page came."""
    with MadeCollection(tmp_path / "made") as made:
        rows = [made.page(f"http://a.example/{number}", host="a.example") for number in range(12)]
    catalogue = Catalogue()
    with Collection.open(tmp_path / "made") as collection:
        assert look(collection.state, catalogue, now=None).relevant == 12
        with State.open(tmp_path / "made" / "state.sqlite") as state:
            for row in rows[:7]:
                state.change_verdict(row, Verdict(0.1, False))
            state.append_event("learned", "", {"verdicts": 7}, at=1.0)
            state.commit()
        seen = look(collection.state, catalogue, now=None)
    assert (seen.relevant, seen.curve[-1].relevant) == (5, 5)
    assert [(host.fetched, host.relevant) for host in seen.largest_hosts] == [(12, 5)]
    assert catalogue.host_counts() == [("a.example", 5)]
