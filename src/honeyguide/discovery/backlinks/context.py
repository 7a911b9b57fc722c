"""Context graphs from a backlink service: the set-up of the Context Focused Crawler."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import msgspec

from honeyguide.discovery.backlinks.journal import as_answer
from honeyguide.discovery.backlinks.rationed import Rationed
from honeyguide.discovery.base import SetUp
from honeyguide.model import ContextGraph, ContextNode, Document
from honeyguide.topic.context import Place, next_layer, seed_layer
from honeyguide.web import canonical

PATIENCE = 60.0
"""Seconds that one question of the set-up may wait for its turn."""


class GraphLimits(msgspec.Struct, frozen=True):
    """How far context graphs may grow."""

    depth: int = 4
    layer_cap: int = 300
    parents: int = 50
    requests: int = 2000
    pages: int = 3000


class _Growth:
    """One set-up: what was asked, read and noted so far."""

    def __init__(self, setup: SetUp, service: Rationed, limits: GraphLimits, source: str) -> None:
        self._setup = setup
        self._service = service
        self._limits = limits
        self._source = source
        self.documents: dict[str, Document] = {}
        self.requests = 0
        self.asked = 0
        self.fetched = 0
        self.notes: dict[str, None] = {}

    async def parents(self, urls: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Pages that link to each URL, as far as budget and service allow."""
        found: dict[str, tuple[str, ...]] = {}
        for url in dict.fromkeys(urls):
            if self.asked >= self._limits.requests:
                self.notes[f"the set-up's {self._limits.requests} questions are spent"] = None
                break
            if self._service.given_up:
                self.notes["the backlink service failed too often; the crawl goes on without it"] = None
                break
            known = url in self._service.kept
            answer = await self._service.ask(url, self._limits.parents, patience=PATIENCE)
            self.asked += not known
            self.requests += answer.requests
            found[url] = answer.urls
            if answer.note:
                self.notes[f"backlinks of {url}: {answer.note}"] = None
            if not known:
                self._setup.record(self._source, url, as_answer(url, answer))
        return found

    async def read(self, urls: Sequence[str]) -> None:
        """Fetch pages for their text, as far as the budget allows."""
        wanted = [url for url in dict.fromkeys(urls) if url not in self.documents]
        left = max(0, self._limits.pages - self.fetched)
        if len(wanted) > left:
            self.notes[f"the set-up's {self._limits.pages} pages are spent"] = None
        self.fetched += len(wanted[:left])
        self.documents |= await self._setup.read(wanted[:left])


async def context_graph(setup: SetUp, service: Rationed, limits: GraphLimits, *, source: str) -> ContextGraph:
    """Build the merged context graph of the example pages.

    Layer 0 is the example pages. Each further layer is asked for as a whole, so that limits cut the outer
    layers and not the graphs of the last examples. Pages that cannot be read stand in no layer.
    """
    started = setup.now()
    positives = setup.examples.positives
    growth = _Growth(setup, service, limits, source)
    seeds = [(canonical(one.url) if one.url else None) or f"file:{i}" for i, one in enumerate(positives)]
    growth.documents = dict(zip(seeds, positives, strict=True))
    layer = seed_layer(seeds)
    layers: list[list[Place[str]]] = [layer]
    everything = set(seeds)
    seen = [set(everything) for _ in seeds]
    generator = Random(setup.seed)  # noqa: S311  Not a secret.
    sampled = False
    for _ in range(limits.depth):
        asked = [place.page for place in layer if not place.page.startswith("file:")]
        parents = await growth.parents(asked)
        grown = next_layer(layer, parents, seen, cap=limits.layer_cap, generator=generator)
        await growth.read([place.page for place in grown.places])
        layer = [place for place in grown.places if place.page in growth.documents]
        sampled = sampled or grown.sampled
        if not layer:
            break
        layers.append(layer)
    return _merged(
        layers,
        growth.documents,
        ContextGraph(
            sampled=sampled,
            requests=growth.requests,
            fetched=growth.fetched,
            seconds=setup.now() - started,
            notes=tuple(growth.notes),
        ),
    )


def _merged(
    layers: Sequence[Sequence[Place[str]]], documents: dict[str, Document], costs: ContextGraph
) -> ContextGraph:
    used = dict.fromkeys(place.page for layer in layers for place in layer)
    number = {url: index for index, url in enumerate(used)}
    return msgspec.structs.replace(
        costs,
        documents=tuple(documents[url] for url in used),
        layers=tuple(
            tuple(ContextNode(number[place.page], place.below, place.seed) for place in layer)
            for layer in layers
        ),
    )
