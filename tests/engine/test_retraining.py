from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest
from crawls import WEB, finish, small_crawl, small_topic

from honeyguide.collection.collection import Collection
from honeyguide.engine.clock import WallClock
from honeyguide.engine.control import ask
from honeyguide.engine.retraining import applied
from honeyguide.fetch.base import Failure, Request, Response
from honeyguide.job.apply_reviews import apply_reviews
from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.generated import GeneratedFetcher
from honeyguide.model import Outcome
from honeyguide.store.records import PageRecord
from honeyguide.store.reviews import add_review, undo_review
from honeyguide.web import host_key


def waiting(folder: Path) -> dict[str, float]:
    """Priorities of the waiting URLs."""
    with Collection.open(folder) as collection:
        columns = collection.state.columns()
        rows = np.flatnonzero(columns.status[1 : columns.size + 1] == Outcome.WAITING) + 1
        return {collection.state.url_text(int(row)): float(columns.priority[row]) for row in rows}


def fetched(folder: Path) -> list[PageRecord]:
    with Collection.open(folder) as collection:
        return list(collection.pages(relevant=None))


def learned(folder: Path) -> list[dict[str, object]]:
    with Collection.open(folder) as collection:
        return [event.data for event in collection.state.events(kind="learned") if "decisions" in event.data]


def review_against_the_model(folder: Path, count: int = 6) -> list[str]:
    """Reject what the model likes best and accept what it likes least, to be sure to see a change."""
    pages = sorted((page for page in fetched(folder) if page.text_bytes > 200), key=lambda page: page.score)
    for page in pages[-count:]:
        add_review(folder, "reject", url=page.url, at=1.0)
    for page in pages[:count]:
        add_review(folder, "accept", url=page.url, at=1.0)
    return [page.url for page in pages[-count:]]


@pytest.mark.parametrize("recipe", ["best-first", "shark-search", "link-context", "ache-like"])
async def test_reviews_of_a_stopped_crawl_change_the_order_of_the_frontier(
    tmp_path: Path, recipe: str
) -> None:
    out = tmp_path / "crawl"
    await finish(small_crawl(out, recipe=recipe, max_pages=80))
    before, pages = waiting(out), {page.url: page for page in fetched(out)}
    rejected = review_against_the_model(out)
    told = apply_reviews(out)
    assert told["reviews"] == 12
    after = waiting(out)
    assert after.keys() == before.keys()
    assert sorted(after, key=after.__getitem__) != sorted(before, key=before.__getitem__)
    now = {page.url: page for page in fetched(out)}
    for url in rejected:
        assert not now[url].on_topic
        assert now[url].score < pages[url].score
    with Collection.open(out) as collection:
        assert collection.state.check() == []
        assert collection.status().relevant == sum(page.on_topic for page in now.values())
        assert applied(collection.state.setting("reviews")).written == 12


async def test_a_resumed_crawl_takes_reviews_in_once_and_keeps_them(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    await finish(small_crawl(out, max_pages=80))
    review_against_the_model(out)
    await finish(small_crawl(out, max_pages=120))
    assert len(learned(out)) == 1
    job = small_crawl(out, max_pages=140)
    await finish(job)
    assert len(learned(out)) == 1
    assert job.crawler is not None
    assert job.crawler.model.reviews == 12  # type: ignore[attr-defined]


async def test_a_stop_half_way_costs_the_work_and_not_the_decisions(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    await finish(small_crawl(out, model="tf-cosine", max_pages=80))
    review_against_the_model(out)
    await finish(small_crawl(out, model="tf-cosine", max_pages=81))
    with Collection.open(out) as collection:
        assert applied(collection.state.setting("reviews")).written == 0
    assert learned(out) == []
    await finish(small_crawl(out, model="tf-cosine", max_pages=130))
    assert len(learned(out)) == 1
    with Collection.open(out) as collection:
        assert collection.state.check() == []
        assert collection.status().relevant == sum(page.on_topic for page in collection.pages())


@pytest.mark.parametrize("pages", [60, 75])
async def test_pages_that_the_crawl_judges_again_meanwhile_are_counted_once(
    tmp_path: Path, pages: int
) -> None:
    """The model learns from new pages while the reviews are taken in, and turns verdicts, too."""
    out = tmp_path / "crawl"
    await finish(small_crawl(out, max_pages=pages))
    review_against_the_model(out)
    await finish(small_crawl(out, max_pages=pages + 150))
    assert len(learned(out)) == 1
    with Collection.open(out) as collection:
        assert collection.status().relevant == sum(page.on_topic for page in collection.pages())


async def test_undoing_everything_brings_the_old_order_back(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    # A model that learns while it crawls would rank the links of early pages otherwise today.
    await finish(small_crawl(out, model="tf-cosine", max_pages=80))
    before = waiting(out)
    page = fetched(out)[10]
    add_review(out, "reject", url=page.url, at=1.0)
    apply_reviews(out)
    assert waiting(out) != before
    undo_review(out, at=2.0)
    apply_reviews(out)
    after = waiting(out)
    # Targets of redirects had the priority of what redirected to them; now they have that of their links.
    assert sum(abs(after[url] - before[url]) > 1e-6 for url in before) <= 2
    assert {one.url: one.on_topic for one in fetched(out)}[page.url] == page.on_topic


async def test_a_rejected_host_goes_behind_all_others_until_it_is_undone(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    await finish(small_crawl(out, max_pages=80))
    hosts = [host_key(url) for url in waiting(out)]
    host = max(set(hosts), key=hosts.count)
    add_review(out, "reject", host=host, upto=80, at=1.0)
    apply_reviews(out)
    with Collection.open(out) as collection:
        penalties = {one.name: penalty for one, penalty in collection.state.hosts()}
    assert penalties[host] > 0
    assert not any(page.on_topic for page in fetched(out) if host_key(page.url) == host)
    undo_review(out, at=2.0)
    apply_reviews(out)
    with Collection.open(out) as collection:
        penalties = {one.name: penalty for one, penalty in collection.state.hosts()}
    assert penalties[host] == 0


async def test_without_reviews_nothing_is_written(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    await finish(small_crawl(out, max_pages=60))
    assert apply_reviews(out) == {}
    with Collection.open(out) as collection:
        assert collection.state.setting("reviews") is None
    assert learned(out) == []


class Slow:
    """The generated web, a little slower, on the real clock."""

    def __init__(self) -> None:
        self._inner = GeneratedFetcher(WEB, WallClock())

    async def fetch(self, request: Request) -> Response | Failure:
        await asyncio.sleep(0.01)
        return await self._inner.fetch(request)

    async def close(self) -> None:
        await self._inner.close()


@pytest.mark.realtime
async def test_a_running_crawl_takes_reviews_in(tmp_path: Path) -> None:
    """On the real clock; the portal's side is the file and the counter in the control file."""
    out = tmp_path / "crawl"
    job = Crawl(small_topic(), out=out, fetcher=Slow(), max_pages=5000, parse_workers=1, concurrency=4)
    seen: list[dict[str, object]] = []
    said = False
    async with asyncio.timeout(60):
        async for event in job.run():
            if event.kind == "learned" and "decisions" in event.data:
                seen.append(event.data)
                job.stop()
            if job.tally.pages >= 60 and not said:
                said = True
                review_against_the_model(out)
                ask(out, reviews=12)
    assert seen
    assert seen[0]["reviews"] == 12
    assert int(str(seen[0]["changed"])) > 0
    with Collection.open(out) as collection:
        assert collection.state.check() == []
        assert collection.status().relevant == sum(page.on_topic for page in collection.pages())
