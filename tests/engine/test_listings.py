"""Sitemaps and feeds of hosts that proved relevant, and alternates in the topic's languages."""

from __future__ import annotations

from pathlib import Path

import pytest
from loopback import HTML, config_for, crawl_all, outcome_of, recording

from honeyguide.engine.listings import MOST_LISTINGS, Listings
from honeyguide.lab.webs.served import Served
from honeyguide.model import Host, Link, Outcome, Page

XML = (("Content-Type", "application/xml"),)
OWLS = "The barn owl hunts at night over open country. "
CARS = "Used cars, tyres and insurance at low prices. "


def written(text: str, *links: str, head: str = "") -> Served:
    anchors = "".join(f'<p><a href="{link}">next</a></p>' for link in links)
    return Served(200, HTML, f"<head><title>{text}</title>{head}</head><p>{text * 5}</p>{anchors}".encode())


def listing(*urls: str, index: bool = False) -> Served:
    kind, entry = ("sitemapindex", "sitemap") if index else ("urlset", "url")
    named = "".join(f"<{entry}><loc>{url}</loc></{entry}>" for url in urls)
    return Served(200, XML, f"<{kind}>{named}</{kind}>".encode())


def site(host: str, text: str) -> dict[str, Served]:
    """Four pages, and one each that only the sitemap, the feed and a nested sitemap know."""
    root = f"http://{host}.example"
    feed = '<link rel="alternate" type="application/rss+xml" href="/feed">'
    news = f"<rss version='2.0'><channel><item><link>{root}/news</link></item></channel></rss>"
    more = {f"{root}/{n}": written(f"{text} {n} {host}. ", f"/{n + 1}", head=feed) for n in range(1, 5)}
    return more | {
        f"{root}/robots.txt": Served(200, (), f"Sitemap: {root}/index.xml\n".encode()),
        f"{root}/": written(f"{text} {host}. ", "/1", head=feed),
        f"{root}/index.xml": listing(f"{root}/sitemap.xml", "http://other.example/s.xml", index=True),
        f"{root}/sitemap.xml": listing(f"{root}/listed"),
        f"{root}/listed": written(f"{text} listed {host}. "),
        f"{root}/feed": Served(200, (("Content-Type", "application/rss+xml"),), news.encode()),
        f"{root}/news": written(f"{text} news {host}. "),
    }


@pytest.mark.realtime
async def test_listings_of_relevant_hosts_are_followed_and_those_of_others_are_not(tmp_path: Path) -> None:
    pages = site("owls", OWLS) | site("cars", CARS)
    folder = tmp_path / "c"
    async with recording(pages) as server:
        config = config_for(["http://owls.example/", "http://cars.example/"], server.connect_to)
        await crawl_all(config, folder)
        asked = set(server.urls)
    assert {"http://owls.example/listed", "http://owls.example/news"} <= asked
    assert outcome_of(folder, "http://owls.example/sitemap.xml")[0] is Outcome.LISTING
    assert not [url for url in asked if "other.example" in url]
    assert {url for url in asked if "cars" in url} == {
        f"http://cars.example/{name}" for name in ("robots.txt", "", "1", "2", "3", "4", "5")
    }


ODD_SITEMAPS = (
    "sitemap.xml",  # owners write this, too
    "javascript:alert(1)",
    "mailto:me@example.org",
    "//",
    "http://",
    "http://[::bad/",
    "nowhere",
    "ftp://owls.example/s.xml",
)


@pytest.mark.realtime
@pytest.mark.parametrize("follow", ["relevant", True])
async def test_robots_may_name_anything_as_sitemap(tmp_path: Path, follow: bool | str) -> None:
    """An address without a slash ended the crawl with an internal error."""
    robots = "".join(f"Sitemap: {one}\n" for one in ODD_SITEMAPS)
    pages = site("owls", OWLS) | {
        "http://owls.example/robots.txt": Served(200, (), robots.encode()),
        "http://owls.example/sitemap.xml": listing("http://owls.example/listed"),
    }
    async with recording(pages) as server:
        config = config_for(["http://owls.example/"], server.connect_to, crawl={"follow_sitemaps": follow})
        await crawl_all(config, tmp_path / "c")
        asked = set(server.urls)
    assert "http://owls.example/listed" in asked  # relative to robots.txt
    assert not [url for url in asked if not url.startswith("http://owls.example/")]


@pytest.mark.realtime
async def test_alternates_join_in_the_languages_of_the_topic(tmp_path: Path) -> None:
    alternates = "".join(
        f'<link rel="alternate" hreflang="{code}" href="/{code}">'
        for code in ("en", "de-CH", "fr", "x-default")
    )
    pages = {
        "http://a.example/": written(OWLS, "/plain", head=alternates),
        "http://a.example/de-CH": written("Die Schleiereule jagt nachts. "),
        "http://a.example/plain": written(OWLS),
    }
    async with recording(pages) as server:
        topic = {"name": "owls", "keywords": ["owl"], "languages": ["en", "de"]}
        config = config_for(["http://a.example/"], server.connect_to, topic=topic)
        await crawl_all(config, tmp_path / "c")
        asked = set(server.urls)
    assert "http://a.example/de-CH" in asked
    assert "http://a.example/fr" not in asked
    assert outcome_of(tmp_path / "c", "http://a.example/fr")[0] is Outcome.LANGUAGE


def test_a_host_must_prove_itself_and_has_limits() -> None:
    listings = Listings(sitemaps="relevant", feeds=False, named_by=lambda _: ("http://a.example/s.xml",))
    links = tuple(Link(f"http://a.example/{n}.xml", n, kind="sitemap") for n in range(1, 20))
    page = Page("http://a.example/", 99, links=(*links, Link("http://a.example/feed", 50, kind="feed")))
    assert listings.fresh(page, Host(1, "a.example", fetched=2, relevant=2)) == []
    assert listings.fresh(page, Host(1, "a.example", fetched=9, relevant=3)) == []
    found = listings.fresh(page, Host(1, "a.example", fetched=3, relevant=3))
    assert found[0] == ("http://a.example/s.xml", "sitemap")
    assert len(found) == MOST_LISTINGS
    assert {kind for _, kind in found} == {"sitemap"}
    assert listings.fresh(page, Host(1, "a.example", fetched=4, relevant=4)) == []
    assert Listings().fresh(page, Host(1, "a.example", fetched=9, relevant=9)) == []
