"""A recorded web in an experiment, and how either kind of web is opened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from honeyguide.engine.clock import VirtualClock
from honeyguide.errors import HoneyguideError
from honeyguide.lab.runner.generated_world import GeneratedWorld
from honeyguide.lab.runner.situation import depths_from
from honeyguide.lab.runner.world import Asks, Replay, World
from honeyguide.lab.webs.recorded import LabServices, Recorded, RecordedVisits, open_web
from honeyguide.model import Document
from honeyguide.parse.base import Blocks


class RationedServices:
    """The services of a recorded web, as far as the experiment gives them."""

    def __init__(self, services: LabServices, asks: Asks) -> None:
        self._services = services
        self._asks = asks

    def backlinks(
        self, url: str, coverage: float | None = None, *, limit: int | None = None
    ) -> tuple[str, ...]:
        """Pages that link to a URL, as many as the experiment lets be known."""
        if not self._asks.backlinks:
            raise HoneyguideError("this experiment gives no backlinks; set backlinks in its [given]")
        share = self._asks.backlinks if coverage is None else min(coverage, self._asks.backlinks)
        return self._services.backlinks(url, share, limit=limit)

    def search(self, query: str, limit: int = 10) -> tuple[Document, ...]:
        """The best matches of a query."""
        if not self._asks.search:
            raise HoneyguideError("this experiment gives no search engine; set search = true in its [given]")
        return self._services.search(query, limit)

    def unlabelled(self) -> tuple[Document, ...]:
        """The texts that the experiment gives."""
        return self._asks.unlabelled


class RecordedWorld:
    """A recorded web with its labels."""

    def __init__(self, name: str, recorded: Recorded) -> None:
        self.name = name
        self.digest = recorded.digest
        self._recorded = recorded
        self.labels: Mapping[str, tuple[str, ...]] = recorded.labels
        self.sites: Mapping[str, str] = recorded.sites
        self._parts: dict[str, Recorded] = {"": recorded}
        self._graphs: dict[str, dict[str, list[str]]] = {}

    def prepare(self, *, blocks: Blocks) -> None:
        """Parse all pages, unless an earlier run did."""
        self._recorded.prepare(blocks=False)
        if blocks:
            self._recorded.prepare(blocks=blocks)

    def followed(self, seeds: Iterable[str], site: str) -> dict[str, list[str]]:
        """Links among the recorded pages in reach, inside the site."""
        if site not in self._graphs:
            self._graphs[site] = {url: list(found) for url, found in self._part(site).graph().items()}
        links = self._graphs[site]
        starts = [found for url in seeds if (found := self._part(site).resolve(url))]
        reached = depths_from(links, starts)
        return {url: links[url] for url in reached if url in links}

    def pages(self, site: str) -> list[str]:
        """Canonical URLs in the order of recording."""
        return list(self._part(site).urls)

    def stands_for(self, url: str) -> str:
        """Itself: the replay joins aliases."""
        return url

    def replay(self, clock: VirtualClock, *, site: str, blocks: Blocks, asks: Asks) -> Replay:
        """The recording from now on sealed, but for what the crawl fetches."""
        part = self._part(site)
        visits = RecordedVisits(part, blocks=blocks)
        if not asks.backlinks and not asks.search:
            return Replay(visits)
        services = LabServices(part, visits, coverage=asks.backlinks, seed=asks.seed)
        return Replay(visits, {"web": RationedServices(services, asks)})

    def documents(self, urls: Sequence[str]) -> list[Document]:
        """Pages as texts, without their labels."""
        return [
            Document(one.text, one.title, one.url, "", one.language)
            for one in self._recorded.text_documents(urls)
        ]

    def keywords(self, label: str) -> tuple[str, ...]:
        """A recording knows only names of labels."""
        return ()

    def _part(self, site: str) -> Recorded:
        if site not in self._parts:
            self._parts[site] = self._recorded.subset(site=site)
        return self._parts[site]


@lru_cache(maxsize=4)
def open_world(name: str) -> World:
    """A web by the name that an experiment gives it; parsed pages are kept in memory or on disk."""
    if name.startswith("generated:"):
        return GeneratedWorld(name)
    return RecordedWorld(name, open_web(name))
