"""Collections to be damaged, and a web to go on with them: a small generated one, in virtual time."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import msgspec

from honeyguide.collection.collection import Collection
from honeyguide.config.schema import Config
from honeyguide.engine.clock import VirtualClock
from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.generated import GeneratedFetcher, GeneratedWeb, WebSpec, seeds
from honeyguide.model import Topic
from honeyguide.store.layout import Layout
from honeyguide.store.reviews import FILE as REVIEWS
from honeyguide.store.reviews import add_review
from honeyguide.store.state import State

SPEC = WebSpec(seed=11, hosts=20, pages=300, topics=3)
PAGES = 40
MOST = 70
"""Where a crawl that goes on ends."""
FORMATS = ("jsonl", "csv", "warc", "wacz", "gexf", "opml", "datasheet", "parquet")


class Subject(msgspec.Struct, frozen=True):
    """A sound collection, and what it holds."""

    name: str
    folder: Path
    pages: tuple[tuple[str, str], ...]
    """Address and digest of each page, in order of fetching."""
    archive: dict[str, bytes]
    """What was committed of each archive file."""
    kept: dict[str, bytes]
    """Files that nobody but their user changes."""


def take_up(config: Config | Topic, folder: Path, *, pages: int = MOST) -> str:
    """Crawl into a folder, or go on there; why it stopped."""
    crawl = _crawl(config, folder, pages)

    async def everything() -> None:
        async for _ in crawl.run():
            pass

    asyncio.run(everything())
    return crawl.reason


def make_subjects(folder: Path) -> list[Subject]:
    """Two collections: one whose crawl ended in order, and one as a killed crawl leaves it."""
    ended, killed = folder / "ended", folder / "killed"
    web = GeneratedWeb(SPEC)
    name = web.topics[0]
    topic = Topic(name, keywords=tuple(web.keywords(name)[:8]), seeds=tuple(seeds(web, name, distance=2)))
    take_up(topic, ended, pages=PAGES // 2)
    take_up(topic, ended, pages=PAGES)
    with Collection.open(ended) as collection:
        urls = [page.url for page in collection.pages(relevant=None)]
    for number, url in enumerate(urls[:4]):
        add_review(ended, "accept" if number % 2 else "reject", at=float(number), url=url)
    shutil.copytree(ended, killed)

    async def interrupted() -> None:
        crawl = _crawl(topic, killed, PAGES + 30)
        images = 0
        async for _ in crawl.run():
            # An image of the disk as it is in mid-crawl: a log beside the state, a tail behind the archive.
            if crawl.tally.pages > PAGES and not images:
                images += 1
                shutil.copytree(killed, folder / "image")

    asyncio.run(interrupted())
    shutil.rmtree(killed)
    (folder / "image").rename(killed)
    return [_looked_at(ended), _looked_at(killed)]


def _crawl(topic: Config | Topic, folder: Path, pages: int) -> Crawl:
    clock = VirtualClock()
    return Crawl(
        topic, out=folder, clock=clock, fetcher=GeneratedFetcher(GeneratedWeb(SPEC), clock), max_pages=pages
    )


def committed_pages(folder: Path) -> tuple[tuple[str, str], ...]:
    """Address and digest of each page of a collection, from its state."""
    with State.open(Layout(folder).state_file, read_only=True) as state:
        return tuple((page.url, page.digest) for page in state.pages())


def _looked_at(folder: Path) -> Subject:
    layout = Layout(folder)
    pages = committed_pages(folder)
    with State.open(layout.state_file, read_only=True) as state:
        name, end = msgspec.convert(state.setting("archive_end"), tuple[str, int])
    archive = {path.name: path.read_bytes() for path in layout.archive_folder.glob("*.warc.gz")}
    archive[name] = archive[name][:end]
    kept = {path.name: path.read_bytes() for path in (layout.topic_file, folder / REVIEWS)}
    return Subject(folder.name, folder, pages, archive, kept)
