"""What the engine makes of answers, on small written webs read in process."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from honeyguide import Collection, Crawl, Topic, crawl
from honeyguide.discovery.base import Answer, Ask, Suggestion
from honeyguide.engine import arrival as arrival_module
from honeyguide.engine import crawler as crawler_module
from honeyguide.engine.clock import VirtualClock
from honeyguide.errors import TopicError
from honeyguide.lab.webs.generated import GeneratedFetcher
from honeyguide.lab.webs.served import Served
from honeyguide.model import Event, Outcome
from honeyguide.web.url import url_id

HTML = (("Content-Type", "text/html; charset=utf-8"),)
OWLS = Topic("owls", keywords=("owl", "strix"), seeds=("http://a.example/",))


class Written:
    """A web from a table; everything else is 404."""

    def __init__(self, pages: Mapping[str, Served]) -> None:
        self.pages = pages
        self.asked: list[str] = []

    def get(self, url: str) -> Served:
        self.asked.append(url)
        return self.pages.get(url, Served(404))


def page(*links: str, text: str = "owl strix", head: str = "", anchor: str = "more") -> Served:
    anchors = "".join(f'<p><a href="{link}">{anchor}</a></p>' for link in links)
    return Served(200, HTML, f"<head><title>t</title>{head}</head><p>{text}</p>{anchors}".encode())


async def run(
    web: Written, out: Path | None = None, topic: Topic = OWLS, **options: Any
) -> tuple[Crawl, list[Event]]:
    clock = VirtualClock()
    job = Crawl(topic, out=out, clock=clock, fetcher=GeneratedFetcher(web, clock), **options)
    return job, [event async for event in job.run()]


def outcome(job: Crawl, url: str) -> tuple[Outcome, str]:
    assert job.state is not None
    record = job.state.url_by_row(job.state.row_of(url_id(url)))
    assert record is not None, url
    return record.status, record.reason


async def test_robots_txt_is_asked_first_and_obeyed() -> None:
    web = Written(
        {
            "http://a.example/robots.txt": Served(200, (), b"User-agent: honeyguide\nDisallow: /closed\n"),
            "http://a.example/": page("/closed", "/open"),
            "http://a.example/open": page(),
        }
    )
    job, _ = await run(web)
    assert web.asked[:2] == ["http://a.example/robots.txt", "http://a.example/"]
    assert "http://a.example/closed" not in web.asked
    assert outcome(job, "http://a.example/closed") == (Outcome.ROBOTS, "Disallow: /closed (line 2)")
    assert outcome(job, "http://a.example/open")[0] is Outcome.FETCHED
    assert job.tally.requests == len(web.asked) == 3


async def test_robots_that_fail_close_the_host() -> None:
    web = Written({"http://a.example/robots.txt": Served(503), "http://a.example/": page()})
    job, _ = await run(web)
    assert "http://a.example/" not in web.asked
    assert job.reason == "nothing left to fetch"
    assert outcome(job, "http://a.example/")[0] is Outcome.HOST_GIVEN_UP


async def test_crawl_delay_is_kept() -> None:
    web = Written(
        {
            "http://a.example/robots.txt": Served(200, (), b"User-agent: *\nCrawl-delay: 7\n"),
            "http://a.example/": page("/1", "/2"),
            "http://a.example/1": page(),
            "http://a.example/2": page(),
        }
    )
    _, events = await run(web)
    times = [event.at for event in events if event.kind == "page"]
    assert all(later - earlier >= 7 for earlier, later in itertools.pairwise(times))


async def test_noindex_nofollow_and_header(tmp_path: Path) -> None:
    web = Written(
        {
            "http://a.example/": page("/quiet", "/dead-end", "/header"),
            "http://a.example/quiet": page("/behind", head='<meta name="robots" content="noindex">'),
            "http://a.example/dead-end": page("/never", head='<meta name="robots" content="nofollow">'),
            "http://a.example/header": Served(200, (*HTML, ("X-Robots-Tag", "noindex")), b"<p>owl strix"),
            "http://a.example/behind": page(),
        }
    )
    await run(web, tmp_path / "c")
    with Collection.open(tmp_path / "c") as collection:
        ends = {
            story: collection.why(f"http://a.example/{story}").outcome
            for story in ("quiet", "header", "never", "behind")
        }
        exported = {row["url"] for row in collection.rows(relevant=None)}
        found = {hit.url for hit in collection.search("owl")}
    assert ends == {"quiet": "noindex", "header": "noindex", "never": "nofollow", "behind": "fetched"}
    assert exported == found == {f"http://a.example/{name}" for name in ("", "dead-end", "behind")}


async def test_a_nofollow_link_found_again_without_it_is_followed() -> None:
    first = Served(200, HTML, b'<p>owl strix <a rel=nofollow href="/x">x</a> <a href="/two">two</a>')
    web = Written(
        {
            "http://a.example/": first,
            "http://a.example/two": page("/x"),
            "http://a.example/x": page(),
        }
    )
    job, _ = await run(web)
    assert outcome(job, "http://a.example/x")[0] is Outcome.FETCHED


async def test_canonical_is_honoured_within_the_domain_only() -> None:
    own = '<link rel=canonical href="http://a.example/real">'
    foreign = '<link rel=canonical href="http://victim.example/">'
    web = Written(
        {
            "http://a.example/": page("/copy?x=1", "/copy?x=2", "/thief"),
            "http://a.example/copy?x=1": page(head=own),
            "http://a.example/copy?x=2": page(head=own),
            "http://a.example/thief": page(head=foreign),
        }
    )
    job, _ = await run(web)
    assert outcome(job, "http://a.example/copy?x=1")[0] is Outcome.CANONICAL
    assert outcome(job, "http://a.example/copy?x=2")[0] is Outcome.CANONICAL
    assert outcome(job, "http://a.example/real")[0] is Outcome.FETCHED
    assert "http://a.example/real" not in web.asked
    assert outcome(job, "http://a.example/thief")[0] is Outcome.FETCHED
    assert job.tally.pages == 3


async def test_an_order_learns_that_copies_of_pages_bring_nothing() -> None:
    articles = [f"/owls/{word}.html" for word in ("barn", "eared", "eagle", "snowy", "tawny") * 8]
    articles = [f"{path[:-5]}-{place}.html" for place, path in enumerate(articles)]
    served = {"http://a.example/": page(*articles)}
    for path in articles:
        head = f'<link rel=canonical href="http://a.example{path}">'
        served[f"http://a.example{path}"] = page(f"{path}?print=1", head=head)
        served[f"http://a.example{path}?print=1"] = page(head=head)
    web = Written(served)
    await run(web, recipe="scout", max_pages=35)
    assert 1 <= sum("print" in url for url in web.asked) <= 8


async def test_redirects_are_urls_of_their_own() -> None:
    web = Written(
        {
            "http://a.example/": page("/old", "/loop", "/bad"),
            "http://a.example/old": Served(301, (("Location", "http://b.example/new"),)),
            "http://b.example/robots.txt": Served(200, (), b"User-agent: *\nDisallow: /new\n"),
            "http://a.example/loop": Served(302, (("Location", "/loop"),)),
            "http://a.example/bad": Served(302, (("Location", "file:///etc/passwd"),)),
        }
    )
    job, _ = await run(web)
    assert outcome(job, "http://a.example/old")[0] is Outcome.REDIRECTED
    assert outcome(job, "http://b.example/new")[0] is Outcome.ROBOTS
    assert outcome(job, "http://a.example/loop")[0] is Outcome.REDIRECTED
    assert outcome(job, "http://a.example/bad")[0] is Outcome.BAD_REDIRECT


async def test_sitemaps_and_feeds_on_request() -> None:
    sitemap = b"<urlset><url><loc>http://a.example/listed</loc></url></urlset>"
    feed = b"<rss version='2.0'><channel><item><link>http://a.example/news</link></item></channel></rss>"
    pages = {
        "http://a.example/robots.txt": Served(200, (), b"Sitemap: http://a.example/sitemap.xml\n"),
        "http://a.example/": page(head='<link rel="alternate" type="application/rss+xml" href="/feed">'),
        "http://a.example/sitemap.xml": Served(200, (("Content-Type", "application/xml"),), sitemap),
        "http://a.example/feed": Served(200, (("Content-Type", "application/rss+xml"),), feed),
        "http://a.example/listed": page(),
        "http://a.example/news": page(),
    }
    plain, _ = await run(Written(pages))
    assert plain.tally.pages == 1
    job, _ = await run(Written(pages), follow_sitemaps=True, follow_feeds=True)
    assert outcome(job, "http://a.example/sitemap.xml")[0] is Outcome.LISTING
    assert outcome(job, "http://a.example/feed")[0] is Outcome.LISTING
    assert {outcome(job, f"http://a.example/{name}")[0] for name in ("listed", "news")} == {Outcome.FETCHED}


@pytest.mark.parametrize("recipe", ["scout", "best-first"])
async def test_a_long_sitemap_is_taken_in_a_few_addresses_at_a_time(
    recipe: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = "".join(
        f"<url><loc>http://a.example/{n % 90}</loc><lastmod>2026-01-01</lastmod></url>" for n in range(100)
    )
    pages = {
        "http://a.example/robots.txt": Served(200, (), b"Sitemap: http://a.example/sitemap.xml\n"),
        "http://a.example/": page("/3", "/95"),
        "http://a.example/sitemap.xml": Served(
            200, (("Content-Type", "application/xml"),), f"<urlset>{named}</urlset>".encode()
        ),
    } | {f"http://a.example/{n}": page(f"/{n + 1}") for n in range(100)}
    pauses: list[int] = []
    others_turn = crawler_module._others_turn

    async def counted() -> None:
        pauses[-1] += 1
        await others_turn()

    monkeypatch.setattr(crawler_module, "_others_turn", counted)
    told: list[list[tuple[str, str, str]]] = []
    for at_once in (10, 1_000_000):
        monkeypatch.setattr(arrival_module, "NAMED_AT_ONCE", at_once)
        monkeypatch.setattr(arrival_module, "DATED_AT_ONCE", at_once)
        pauses.append(0)
        _, events = await run(Written(pages), recipe=recipe, max_pages=40, follow_sitemaps=True)
        told.append([(event.kind, event.url, str(event.data)) for event in events])
    assert told[0] == told[1]
    assert ("outcome", "http://a.example/sitemap.xml") in [(kind, url) for kind, url, _ in told[0]]
    assert pauses[0] - pauses[1] >= 20


async def test_identical_pages_are_marked_and_archived_once(tmp_path: Path) -> None:
    same = page(text="owl strix " * 400)
    web = Written(
        {
            "http://a.example/": page("/1", "http://b.example/1"),
            "http://a.example/1": same,
            "http://b.example/1": same,
        }
    )
    await run(web, tmp_path / "c")
    with Collection.open(tmp_path / "c") as collection:
        rows = {row["url"]: row for row in collection.rows(relevant=None)}
    twins = [rows[url]["duplicate_of"] for url in ("http://a.example/1", "http://b.example/1")]
    assert sorted(map(str, twins))[0] == ""
    assert sorted(map(str, twins))[1] in rows
    from honeyguide.store.archive_reader import iterate

    kinds = [answer.kind for answer in iterate(tmp_path / "c" / "archive" / "pages-00001.warc.gz")]
    assert kinds.count("revisit") == 1


def line_text(number: int) -> str:
    """On topic for the first five pages; each page has words of its own, or it would be taken for a copy."""
    own = " ".join(f"w{number}x{word}" for word in range(40))
    return f"{'owl strix' * (number < 5)} {own}"


LINE = {f"http://a.example/{n or ''}": page(f"/{n + 1}", f"/{n + 2}", text=line_text(n)) for n in range(60)}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"max_pages": 7}, "budget of 7 pages is spent"),
        ({"max_relevant": 3}, "3 relevant pages were found"),
        ({"max_bytes": 1500}, "budget of 1500 bytes is spent"),
        ({"max_seconds": 9}, "budget of 9 seconds is spent"),
        ({"stop_after_irrelevant": 10}, "no relevant page among the last 10"),
        ({"max_depth": 4}, "nothing left to fetch"),
    ],
)
async def test_stop_rules(tmp_path: Path, options: dict[str, Any], reason: str) -> None:
    job, _ = await run(Written(LINE), tmp_path / "c", **options)
    assert job.reason == reason
    with Collection.open(tmp_path / "c") as collection:
        status = collection.status()
    assert status.reason == reason
    assert status.known == status.waiting + sum(status.outcomes.values())


async def test_domain_cap() -> None:
    job, _ = await run(Written(LINE), max_pages_per_domain=10, recipe="breadth-first")
    assert job.tally.pages == 10
    assert outcome(job, "http://a.example/10")[0] is Outcome.DOMAIN_CAP


class Bookmarks:
    """A source that knows one more page."""

    name = "bookmarks"
    occasions = frozenset({"low"})
    every = None
    when_below = None

    def __init__(self) -> None:
        self.urls = ["http://island.example/"]

    async def suggest(self, ask: Ask) -> Answer:
        urls, self.urls = self.urls, []
        return Answer(tuple(Suggestion(url, "bookmarked") for url in urls), requests=1, note="list")


async def test_sources_are_asked_when_the_frontier_is_empty() -> None:
    web = Written({"http://a.example/": page(), "http://island.example/": page()})
    job, events = await run(web, discovery=[Bookmarks()])
    assert outcome(job, "http://island.example/")[0] is Outcome.FETCHED
    told = [event.data for event in events if event.kind == "suggest"]
    assert told[0]["urls"] == ["http://island.example/"]
    assert told[0]["reasons"] == ["bookmarked"]


def test_a_crawl_without_an_address_to_begin_with_is_refused() -> None:
    with pytest.raises(TopicError, match="no address to begin with"):
        crawl(Topic("owls", keywords=("owl",)), max_pages=3)


class Asked:
    """A source that knows nothing, and notes after which page it was asked."""

    name = "asked"
    occasions = frozenset({"page"})
    every = None
    when_below = None

    def __init__(self) -> None:
        self.after: list[int] = []

    async def suggest(self, ask: Ask) -> Answer:
        self.after.append(ask.pages_fetched)
        return Answer(requests=1)


@pytest.mark.parametrize("budget", ["max_pages", "max_relevant"])
async def test_no_source_is_asked_about_the_page_that_spent_the_budget(budget: str) -> None:
    source = Asked()
    options: dict[str, Any] = {budget: 4}
    job, _ = await run(Written(LINE), discovery=[source], recipe="breadth-first", **options)
    assert job.tally.pages == job.tally.relevant == 4
    assert source.after == [1, 2, 3]


async def test_a_scikit_learn_estimator_is_a_page_model() -> None:
    judge = make_pipeline(TfidfVectorizer(), MultinomialNB())
    judge.fit(["owl strix wing", "owl barn", "stone wall", "stone brick"], [1, 1, 0, 0])
    pages = {
        f"http://a.example/{n or ''}": page(f"/{n + 1}", text="owl" if n < 5 else "stone") for n in range(8)
    }
    job, _ = await run(Written(pages), relevance=judge)
    assert (job.tally.pages, job.tally.relevant) == (8, 5)


async def test_example_addresses_are_fetched_once(tmp_path: Path) -> None:
    web = Written(
        {"http://a.example/": page("/1"), "http://ex.example/owl": page(text="owl strix wing " * 20)}
    )
    topic = Topic("owls", examples=("http://ex.example/owl",), seeds=("http://a.example/",))
    await run(web, tmp_path / "c", topic=topic, max_pages=1)
    await run(web, tmp_path / "c", topic=topic, max_pages=2)
    assert web.asked.count("http://ex.example/owl") == 1
    assert web.asked.count("http://ex.example/robots.txt") == 1


async def test_crawl_works_where_a_loop_is_running() -> None:
    """As in a notebook: this test is itself a coroutine."""
    clock = VirtualClock()
    collection = crawl(OWLS, clock=clock, fetcher=GeneratedFetcher(Written(LINE), clock), max_pages=6)
    assert collection.status().pages == 6
    assert len(list(collection.pages())) == 5
