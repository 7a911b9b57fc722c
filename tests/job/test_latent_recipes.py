"""HCLA and PLSI+PHITS through the engine: live use, resume, `why`."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from honeyguide.cli.why import why
from honeyguide.collection.collection import Collection
from honeyguide.config.load import check_values
from honeyguide.engine.clock import VirtualClock
from honeyguide.errors import TopicError
from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.generated import GeneratedFetcher

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from crawls import TOPIC_NAME, WEB, finish, small_crawl, small_topic


@pytest.fixture(scope="module")
def background(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """120 text files, each on one subject of the generated web."""
    folder = tmp_path_factory.mktemp("background")
    chance = random.Random(4)
    for number in range(120):
        subject = WEB.topics[number % len(WEB.topics)]
        words = [chance.choice(WEB.keywords(subject)) for _ in range(40)]
        (folder / f"{number:03d}.txt").write_text(" ".join(words))
    return folder


def crawl_of(out: Path | None, background: Path, recipe: str, *, pages: int, **ordering: Any) -> Crawl:
    topic = small_topic()
    values = {
        "topic": {
            "name": TOPIC_NAME,
            "keywords": list(topic.keywords),
            "background": [str(background / "*.txt")],
        },
        "crawl": {"seeds": list(topic.seeds), "recipe": recipe, "max_pages": pages},
        "relevance": {"k": 8},
        "ordering": ordering,
    }
    return in_process(values, out=out)


def in_process(values: Any, out: Path | None = None) -> Crawl:
    clock = VirtualClock()
    return Crawl(check_values(values), out=out, clock=clock, fetcher=GeneratedFetcher(WEB, clock))


OPTIONS: dict[str, dict[str, Any]] = {
    "hcla": {"reorder_every": 20, "anchor_terms": True},
    "plsi-phits": {"reorder_every": 20, "factors": 8},
}


def journal(folder: Path) -> bytes:
    with Collection.open(folder) as collection:
        collection.state.dump_journal(folder / "journal.jsonl")
    return (folder / "journal.jsonl").read_bytes()


@pytest.mark.parametrize("recipe", OPTIONS)
async def test_resumed_crawls_go_the_same_way(tmp_path: Path, background: Path, recipe: str) -> None:
    options = OPTIONS[recipe]
    await finish(crawl_of(tmp_path / "once", background, recipe, pages=130, **options))
    for pages in (33, 70, 130):
        await finish(crawl_of(tmp_path / "parts", background, recipe, pages=pages, **options))
    whole = journal(tmp_path / "once")
    assert whole.count(b'"kind":"page"') == 130
    assert whole.count(b'"kind":"reorder"') == 6
    assert whole == journal(tmp_path / "parts")


@pytest.mark.parametrize("recipe", OPTIONS)
async def test_they_find_more_than_breadth_first(background: Path, recipe: str) -> None:
    targets = set(WEB.targets(TOPIC_NAME))
    crawls = (
        crawl_of(None, background, recipe, pages=200, **OPTIONS[recipe]),
        small_crawl(None, recipe="breadth-first"),
    )
    found, at_random = [
        sum(event.url in targets for event in await finish(crawl) if event.kind == "page") for crawl in crawls
    ]
    assert found > at_random


@pytest.mark.parametrize("recipe", OPTIONS)
async def test_why_names_the_pages_and_words_that_pulled_a_url_up(
    tmp_path: Path, background: Path, recipe: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = {**OPTIONS[recipe], "reorder_every": 10}
    for pages in (33, 60):  # addresses found before the stop got new priorities after it
        await finish(crawl_of(tmp_path / "out", background, recipe, pages=pages, **options))
    with Collection.open(tmp_path / "out") as collection:
        urls = [collection.state.url_by_row(row) for row in range(1, 200)]
        waiting = [url.url for url in urls if url is not None and url.status.name == "WAITING"]
        fetched = {page.url for page in collection.pages(relevant=None)}
    for url in waiting:
        why(tmp_path / "out", url, json=True)
        story = json.loads(capsys.readouterr().out)
        told = story["order"]
        if told:
            break
    linking = dict(told["pages"])
    assert linking
    assert set(linking) <= fetched
    if recipe == "hcla":
        assert story["priority"] == pytest.approx(told["score"], abs=1e-5)
    assert told["terms"]
    why(tmp_path / "out", url)
    shown = capsys.readouterr().out
    assert next(iter(linking))[:30] in shown
    assert str(told["terms"][0][0]) in shown


@pytest.mark.parametrize("recipe", OPTIONS)
async def test_bad_input_is_refused_before_the_crawl(tmp_path: Path, background: Path, recipe: str) -> None:
    one = tmp_path / "one"
    one.mkdir()
    (one / "a.txt").write_text("a single text of some words")
    with pytest.raises(TopicError, match="add files to 'background'"):
        await finish(crawl_of(None, one, recipe, pages=5))
    topic: dict[str, object] = {"name": "x", "keywords": ["zzyzx"], "background": [str(background / "*.txt")]}
    values = {"topic": topic, "crawl": {"seeds": list(small_topic().seeds), "recipe": recipe}}
    with pytest.raises(TopicError, match="no word of the topic"):
        await finish(in_process(values))
    values["topic"] = {"name": "x", "keywords": ["owl"]}
    with pytest.raises(TopicError, match="needs background or examples"):
        await finish(in_process(values))
