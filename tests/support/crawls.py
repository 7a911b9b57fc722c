"""Crawls of a small generated web, in process, for the engine's tests."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from honeyguide.collection.collection import Collection
from honeyguide.config.load import changed
from honeyguide.config.schema import Config
from honeyguide.engine.clock import VirtualClock
from honeyguide.job.crawl import Crawl, as_config
from honeyguide.lab.webs.generated import GeneratedFetcher, GeneratedWeb, WebSpec, seeds
from honeyguide.lab.webs.generated.walk import graph
from honeyguide.model import Event, Topic

SPEC = WebSpec(seed=5, hosts=40, pages=900, topics=5)
WEB = GeneratedWeb(SPEC)
TOPIC_NAME = WEB.topics[0]


def small_topic() -> Topic:
    """A topic of the small web."""
    return Topic(
        TOPIC_NAME,
        keywords=tuple(WEB.keywords(TOPIC_NAME)[:8]),
        seeds=tuple(seeds(WEB, TOPIC_NAME, distance=2)),
    )


def small_crawl(
    out: Path | None,
    *,
    recipe: str = "best-first",
    max_pages: int = 200,
    model: str | None = None,
    **options: Any,
) -> Crawl:
    """A crawl that replays bit for bit; `model` names another page model than the recipe's."""
    clock = VirtualClock()
    fetcher = GeneratedFetcher(WEB, clock)
    topic: Topic | Config = small_topic()
    if model is not None:
        topic = changed(as_config(small_topic(), None, {}), {"relevance": {"model": model}})
    return Crawl(topic, out=out, recipe=recipe, clock=clock, fetcher=fetcher, max_pages=max_pages, **options)


async def finish(crawl: Crawl) -> list[Event]:
    """Run to the end; its events."""
    return [event async for event in crawl.run()]


@lru_cache(maxsize=1)
def linking() -> dict[str, list[str]]:
    """For each page of the small web, the pages that link to it."""
    back: dict[str, list[str]] = {}
    for source, targets in graph(WEB, small_topic().seeds).items():
        for target in targets:
            back.setdefault(target, []).append(source)
    return back


class Index:
    """What a search engine would know of the generated web; counts its questions."""

    def __init__(self) -> None:
        self.questions = 0

    def backlinks(
        self, url: str, coverage: float | None = None, *, limit: int | None = None
    ) -> tuple[str, ...]:
        self.questions += 1
        return tuple(linking().get(url, ())[:limit])


def journal(folder: Path) -> bytes:
    """A collection's journal: equal crawls have equal ones."""
    with Collection.open(folder) as collection:
        collection.state.dump_journal(folder / "journal.jsonl")
    return (folder / "journal.jsonl").read_bytes()
