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
    requests: int = 1000
    pages: int = 1000


class _Growth:
    """One set-up: what was asked, read and noted so far."""

    def __init__(self, setup: SetUp, service: Rationed, limits: GraphLimits, source: str) -> None:
        self.generator = Random(setup.seed)  # noqa: S311  Not a secret.
        self._setup = setup
        self._service = service
        self._limits = limits
        self._source = source
        self.documents: dict[str, Document] = {}
        self.requests = 0
        self.asked = 0
        self.fetched = 0
        self.notes: dict[str, None] = {}

    async def parents(self, urls: Sequence[str], layers: int) -> dict[str, tuple[str, ...]]:
        """Pages that link to each URL, as far as this layer's share of the budget and the service allow."""
        found: dict[str, tuple[str, ...]] = {}
        new = [url for url in dict.fromkeys(urls) if url not in self._service.kept]
        share = self._share(self._limits.requests - self.asked, layers)
        if len(new) > share:
            self.notes[f"{self._limits.requests} questions were too few to ask about every page"] = None
        left_out = set(new) - set(self._some(new, share))
        for url in dict.fromkeys(urls):
            if url in left_out:
                continue
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

    async def read(self, urls: Sequence[str], layers: int) -> bool:
        """Fetch pages for their text within this layer's share of the budget. Whether some were left out."""
        wanted = [url for url in dict.fromkeys(urls) if url not in self.documents]
        share = self._share(self._limits.pages - self.fetched, layers)
        if len(wanted) > share:
            self.notes[f"{self._limits.pages} pages were too few to read every page"] = None
        chosen = self._some(wanted, share)
        self.fetched += len(chosen)
        self.documents |= await self._setup.read(chosen)
        return len(chosen) < len(wanted)

    def _share(self, left: int, layers: int) -> int:
        """An equal share for each layer that is still to come; what one leaves over goes to the others."""
        return max(0, left // max(1, layers))

    def _some(self, urls: Sequence[str], count: int) -> list[str]:
        """All, or a sample in the same order."""
        if len(urls) <= count:
            return list(urls)
        return [urls[place] for place in sorted(self.generator.sample(range(len(urls)), count))]


async def context_graph(setup: SetUp, service: Rationed, limits: GraphLimits, *, source: str) -> ContextGraph:
    """Build the merged context graph of the example pages.

    Layer 0 is the example pages. Each further layer is asked for as a whole and may use an equal share of
    what is left of the limits, so that no layer starves for an earlier one, nor the last example for the
    first. Pages that cannot be read stand in no layer.
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
    sampled = False
    for still in range(limits.depth, 0, -1):
        asked = [place.page for place in layer if not place.page.startswith("file:")]
        parents = await growth.parents(asked, still)
        grown = next_layer(layer, parents, seen, cap=limits.layer_cap, generator=growth.generator)
        cut = await growth.read([place.page for place in grown.places], still)
        layer = [place for place in grown.places if place.page in growth.documents]
        sampled = sampled or grown.sampled or cut
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
