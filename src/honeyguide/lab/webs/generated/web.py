"""A web that is a pure function of a seed and a URL."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator

from honeyguide.errors import HoneyguideError
from honeyguide.lab.webs.generated import walk
from honeyguide.lab.webs.generated.address import Addresses, Article, Place
from honeyguide.lab.webs.generated.html import SESSION, Writer
from honeyguide.lab.webs.generated.plan import Item, Plan, Planner
from honeyguide.lab.webs.generated.robots import disallowed, robots_text, sitemap_text
from honeyguide.lab.webs.generated.sites import Site, Sites
from honeyguide.lab.webs.generated.spec import DEMO, PageTruth, WebSpec
from honeyguide.lab.webs.generated.traps import session, trap
from honeyguide.lab.webs.generated.vocabulary import vocabularies
from honeyguide.lab.webs.served import Headers, Served

_HTML: Headers = (("Content-Type", "text/html; charset=utf-8"),)
_FATES = ("500", "500", "reset", "404", "ok")


class GeneratedWeb:
    """Answers any URL of a generated web, and knows the truth about it. Holds no pages.

    Example:
        >>> web = GeneratedWeb(WebSpec(hosts=30, pages=600, topics=5))
        >>> home = f"http://{web.hosts()[0]}/"
        >>> web.get(home).status, web.truth(home).kind
        (200, 'home')
    """

    def __init__(self, spec: WebSpec = DEMO) -> None:
        self.spec = spec.checked()
        words = vocabularies(spec.seed, spec.topics)
        self._names = tuple(vocabulary.name for vocabulary in words)
        self.topics = self._names[: spec.topics]
        """Names of the topics; everything else is background."""
        self._words = words
        self._sites = Sites(spec, words)
        self._addresses = Addresses(self._sites)
        self._planner = Planner(self._sites, self._addresses)
        self._writer = Writer(self._sites)

    def get(self, url: str) -> Served:
        """What the URL answers. Unknown hosts answer 502, as a proxy would."""
        place = self._addresses.locate(url)
        if place is None:
            return Served(502, _HTML, b"<title>No such host</title>")
        delay = self.spec.slow_seconds if place.site.role == "slow" else 0.0
        if place.kind in ("robots", "sitemap"):
            return self._file(place, delay)
        if place.kind == "go":
            return self._redirect(place)
        fate = self._place_fate(place)
        if fate == "reset":
            return Served(0, behaviour="reset")
        plan = self._plan(place) if fate == "ok" else None
        if plan is None:
            status = 404 if fate == "ok" else int(fate)
            return Served(status, _HTML, f"<title>Error {status}</title>".encode(), delay)
        return self._page(place, plan, delay)

    def _page(self, place: Place, plan: Plan, delay: float) -> Served:
        site = place.site
        near = place.host is not site and not place.host.exact
        text = self._writer.page(
            site,
            plan,
            session=session(site, place) if site.role == "session" else "",
            note=f" ({place.host.name} mirror)" if near else "",
        )
        body = text.encode()
        if not place.host.gzip:
            return Served(200, _HTML, body, delay)
        headers = (*_HTML, ("Content-Encoding", "gzip"))
        return Served(200, headers, gzip.compress(body, 1, mtime=0), delay)

    def truth(self, url: str) -> PageTruth:
        """What is true of the URL."""
        place = self._addresses.locate(url)
        if place is None:
            return PageTruth("missing")
        allowed = not disallowed(place)
        original = self._original(place)
        kind, topic, shares, indexable = place.kind, "", dict[str, float](), True
        if kind == "article":
            article = self._addresses.article(place.site, place.number)
            if self._fate(place.site, article) != "ok":
                return PageTruth("failing", allowed=allowed)
            kind = "hub" if self._planner.is_hub(article) else "article"
            topic, indexable = self._names[article.topic], not self._planner.noindex(article)
            topics = [article.topic] if kind == "hub" else self._planner.block_topics(article)
            shares = self._shares(topics)
        elif kind == "home":
            topic, shares = self._names[place.site.topic], self._shares(place.site.topics)
        elif kind == "section":
            topic = self._names[place.site.topics[place.number]]
            shares = {topic: 1.0}
        elif kind == "tunnel":
            topic = self._names[place.site.topic]
            shares = {topic: 1.0}
        kind = {"robots": "file", "sitemap": "file", "go": "redirect"}.get(kind, kind)
        return PageTruth(kind, topic, shares, original, allowed, indexable)

    def out_links(self, url: str) -> list[str]:
        """Every URL that a polite crawler may follow from this page, without writing its HTML.

        A redirect's only out-link is its target. Pages that fail, are disallowed or say nofollow have none.
        """
        place = self._addresses.locate(url)
        if place is None or disallowed(place):
            return []
        if place.kind == "go":
            target = self._target(place)
            return [target] if target else []
        plan = self._plan(place) if self._place_fate(place) == "ok" else None
        if plan is None or plan.nofollow:
            return []
        site = place.site
        root = f"http://{place.host.name}"
        sid = session(site, place) if site.role == "session" else ""
        found: dict[str, None] = {}
        items: list[Item] = [*self._writer.menu(site.index), *self._writer.footer(site.index)]
        for block in plan.blocks:
            items += block.items
        for href, _, nofollow in items + plan.related:
            if not nofollow:
                found[root + href.replace(SESSION, sid) if href[0] == "/" else href] = None
        return list(found)

    def hosts(self) -> list[str]:
        """Names of all hosts."""
        return [site.name for site in self._sites.all]

    def role(self, host: str) -> str:
        """What is special about a host: a role of `sites.Site`, or nothing."""
        return self._site(host).role

    def robots(self, host: str) -> str:
        """The host's robots.txt."""
        return robots_text(self._site(host), self.spec)

    def keywords(self, topic: str) -> list[str]:
        """Words a user would give for the topic."""
        return list(self._words[self.topic_number(topic)].words[:8])

    def topic_number(self, topic: str) -> int:
        """Number of a topic, or an error that names the ones there are."""
        if topic not in self.topics:
            raise HoneyguideError(f"this web has no topic {topic!r}: take one of {', '.join(self.topics)}")
        return self.topics.index(topic)

    def targets(self, topic: str) -> Iterator[str]:
        """URLs of all pages on the topic that a polite crawler may fetch and keep; copies do not count."""
        number = self.topic_number(topic)
        for site in self._sites.all:
            if site.role in ("mirror", "closed"):
                continue
            root = f"http://{site.name}"
            if self._shares(site.topics).get(topic, 0.0) >= 0.5:
                yield root + "/"
            for section in site.by_topic.get(number, ()):
                yield f"{root}/{site.slugs[section]}/"
            yield from (root + article.path for article in self._articles(site, number))

    def seeds(self, topic: str, *, distance: int = 1, count: int = 5) -> list[str]:
        """Start pages from which the nearest page on the topic is so many links away (`walk.seeds`)."""
        return walk.seeds(self, topic, distance=distance, count=count)

    def examples(self, topic: str, count: int = 10) -> list[str]:
        """Some articles on the topic, from as many hosts as possible."""
        return walk.examples(self, topic, count)

    def reachable(self, topic: str, seeds: Iterable[str]) -> set[str]:
        """The topic's targets that a polite crawler can reach from these pages."""
        return walk.reachable(self, topic, seeds)

    def graph(self, seeds: Iterable[str]) -> dict[str, list[str]]:
        """Followable links of every page that can be reached from these, copies joined (`walk.graph`)."""
        return walk.graph(self, seeds)

    def pages(self) -> Iterator[str]:
        """URLs of all homes, sections and articles, host by host."""
        for site in self._sites.all:
            root = f"http://{site.name}"
            yield root + "/"
            yield from (f"{root}/{slug}/" for slug in site.slugs)
            yield from (root + self._addresses.article(site, n).path for n in range(site.articles))

    def _articles(self, site: Site, topic: int) -> Iterator[Article]:
        for number in range(site.articles):
            article = self._addresses.article(site, number)
            if article.topic != topic or article.section == site.locked or self._planner.noindex(article):
                continue
            if self._fate(site, article) == "ok":
                yield article

    def _shares(self, topics: list[int] | tuple[int, ...]) -> dict[str, float]:
        shares: dict[str, float] = {}
        for topic in topics:
            shares[self._names[topic]] = shares.get(self._names[topic], 0.0) + 1.0
        return {name: count / len(topics) for name, count in shares.items()}

    def _site(self, host: str) -> Site:
        site = self._sites.by_name.get(host)
        if site is None:
            raise HoneyguideError(f"this web has no host {host!r}: take one of hosts()")
        return site

    def _fate(self, site: Site, article: Article) -> str:
        return _FATES[(article.key >> 12) % len(_FATES)] if site.role == "failing" else "ok"

    def _place_fate(self, place: Place) -> str:
        if place.kind != "article" or place.site.role != "failing":
            return "ok"
        return self._fate(place.site, self._addresses.article(place.site, place.number))

    def _original(self, place: Place) -> str:
        if place.host is place.site and not place.query:
            return ""
        return f"http://{place.site.name}{place.path}" if place.kind in ("home", "section", "article") else ""

    def _plan(self, place: Place) -> Plan | None:
        site, planner = place.site, self._planner
        plan = None
        match place.kind:
            case "article":
                plan = planner.article(site, self._addresses.article(site, place.number))
            case "home":
                plan = planner.home(site)
            case "section":
                plan = planner.section(site, place.number)
            case "tunnel":
                plan = planner.tunnel(place)
            case "trap":
                plan = trap(place)
            case "about" | "private":
                plan = planner.about(site)
        return plan

    def _file(self, place: Place, delay: float) -> Served:
        if place.kind == "robots":
            text = robots_text(place.host, self.spec)
            return Served(200, (("Content-Type", "text/plain"),), text.encode(), delay)
        sections = [f"/{slug}/" for slug in place.site.slugs]
        first = range(min(100, place.site.articles))
        paths = ["/", *sections, *(self._addresses.article(place.site, number).path for number in first)]
        text = sitemap_text(place.host.name, paths)
        return Served(200, (("Content-Type", "application/xml"),), text.encode(), delay)

    def _target(self, place: Place) -> str:
        """Where `/go/…` leads, or nothing for an address that leads nowhere."""
        root, name = f"http://{place.host.name}", place.path
        if name in ("loop-a", "loop-b"):
            return f"{root}/go/loop-{'b' if name == 'loop-a' else 'a'}"
        if name.isascii() and name.isdigit() and len(name) < 10 and int(name) < place.site.articles:
            return root + self._addresses.article(place.site, int(name)).path
        return ""

    def _redirect(self, place: Place) -> Served:
        target = self._target(place)
        if not target:
            return Served(404, _HTML, b"<title>Not found</title>")
        status = 302 if place.path.endswith(("1", "5", "9", "b")) else 301
        return Served(status, (*_HTML, ("Location", target)), b"<title>Moved</title>")
