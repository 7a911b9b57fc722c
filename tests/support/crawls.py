"""Crawls of a small generated web, in process, for the engine's tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from honeyguide.engine.clock import VirtualClock
from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.generated import GeneratedFetcher, GeneratedWeb, WebSpec, seeds
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
    out: Path | None, *, recipe: str = "best-first", max_pages: int = 200, **options: Any
) -> Crawl:
    """A crawl that replays bit for bit."""
    clock = VirtualClock()
    fetcher = GeneratedFetcher(WEB, clock)
    return Crawl(
        small_topic(), out=out, recipe=recipe, clock=clock, fetcher=fetcher, max_pages=max_pages, **options
    )


async def finish(crawl: Crawl) -> list[Event]:
    """Run to the end; its events."""
    return [event async for event in crawl.run()]
