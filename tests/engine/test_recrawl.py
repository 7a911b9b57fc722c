"""A collection is visited again, over real HTTP: what is the same, changed, gone, and new."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from changing import SITE, ChangingWeb, come_back, serving, topic, words
from consistency import check_consistent
from loopback import crawl_all, outcome_of, redirect

from honeyguide.collection.collection import Collection
from honeyguide.engine.clock import VirtualClock
from honeyguide.engine.prospects import prospects
from honeyguide.engine.revisits import NOTHING_DUE
from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.served import Served
from honeyguide.model import Event, Outcome, Seen
from honeyguide.store.layout import Layout
from honeyguide.store.state import State
from honeyguide.web.url import url_id

pytestmark = pytest.mark.realtime


def first_web() -> ChangingWeb:
    web = ChangingWeb()
    web.pages = {
        "/": words("a list", ["/same", "/plain", "/text", "/nonce", "/gone", "/moved", "/shy"]),
        "/same": words("always the same, tawny"),
        "/plain": words("always the same, without validators, snowy"),
        "/text": words("the old words, pellets"),
        "/nonce": words("the same words", head="<meta name=nonce content=1>"),
        "/gone": words("not for long, ural"),
        "/moved": words("about to move, eagle"),
        "/shy": words("about to hide, pygmy"),
    }
    web.without_validators = {"/plain"}
    return web


def second_web(web: ChangingWeb) -> None:
    pages = ["/same", "/plain", "/text", "/nonce", "/gone", "/moved", "/shy", "/new"]
    web.pages |= {
        "/": words("a list", pages),
        "/text": words("quite other words, feathers"),
        "/nonce": words("the same words", head="<meta name=nonce content=2>"),
        "/moved": redirect(f"{SITE}/elsewhere", 301),
        "/elsewhere": words("has moved here, eagle"),
        "/shy": words("about to hide, pygmy", head="<meta name=robots content=noindex>"),
        "/new": words("new on the list, burrowing"),
    }
    del web.pages["/gone"]


def seen(events: list[Event]) -> dict[str, str]:
    return {
        event.url.removeprefix(SITE): str(event.data["what"]) for event in events if event.kind == "revisit"
    }


def row(collection: Collection, path: str) -> int:
    return collection.state.row_of(url_id(f"{SITE}{path}"))


async def test_everything_that_can_become_of_a_page(tmp_path: Path) -> None:
    web, out = first_web(), tmp_path / "out"
    async with serving(web) as server:
        config = topic(server)
        await crawl_all(config, out)
        web.asked()
        between = time.time()
        second_web(web)
        crawl, events = await come_back(config, out)
        answers = dict(web.asked())
    assert crawl.reason == NOTHING_DUE
    assert seen(events) == {
        "/": "changed",
        "/same": "same",
        "/plain": "same",
        "/text": "changed",
        "/nonce": "touched",
        "/gone": "gone",
        "/moved": "gone",
        "/shy": "touched",
    }
    assert answers["/same"] == 304  # asked with the validator that it was given
    assert answers["/plain"] == 200
    assert {event.url for event in events if event.kind == "page"} == {f"{SITE}/new", f"{SITE}/elsewhere"}
    assert outcome_of(out, f"{SITE}/gone") == (Outcome.GONE, "HTTP 404")
    assert outcome_of(out, f"{SITE}/moved")[0] is Outcome.GONE
    assert outcome_of(out, f"{SITE}/shy")[0] is Outcome.NOINDEX
    assert crawl.tally.pages == 10
    assert crawl.tally.revisits == 8
    with Collection.open(out) as collection:
        history = collection.state.history
        assert [visit.what for visit in history.visits_of(row(collection, "/text"))] == [
            Seen.FIRST,
            Seen.CHANGED,
        ]
        ((old, until),) = history.versions_of(row(collection, "/text"))
        new = collection.state.page_by_row(row(collection, "/text"))
        assert new is not None
        assert old.at < between < until == new.at
        assert old.number == new.number
        # The list links to the new page now, and still to the others.
        assert row(collection, "/new") in collection.state.links_of(row(collection, "/"))
        assert len(collection.state.links_of(row(collection, "/"))) == 8
        then = {page.url.removeprefix(SITE): page for page in collection.state.pages_as_of(between)}
        assert set(then) == {"/", "/same", "/plain", "/text", "/nonce", "/gone", "/moved", "/shy"}
        assert then["/text"].digest == old.digest
        now = {page.url.removeprefix(SITE) for page in collection.state.pages_as_of(time.time())}
        assert now == {"/", "/same", "/plain", "/text", "/nonce", "/shy", "/new", "/elsewhere"}
    check_consistent(out)


async def test_a_page_comes_back(tmp_path: Path) -> None:
    web, out = first_web(), tmp_path / "out"
    gone = web.pages["/gone"]
    async with serving(web) as server:
        config = topic(server)
        await crawl_all(config, out)
        del web.pages["/gone"]
        await come_back(config, out)
        crawl, _ = await come_back(config, out)
        assert crawl.tally.gone == 1  # still, but not again
        web.pages["/gone"] = gone
        _, events = await come_back(config, out)
    assert seen(events)["/gone"] == "back"
    assert outcome_of(out, f"{SITE}/gone")[0] is Outcome.FETCHED
    with Collection.open(out) as collection:
        assert collection.state.history.gone() == {}
        ((at, reason),) = collection.state.history.gone(as_of=events[0].at - 0.001).values()
        assert (at < events[0].at, reason) == (True, "HTTP 404")
    check_consistent(out)


async def test_budget_age_and_share(tmp_path: Path) -> None:
    web, out = first_web(), tmp_path / "out"
    async with serving(web) as server:
        config = topic(server)
        await crawl_all(config, out)
        _, events = await come_back(config, out, older_than="1 h")
        assert events == []
        crawl, events = await come_back(config, out, budget=3)
        assert crawl.reason == "budget of 3 visits is spent"
        assert len(events) == 3


async def test_a_page_that_fails_stays(tmp_path: Path) -> None:
    web, out = first_web(), tmp_path / "out"
    async with serving(web) as server:
        config = topic(server)
        await crawl_all(config, out)
        web.pages["/text"] = Served(500)
        web.pages["/same"] = redirect(f"{SITE}/", 302)
        _, events = await come_back(config, out)
    assert seen(events)["/text"] == seen(events)["/same"] == "failed"
    assert outcome_of(out, f"{SITE}/text")[0] is Outcome.FETCHED
    check_consistent(out)


async def test_a_stopped_recrawl_goes_on(tmp_path: Path) -> None:
    web, out = first_web(), tmp_path / "out"
    async with serving(web) as server:
        config = topic(server, crawl={"concurrency": 1})
        await crawl_all(config, out)
        web.asked()
        crawl = Crawl(config, out=out)
        async for event in crawl.recrawl():
            if event.kind == "revisit":
                crawl.stop()
        crawl, _ = await come_back(config, out)
        visited = [path for path, _ in web.asked()]
    assert crawl.reason == NOTHING_DUE
    assert sorted(visited) == sorted(set(visited))  # nobody twice
    assert len(visited) == 8


async def test_robots_are_asked_again_and_obeyed(tmp_path: Path) -> None:
    web, out = first_web(), tmp_path / "out"
    async with serving(web) as server:
        await crawl_all(topic(server), out)
        web.pages["/robots.txt"] = Served(200, (), b"User-agent: *\nDisallow: /text\n")
        web.asked()
        config = topic(server, politeness={"robots_max_age": 60.0})
        with State.open(Layout.open(out).state_file) as state:  # a week has passed
            state.put_robots(SITE, 404, b"", time.time() - 7 * 86400)
            state.commit()
        _, events = await come_back(config, out)
        asked = [path for path, _ in web.asked()]
    assert "/text" not in asked
    assert seen(events)["/text"] == "failed"
    assert outcome_of(out, f"{SITE}/text")[0] is Outcome.FETCHED


async def test_the_twin_of_a_changed_page_can_still_be_read(tmp_path: Path) -> None:
    web, out = ChangingWeb(), tmp_path / "out"
    web.pages = {"/": words("list", ["/one", "/two"]), "/one": words("equal"), "/two": words("equal")}
    async with serving(web) as server:
        config = topic(server, crawl={"concurrency": 1})
        await crawl_all(config, out)
        web.pages["/one"] = words("different now")
        await come_back(config, out)
    with Collection.open(out) as collection:
        assert "equal" in collection.page(f"{SITE}/two").text()
        assert "different" in collection.page(f"{SITE}/one").text()
        assert b"equal" in collection.page(f"{SITE}/two").body()[0]
    check_consistent(out)


async def test_keep_fresh_never_ends(tmp_path: Path) -> None:
    """Pages are visited again and again beside new ones, until somebody stops the crawl; a resume goes on."""
    web, out = first_web(), tmp_path / "out"
    async with serving(web) as server:
        # A page every few hundredths of a second: intervals have a floor of an hour, so the clock is virtual.
        keep = {"keep_fresh": True, "fresh_every": 7 * 86400.0, "max_pages": 10, "max_seconds": 30 * 86400.0}
        clock = VirtualClock()
        crawl = Crawl(topic(server, crawl=keep), out=out, clock=clock)
        events = []
        async for event in crawl.run():
            events.append(event)
            if len(events) == 20:
                second_web(web)
    assert crawl.reason.startswith("budget of 2.592e+06 seconds")
    visits = [event for event in events if event.kind == "revisit"]
    assert 3 * 8 <= len(visits) <= 5 * 10  # 30 days, once in seven days on average
    assert {"same", "changed", "gone"} <= {str(event.data["what"]) for event in visits}
    assert f"{SITE}/new" in {event.url for event in events if event.kind == "page"}
    check_consistent(out)


async def test_sitemaps_are_read_again_and_their_dates_are_hints(tmp_path: Path) -> None:
    web, out = first_web(), tmp_path / "out"

    def sitemap(*entries: tuple[str, str]) -> Served:
        urls = "".join(f"<url><loc>{SITE}{path}</loc><lastmod>{day}</lastmod></url>" for path, day in entries)
        return Served(200, (("Content-Type", "application/xml"),), f"<urlset>{urls}</urlset>".encode())

    web.pages["/robots.txt"] = Served(200, (), f"Sitemap: {SITE}/sitemap.xml\n".encode())
    web.pages["/sitemap.xml"] = sitemap(("/text", "2001-01-01"), ("/same", "2001-01-01"))
    async with serving(web) as server:
        config = topic(server, crawl={"follow_sitemaps": True, "concurrency": 1})
        await crawl_all(config, out)
        web.pages["/sitemap.xml"] = sitemap(("/text", "2099-01-01"), ("/hidden", "2099-01-01"))
        web.pages["/hidden"] = words("only the sitemap names it, elf")
        _, events = await come_back(config, out)
        assert seen(events)["/sitemap.xml"] == "changed"
        assert f"{SITE}/hidden" in {event.url for event in events if event.kind == "page"}
        with Collection.open(out) as collection:
            hints = collection.state.history.hints()
            assert hints[row(collection, "/text")] > time.time()
        _, events = await come_back(config, out)
    # The page that is said to have changed goes before all others.
    visited = [event.url for event in events if event.kind == "revisit"]
    assert visited[0] == f"{SITE}/text"


async def test_a_hub_that_brings_new_pages_is_worth_more(tmp_path: Path) -> None:
    web, out = first_web(), tmp_path / "out"
    async with serving(web) as server:
        config = topic(server)
        await crawl_all(config, out)
        paths = ["/same", "/plain", "/text", "/nonce", "/gone", "/moved", "/shy"]
        for number in range(3):
            web.pages[f"/new{number}"] = words(f"number {number} of many")
            paths.append(f"/new{number}")
            web.pages["/"] = words("a list", paths)
            await come_back(config, out)
    with Collection.open(out) as collection:
        found = prospects(collection.state)
        news = dict(zip(found.rows.tolist(), found.known.news.tolist(), strict=True))
        assert news[row(collection, "/")] > 3 * max(
            value for key, value in news.items() if key != row(collection, "/")
        )


async def test_a_crawl_that_waits_for_pages_to_be_due_still_ends_in_time(tmp_path: Path) -> None:
    web, out = first_web(), tmp_path / "out"
    async with serving(web) as server:
        config = topic(server, crawl={"keep_fresh": True, "max_seconds": 1.0})
        crawl, events = await crawl_all(config, out)
    assert crawl.reason == "budget of 1 seconds is spent"
    assert len([event for event in events if event.kind == "page"]) <= 8
