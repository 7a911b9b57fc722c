"""Backlinks as evidence of scout: asked about each hit, weighed, kept, and told again after a crash."""

from __future__ import annotations

from pathlib import Path

import pytest
from crawls import WEB, Index, finish, journal, linking, small_topic

from honeyguide.engine import crawler, rejudging
from honeyguide.engine.clock import VirtualClock
from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.generated import GeneratedFetcher
from honeyguide.model import Event
from honeyguide.ordering.scout import Scout
from honeyguide.store.layout import Layout
from honeyguide.store.state import State
from honeyguide.web import url_id


def backlink_crawl(out: Path | None, pages: int, index: Index | None = None) -> Crawl:
    clock = VirtualClock()
    config = Crawl(small_topic(), recipe="scout-backlinks", max_pages=pages).config
    fetcher = GeneratedFetcher(WEB, clock)
    return Crawl(config, out=out, clock=clock, fetcher=fetcher, services={"web": index or Index()})


OUTSIDE = "http://outside.example/" + "deep/" * 40


class Outsiders(Index):
    """Names a page with every answer that the crawl may not ask for."""

    def backlinks(
        self, url: str, coverage: float | None = None, *, limit: int | None = None
    ) -> tuple[str, ...]:
        return (OUTSIDE, *super().backlinks(url, coverage, limit=limit))


def named(events: list[Event]) -> dict[str, list[str]]:
    """Pages that the service named, each with the hits it links to."""
    found: dict[str, list[str]] = {}
    for event in events:
        if event.kind == "suggest":
            urls, targets = event.data["urls"], event.data.get("links_to", [])
            assert isinstance(urls, list)
            assert isinstance(targets, list)
            for url, target in zip(urls, targets, strict=True):
                found.setdefault(url, []).append(target)
    return found


def order_of(crawl: Crawl) -> Scout:
    assert crawl.crawler is not None
    order = crawl.crawler.order
    assert isinstance(order, Scout)
    return order


def held_of(order: Scout) -> dict[int, float]:
    """The worth of hits that each waiting URL is said to link to."""
    urls, held = order._urls, order._held
    waiting = urls.state[:held] == 1
    return dict(zip(urls.id[:held][waiting].tolist(), urls.topic[:held, 4][waiting].tolist(), strict=True))


async def test_pages_that_link_to_hits_wait_for_their_turn(tmp_path: Path) -> None:
    crawl = backlink_crawl(tmp_path / "c", 60)
    events = await finish(crawl)
    said = named(events)
    assert said
    assert all(url in linking()[target] for url, targets in said.items() for target in targets)
    fetched = {event.url for event in events if event.kind == "page"}
    assert not said.keys() <= fetched, "no page is fetched only because it links to a hit"
    waiting = held_of(order_of(crawl))
    worth = {url: waiting[url_id(url)] for url in said if url_id(url) in waiting}
    assert worth
    assert all(0.0 < worth[url] <= len(said[url]) for url in worth)
    most = max(worth, key=lambda url: worth[url])
    reason = next(one for one in order_of(crawl).contributions(most) if one.name == "pages it links to")
    assert "said to link to pages on topic" in reason.fact


async def test_a_slow_machine_gives_the_same_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("fast", 1e9), ("slow", -1.0)):  # others have their turn never, and after each page
        monkeypatch.setattr(crawler, "AT_A_STRETCH", seconds)
        monkeypatch.setattr(rejudging, "AT_A_STRETCH", seconds)
        await finish(backlink_crawl(tmp_path / name, 60))
    assert journal(tmp_path / "fast") == journal(tmp_path / "slow")


async def test_stop_and_resume_give_the_same_journal(tmp_path: Path) -> None:
    whole, parts = Index(), Index()
    events = await finish(backlink_crawl(tmp_path / "once", 90, whole))
    # Who stops at a page on topic does not hear who links to it: its budget is spent.
    off_topic = [event.data["number"] for event in events if event.data.get("on_topic") is False]
    for pages in (*(int(str(number)) for number in off_topic[1::4]), 90):
        await finish(backlink_crawl(tmp_path / "parts", pages, parts))
    assert journal(tmp_path / "once") == journal(tmp_path / "parts")
    assert whole.questions == parts.questions > 0


@pytest.mark.parametrize("checkpoint", [True, False], ids=["since a checkpoint", "before the first"])
async def test_after_a_crash_the_order_hears_of_backlinks_again(tmp_path: Path, *, checkpoint: bool) -> None:
    out = tmp_path / "c"
    await finish(backlink_crawl(out, 35))
    with State.open(Layout.open(out).state_file) as state:
        before = {name: state.setting(name) for name in ("checkpoint", "checkpoint_event")}
    crawl = backlink_crawl(out, 80)
    await finish(crawl)
    known = held_of(order_of(crawl))
    with State.open(Layout.open(out).state_file) as state:  # as if it had died before the next checkpoint
        for name, value in before.items():
            state.put_setting(name, value if checkpoint else None)
        state.commit()
    again = backlink_crawl(out, 80)
    await finish(again)
    found = held_of(order_of(again))
    said = {url for url, worth in known.items() if worth}
    assert said <= {url for url, worth in found.items() if worth}, "none is forgotten"
    assert sum(found.values()) == pytest.approx(sum(known.values()), rel=0.1), "and none is told twice"


async def test_addresses_that_the_crawl_refused_are_not_heard_of_again(tmp_path: Path) -> None:
    out = tmp_path / "c"
    await finish(backlink_crawl(out, 35, Outsiders()))
    with State.open(Layout.open(out).state_file) as state:
        state.put_setting("checkpoint", None)
        state.commit()
    again = backlink_crawl(out, 36, Outsiders())
    await finish(again)
    assert url_id(OUTSIDE) not in held_of(order_of(again))
