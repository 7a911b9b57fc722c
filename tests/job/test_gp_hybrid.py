"""The GP hybrid crawler end to end: recipe by name, generated web, search engine of its own."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from crawls import TOPIC_NAME, WEB, finish, small_topic

from honeyguide.collection.collection import Collection
from honeyguide.engine.clock import VirtualClock
from honeyguide.fetch.decode import codings, decode
from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.generated import GeneratedFetcher
from honeyguide.model import Document, Event, Examples, Page
from honeyguide.ordering.accepted import REJECTED
from honeyguide.parse.base import ParseJob
from honeyguide.parse.html import parse_page


def document(url: str) -> Document | None:
    answer = WEB.get(url)
    if answer.status != 200:
        return None
    coding = next((value for name, value in answer.headers if name.lower() == "content-encoding"), "")
    body, _ = decode(answer.body, codings(coding), 1 << 24)
    parsed = parse_page(ParseJob(url, body, "text/html; charset=utf-8"))
    return Document(parsed.text, parsed.title, url) if isinstance(parsed, Page) else None


@lru_cache(maxsize=1)
def examples() -> Examples:
    def some(topic: str, count: int) -> tuple[Document, ...]:
        found = (document(url) for url in WEB.targets(topic))
        return tuple(one for _, one in zip(range(count), filter(None, found), strict=False))

    others = tuple(one for topic in WEB.topics[1:4] for one in some(topic, 8))
    return Examples(keywords=small_topic().keywords, positives=some(TOPIC_NAME, 15), negatives=others)


class Engine:
    """A search engine that knows every target, and finds ten by the words of the query."""

    def __init__(self) -> None:
        self._targets = list(WEB.targets(TOPIC_NAME))

    def search(self, query: str, limit: int = 10) -> list[Document]:
        first = sum(query.encode()) % len(self._targets)
        return [Document("", "", url) for url in self._targets[first : first + limit]]


def gp_crawl(out: Path | None, *, recipe: str = "gp-hybrid", engine: bool = True, **options: Any) -> Crawl:
    clock = VirtualClock()
    return Crawl(
        small_topic(),
        out=out,
        recipe=recipe,
        clock=clock,
        fetcher=GeneratedFetcher(WEB, clock),
        examples=examples(),
        services={"web": Engine()} if engine else None,
        **options,
    )


def of_kind(events: list[Event], kind: str) -> list[Event]:
    return [event for event in events if event.kind == kind]


async def test_every_query_is_in_the_journal_and_its_pages_are_fetched(tmp_path: Path) -> None:
    events = await finish(gp_crawl(tmp_path / "c", max_pages=130))
    asked = of_kind(events, "suggest")
    assert asked
    assert all(str(event.data["note"]).startswith("query ") for event in asked)
    suggested = {url for event in asked for url in event.data["urls"]}  # type: ignore[attr-defined]
    fetched = [event.url for event in of_kind(events, "page")]
    assert len(fetched) == 130
    assert suggested & set(fetched)
    with Collection.open(tmp_path / "c") as collection:
        stories = [collection.why(url) for url in fetched if url in suggested]
    found = next(story for story in stories if story.path[0].source == "meta-search")
    assert found.memo["fusion"] > 0.0
    assert found.facts["neighbours"] > 0
    assert found.terms


async def test_links_of_rejected_pages_are_dropped(tmp_path: Path) -> None:
    pages = of_kind(await finish(gp_crawl(tmp_path / "c", recipe="gp", max_pages=120)), "page")
    accepted = {event.url for event in pages if event.data["on_topic"]}
    assert 0 < len(accepted) < len(pages)
    with Collection.open(tmp_path / "c") as collection:
        stories = [collection.why(event.url) for event in pages]
        dropped = [collection.state.url_by_row(row) for row in range(1, collection.state.columns().size + 1)]
    for story in stories:
        for parent, step in pairwise(story.path):
            assert step.source != "link" or parent.url in accepted or parent.source == "seed"
    assert any(one is not None and one.reason == REJECTED for one in dropped)


@pytest.mark.parametrize("recipe", ["gp-hybrid", "gp-deepening"])
async def test_resume_gives_the_same_journal(tmp_path: Path, recipe: str) -> None:
    await finish(gp_crawl(tmp_path / "once", recipe=recipe, max_pages=120))
    for pages in (35, 77, 120):
        await finish(gp_crawl(tmp_path / "parts", recipe=recipe, max_pages=pages))
    journals = []
    for name in ("once", "parts"):
        with Collection.open(tmp_path / name) as collection:
            collection.state.dump_journal(tmp_path / f"{name}.jsonl")
        journals.append((tmp_path / f"{name}.jsonl").read_bytes())
    assert journals[0].count(b'"meta-search"') >= 2
    assert journals[0] == journals[1]


async def test_without_an_engine_the_crawl_goes_on_and_says_so() -> None:
    events = await finish(gp_crawl(None, engine=False, max_pages=110))
    assert len(of_kind(events, "page")) > 20
    warnings = of_kind(events, "warning")
    assert [event.data["note"] for event in warnings] == [
        "no search engine is named; add engines = [...] to [[discovery]]"
    ]


async def test_meta_search_reaches_more_of_the_topic() -> None:
    found = {}
    for recipe in ("gp", "gp-hybrid"):
        events = await finish(gp_crawl(None, recipe=recipe, max_pages=150))
        targets = set(WEB.targets(TOPIC_NAME))
        found[recipe] = sum(event.url in targets for event in of_kind(events, "page"))
    assert found["gp-hybrid"] > found["gp"]
