"""A generated web in an experiment: `generated:SEED:PAGES`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import msgspec

from honeyguide.engine.clock import VirtualClock
from honeyguide.engine.live import LiveVisitor, VisitOptions
from honeyguide.errors import HoneyguideError
from honeyguide.fetch.decode import codings, decode
from honeyguide.fetch.robots import RobotsCache
from honeyguide.job.examples import as_document
from honeyguide.lab.runner.fingerprint import PACKAGE, digest_of, file_digest
from honeyguide.lab.runner.world import Asks, Replay
from honeyguide.lab.webs.generated import GeneratedFetcher, GeneratedWeb, WebSpec, graph
from honeyguide.lab.webs.served import Served
from honeyguide.model import Document, Page
from honeyguide.parse.base import Blocks, PackedPage, ParseFailure, ParseJob, Reading
from honeyguide.parse.html import parse_page
from honeyguide.parse.read import read
from honeyguide.web.url import canonical

_NAME = re.compile(r"generated:(\d{1,9}):(\d{3,7})")
PAGES_PER_HOST = 40


def generated_spec(name: str) -> WebSpec:
    """The web that `generated:SEED:PAGES` stands for.

    Example:
        >>> generated_spec("generated:3:2000").hosts
        50
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise HoneyguideError(f"{name!r} is not a generated web; write generated:SEED:PAGES")
    pages = int(match[2])
    return WebSpec(
        seed=int(match[1]), pages=pages, hosts=max(20, pages // PAGES_PER_HOST), slow=0.0
    ).checked()


class _Kept:
    """Answers of a web and parsed pages, kept for the next crawl of the same web."""

    def __init__(self, web: GeneratedWeb) -> None:
        self._web = web
        self._answers: dict[str, Served] = {}
        self._parsed: dict[tuple[str, Blocks], Page | ParseFailure] = {}

    def get(self, url: str) -> Served:
        if url not in self._answers:
            self._answers[url] = self._web.get(url)
        return self._answers[url]

    async def parse(self, job: ParseJob) -> Page | ParseFailure:
        key = (job.url, job.blocks)
        if key not in self._parsed:
            self._parsed[key] = parse_page(job)
        return self._parsed[key]

    async def listing(self, url: str, body: bytes) -> Reading | ParseFailure:
        found = read(ParseJob(url, body, what="listing"))
        assert not isinstance(found, Page | PackedPage)
        return found

    async def close(self) -> None:
        """Everything stays for the next crawl."""


class GeneratedWorld:
    """A generated web; its topics are the labels."""

    sites: Mapping[str, str] = {}

    def __init__(self, name: str) -> None:
        self.name = name
        self._web = GeneratedWeb(generated_spec(name))
        self._kept = _Kept(self._web)
        self.digest = digest_of(
            msgspec.json.encode(self._web.spec),
            file_digest(PACKAGE / "lab" / "webs" / "generated", PACKAGE / "parse"),
        )
        self._names: dict[str, str] = {}

    @cached_property
    def labels(self) -> Mapping[str, tuple[str, ...]]:
        """Topics of each page."""
        found: dict[str, tuple[str, ...]] = {}
        for topic in self._web.topics:
            for url in self._web.targets(topic):
                address = canonical(url) or url
                found[address] = (*found.get(address, ()), topic)
        return found

    def prepare(self, *, blocks: Blocks) -> None:
        """Nothing to keep: pages are made when they are asked for."""

    def followed(self, seeds: Iterable[str], site: str) -> dict[str, list[str]]:
        """Links among all pages in reach; copies are joined, redirects stand for their targets."""
        links = graph(self._web, seeds)
        ends = {url: _end(url, links, self._web) for url in links}
        joined = {
            canonical(url) or url: [canonical(ends.get(link, link)) or link for link in found]
            for url, found in links.items()
            if ends[url] == url
        }
        return {url: [link for link in found if link in joined] for url, found in joined.items()}

    def pages(self, site: str) -> list[str]:
        """All homes, sections and articles."""
        return [canonical(url) or url for url in self._web.pages()]

    def stands_for(self, url: str) -> str:
        """The original of a copy."""
        if url not in self._names:
            original = self._web.truth(url).original
            self._names[url] = (canonical(original) or original) if original else url
        return self._names[url]

    def replay(self, clock: VirtualClock, *, site: str, blocks: Blocks, asks: Asks) -> Replay:
        """The engine's own path from URL to page, without sockets; no services."""
        if asks.backlinks or asks.search:
            raise HoneyguideError(
                f"{self.name} has no backlinks and no search engine; set backlinks = 0.0 and search = false"
            )
        fetcher = GeneratedFetcher(self._kept, clock)
        robots = RobotsCache(fetcher, "honeyguide", clock=clock.now)
        return Replay(LiveVisitor(fetcher, self._kept, robots=robots, options=VisitOptions(blocks=blocks)))

    def documents(self, urls: Sequence[str]) -> list[Document]:
        """Pages as texts; those that do not answer are left out."""
        documents = []
        for url in urls:
            answer = self._kept.get(url)
            if answer.status != 200:
                continue
            coding = next((v for name, v in answer.headers if name.lower() == "content-encoding"), "")
            body, _ = decode(answer.body, codings(coding), 1 << 24)
            parsed = parse_page(ParseJob(url, body, "text/html; charset=utf-8"))
            if isinstance(parsed, Page):
                documents.append(as_document(parsed))
        return documents

    def keywords(self, label: str) -> tuple[str, ...]:
        """The topic's own words."""
        return tuple(self._web.keywords(label)) if label in self._web.topics else ()


def _end(url: str, links: Mapping[str, list[str]], web: GeneratedWeb) -> str:
    """Where a chain of redirects leads."""
    for _ in range(10):
        if web.truth(url).kind != "redirect" or not links.get(url):
            return url
        url = links[url][0]
    return url
