from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest
from crawls import TOPIC_NAME, WEB, finish

from honeyguide.cli import main
from honeyguide.collection.collection import Collection
from honeyguide.config.recipes import Part
from honeyguide.engine.clock import VirtualClock
from honeyguide.job.crawl import Crawl
from honeyguide.job.parts import blocks_for
from honeyguide.lab.webs.generated import GeneratedFetcher, examples, seeds
from honeyguide.model import Topic
from honeyguide.parse.base import BlockOptions
from honeyguide.relevance.tf_cosine import TfCosine

EXAMPLES = Topic(TOPIC_NAME, examples=tuple(examples(WEB, TOPIC_NAME, 10)))
"""Ten addresses and nothing else: the crawl begins at them."""
FAR = msgspec.structs.replace(EXAMPLES, seeds=tuple(seeds(WEB, TOPIC_NAME, distance=2)))


def crawl_of(
    out: Path | None,
    recipe: str = "cbp-slc",
    *,
    topic: Topic = FAR,
    max_pages: int = 150,
    **options: Any,
) -> Crawl:
    clock = VirtualClock()
    return Crawl(
        topic,
        out=out,
        recipe=recipe,
        clock=clock,
        fetcher=GeneratedFetcher(WEB, clock),
        max_pages=max_pages,
        **options,
    )


def journal(folder: Path) -> bytes:
    with Collection.open(folder) as collection:
        collection.state.dump_journal(folder / "journal.jsonl")
    return (folder / "journal.jsonl").read_bytes()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cbp") / "whole"
    asyncio.run(_finish(crawl_of(folder)))
    return folder


async def _finish(crawl: Crawl) -> None:
    await finish(crawl)


async def test_ten_examples_and_nothing_else_find_the_topic(whole: Path) -> None:
    plain = crawl_of(None, "breadth-first", max_pages=150)
    events = await finish(plain)
    with Collection.open(whole) as collection:
        urls = [page.url for page in collection.pages(relevant=None)]
    targets = set(WEB.targets(TOPIC_NAME))
    hits = sum(url in targets for url in urls)
    breadth = sum(event.url in targets for event in events if event.kind == "page")
    assert hits > 1.5 * breadth


async def test_stopping_changes_nothing(tmp_path: Path, whole: Path) -> None:
    for pages in (35, 80, 150):
        await finish(crawl_of(tmp_path / "parts", max_pages=pages))
    assert journal(tmp_path / "parts") == journal(whole)


def test_why_names_the_rule_and_shows_the_blocks(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Collection.open(whole) as collection:
        pages = list(collection.pages(relevant=True))
        story = next(told for page in pages if (told := collection.why(page.url)).factors.get("rule") == 1.0)
    assert story.factors["block"] >= 0.5
    assert story.memo == {"rule": story.factors["rule"]}
    assert main(["why", str(whole), story.url, "--blocks"]) == 0
    out = capsys.readouterr().out
    assert "priority, rule" in out
    assert "block\tscore\tlinks\tadmitted" in out


def test_page_blocks_draws_a_page_of_the_collection(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Collection.open(whole) as collection:
        url = next(iter(collection.pages(relevant=True))).url
    picture = tmp_path / "blocks.png"
    assert main(["page", "blocks", url, "--collection", str(whole), "--png", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out.startswith("block\tscore")


async def test_keep_rejected_goes_on_where_the_paper_stops() -> None:
    strict, kept = crawl_of(None, max_pages=60), crawl_of(None, max_pages=60)
    strict.recipe = msgspec.structs.replace(strict.recipe, ordering=Part("cbp-slc"))
    await finish(strict)
    await finish(kept)
    # No seed has a relevant block: the published strategy ends with them.
    assert strict.tally.pages == len(FAR.seeds)
    assert kept.tally.pages == 60


@pytest.mark.parametrize("recipe", ["cbp-slc", "cbp", "slc"])
async def test_ten_addresses_are_enough(recipe: str) -> None:
    crawl = crawl_of(None, recipe, topic=EXAMPLES, max_pages=60)
    await finish(crawl)
    assert crawl.tally.relevant >= 10


async def test_works_with_another_page_model() -> None:
    crawl = crawl_of(None, topic=EXAMPLES, relevance=TfCosine(), max_pages=60)
    await finish(crawl)
    assert crawl.tally.relevant > 10


def test_blocks_are_cut_as_the_options_say() -> None:
    part = Part("cbp", {"alpha": 0.25, "block_tags": "paper"})
    assert blocks_for(part) == BlockOptions(0.25, "paper", 4000)
    assert blocks_for(Part("slc", {"context": 500})) == BlockOptions(context=500)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["page", "blocks", "no-such-file.html"], "no-such-file.html"),
        (["page", "blocks", "x.html", "--alpha", "2"], "--alpha must be above 0"),
        (["page", "blocks", "x.html", "--collection", "nowhere"], "nowhere"),
    ],
)
def test_bad_input_gets_one_line(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert problem in said
    assert said.count("\n") == 1
