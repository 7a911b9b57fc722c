from __future__ import annotations

import io
import json
import random
import tarfile
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from computing_documents import load_set
from gp_classify import GP, run
from gp_measures import communities, first_pages
from honeyguide.errors import HoneyguideError
from honeyguide.lab.measures import CrawlRecord, Fetched
from honeyguide.lab.measures.extras import Finished
from honeyguide.lab.runner.load import load_experiment
from honeyguide.lab.runner.recorded_world import open_world
from honeyguide.lab.runner.situation import Situation, Task
from honeyguide.lab.runner.study import DataFinder
from honeyguide.model import Event

COMPUTING, OTHER = (
    ["disk", "driver", "kernel", "window", "modem", "file"],
    ["goal", "church", "engine", "orbit", "senate", "verse"],
)
COMMON = [f"word{number}" for number in range(30)]


def post(source: random.Random, words: list[str]) -> str:
    body = " ".join(source.choice(words if source.random() < 0.2 else COMMON) for _ in range(30))
    return f"From: x\nSubject: Re: {source.choice(words + COMMON)}\n\n{body}\n"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> DataFinder:
    """Small archives in the form of the real ones."""
    root = tmp_path_factory.mktemp("data")
    source = random.Random(1)
    (root / "text").mkdir()

    def archive(name: str, files: dict[str, str]) -> None:
        with tarfile.open(root / "text" / name, "w:gz") as made:
            for path, text in files.items():
                info = tarfile.TarInfo(path)
                info.size = len(text.encode())
                made.addfile(info, io.BytesIO(text.encode()))

    posts = {f"n/20/comp.x/{number}": post(source, COMPUTING) for number in range(150)}
    posts |= {f"n/20/rec.y/{number}": post(source, OTHER) for number in range(250)}
    archive("20newsgroups.tar.gz", posts)
    few = {"title": ["a"], "description": ["b"], "keywords": []}
    sites = {"meta": [few], "dmoz_categories": [["computers"]], "urls": ["http://a.example/"]}
    archive("directory.tar.gz", {"dmoz_meta2398/meta.json": json.dumps(sites)})
    return DataFinder((root,))


def small(**more: Any) -> dict[str, object]:
    return {
        "sets": ["newsgroups"], "samples": [30], "repetitions": {"newsgroups": 2}, "population": 20,
        "generations": 2, "k": 5, **more,
    }  # fmt: skip


def test_classes_are_balanced_and_titles_are_subjects(data: DataFinder) -> None:
    collection, about = load_set("newsgroups", data)
    assert collection.classes.sum() == 150
    assert len(collection.documents) == 300
    assert "150 documents of each class" in about
    assert "re" not in collection.documents[0].title
    with pytest.raises(HoneyguideError, match="get the whole data set"):
        load_set("dmoz-sites", data)
    with pytest.raises(HoneyguideError, match="no set"):
        load_set("reuters", data)


def test_the_study_compares_all_classifiers(data: DataFinder) -> None:
    told: list[str] = []
    result = run(small(), data=data, progress=told.append, jobs=1)
    table, tests = result.tables
    assert [row[0] for row in table.rows[:5]] == [
        GP, "content SVM (RBF)", "content SVM (LIBSVM's defaults)", "combined-kernel SVM",
        "linear SVM, tuned",
    ]  # fmt: skip
    assert len(table.rows) == 11
    scores = {str(row[0]): float(str(row[3])) for row in table.rows}
    assert scores[GP] > 60.0
    assert scores["linear SVM, tuned"] > 70.0
    assert len(tests.rows) == 10
    assert len(told) == 2
    again = run(small(), data=data, progress=told.append, jobs=2)
    assert again.tables == result.tables


def test_the_experiment_files_can_be_read() -> None:
    for name in ("studies/gp-classify.toml", "studies/gp-crawl.toml"):
        assert load_experiment(name)


def crawl(web: str, labels: tuple[str, ...], pages: list[tuple[str, bool, bool]], **more: Any) -> Finished:
    """A finished crawl from (URL, on target, said to be on topic)."""
    situation = Situation(
        task=Task(web, "t", labels, ()),
        seeds=(),
        targets=frozenset(more.get("targets", ())),
        links={},
        examples=tuple(more.get("examples", ())),
        negatives=(),
        budget=10,
        nearest_target=0,
    )
    record = CrawlRecord(tuple(Fetched(number, on) for number, (_, on, _) in enumerate(pages)), len(pages))
    events = tuple(
        Event(number, 0.0, "page", url, {"on_topic": said}) for number, (url, _, said) in enumerate(pages, 1)
    )
    none: Any = None
    return Finished(situation, record, tuple(url for url, _, _ in pages), events, none, none, none, none)


def test_macro_f1_of_the_first_pages_by_hand() -> None:
    pages = [
        ("a", True, True),
        ("b", True, False),
        ("c", False, False),
        ("d", False, True),
        ("e", False, True),
    ]
    found = first_pages(crawl("x", (), pages, examples=("e",)))  # e was shown: right to be accepted
    assert found["first_500_f1_on"] == pytest.approx(2 * 2 / (3 + 3))
    assert found["first_500_f1_off"] == pytest.approx(2 * 1 / (2 + 2))
    assert found["first_500_macro_f1"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    many = [("a", True, True)] * 500 + [("b", True, False)] * 500
    assert first_pages(crawl("x", (), many))["first_500_f1_on"] == 1.0


def test_communities_are_labels_with_a_target_fetched() -> None:
    web = "generated:5:300"
    world = open_world(web)
    topics = sorted({label for labels in world.labels.values() for label in labels})[:3]
    by_topic = {
        topic: list(islice((url for url, labels in world.labels.items() if labels == (topic,)), 4))
        for topic in topics
    }
    targets = [url for urls in by_topic.values() for url in urls]
    fetched = [*by_topic[topics[0]][:2], by_topic[topics[1]][0]]
    pages = [(url, True, True) for url in fetched] + [(by_topic[topics[2]][0], False, True)]
    found = communities(crawl(web, tuple(topics), pages, targets=targets))
    assert found == {"communities_reached": 2.0, "communities_half": 1.0}


def test_real_newsgroups(shared_data: Path) -> None:
    collection, about = load_set("dmoz-sites", DataFinder((shared_data,)))
    assert "214 documents" in about
    assert collection.classes.mean() == 0.5
