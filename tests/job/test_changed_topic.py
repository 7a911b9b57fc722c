from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from crawls import WEB, finish, small_crawl, small_topic

from honeyguide.collection.collection import Collection
from honeyguide.config.load import load
from honeyguide.engine.clock import VirtualClock
from honeyguide.errors import CollectionError
from honeyguide.job.changed_topic import OnChange, take_topic, topic_changes
from honeyguide.job.crawl import Crawl, as_config
from honeyguide.lab.webs.generated import GeneratedFetcher
from honeyguide.model import Outcome

OTHER = msgspec.structs.replace(small_topic(), keywords=tuple(WEB.keywords(WEB.topics[1])[:8]))
PAGES = 60


def again(out: Path, on_change: OnChange = "ask", max_pages: int = PAGES) -> Crawl:
    """Go on with a crawl for other keywords."""
    clock = VirtualClock()
    fetcher = GeneratedFetcher(WEB, clock)
    return Crawl(
        OTHER,
        out=out,
        recipe="best-first",
        clock=clock,
        fetcher=fetcher,
        max_pages=max_pages,
        on_change=on_change,
    )


def verdicts(folder: Path) -> dict[str, float]:
    with Collection.open(folder) as collection:
        return {page.url: page.score for page in collection.pages(relevant=None)}


def priorities(folder: Path) -> dict[int, float]:
    with Collection.open(folder) as collection:
        columns = collection.state.columns()
        return {
            row: float(columns.priority[row])
            for row in range(1, columns.size + 1)
            if columns.status[row] == Outcome.WAITING
        }


async def test_other_keywords_are_noticed_and_nothing_is_touched(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    await finish(small_crawl(out, max_pages=PAGES))
    before = verdicts(out)
    with pytest.raises(CollectionError, match=r"\[topic\] keywords: .* -> .*on_change"):
        again(out)
    assert verdicts(out) == before
    assert load(out / "topic.toml").topic.keywords == small_topic().keywords


async def test_keep_goes_on_with_the_old_topic(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    await finish(small_crawl(out, max_pages=PAGES))
    crawl = again(out, "keep", PAGES + 20)
    assert crawl.config.topic.keywords == small_topic().keywords
    await finish(crawl)
    assert len(verdicts(out)) == PAGES + 20


async def test_rejudge_gives_every_page_and_waiting_url_what_the_new_topic_says(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    await finish(small_crawl(out, max_pages=PAGES))
    before, order = verdicts(out), priorities(out)
    await finish(again(out, "rejudge"))  # the budget is spent: judged again all the same
    after = verdicts(out)
    assert set(after) == set(before)
    assert sum(abs(after[url] - before[url]) > 0.05 for url in before) > 10
    assert sum(abs(priorities(out)[row] - order[row]) > 0.05 for row in order) > 10
    assert load(out / "topic.toml").topic.keywords == OTHER.keywords
    with Collection.open(out) as collection:
        *_, told = (one.data for one in collection.state.events(kind="learned"))
    assert told["pages"] == PAGES
    await finish(again(out, "ask", PAGES + 20))  # no longer a change
    assert len(verdicts(out)) == PAGES + 20


async def test_what_a_crash_left_undone_is_done_by_the_next_session(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    await finish(small_crawl(out, max_pages=PAGES))
    before = verdicts(out)
    take_topic(out, again(out, "rejudge").config)
    assert verdicts(out) == before
    await finish(again(out))
    assert sum(abs(score - before[url]) > 0.05 for url, score in verdicts(out).items()) > 10


def test_limits_and_manners_are_not_a_change_of_topic() -> None:
    held = as_config(small_topic(), "best-first", {"max_pages": 10})
    assert topic_changes(held, as_config(small_topic(), "best-first", {"max_pages": 20})) == []
    (change,) = topic_changes(held, as_config(small_topic(), "shark-search", {"max_pages": 10}))
    assert str(change) == "[crawl] recipe: best-first -> shark-search"
