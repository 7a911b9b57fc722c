"""What layered naive Bayes remembers of a crawl: features and links of the newest pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from honeyguide.relevance.layered_bayes_graph import Layers, feature_arrays, features_from
from honeyguide.relevance.reduced_tf_idf import Features
from honeyguide.topic.context import next_layer, seed_layer

MOST_LINKS: Final = 500
"""Links remembered of one page."""


class _Seen(NamedTuple):
    features: Features
    links: NDArray[np.int64]
    target: bool


class CrawlMemory:
    """The crawl's own link graph, as far as it is remembered: the backlink source of last resort.

    Args:
        limit: Pages remembered; the oldest are forgotten.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pages: dict[int, _Seen] = {}

    def __len__(self) -> int:
        """Pages remembered."""
        return len(self._pages)

    def add(self, page: int, links: Sequence[int], features: Features, *, target: bool) -> None:
        """Remember a page."""
        self._pages.pop(page, None)
        self._pages[page] = _Seen(features, np.array(links[:MOST_LINKS], dtype=np.int64), target)
        if len(self._pages) > self._limit:
            del self._pages[next(iter(self._pages))]

    def features(self, page: int) -> Features | None:
        """What is remembered of a page's text."""
        seen = self._pages.get(page)
        return seen.features if seen is not None else None

    def layers(self, *, depth: int, cap: int, most: int, seed: int) -> Layers:
        """Context graphs of the targets among the pages, over the links among the pages.

        Targets stand in layer 0 only: in the merged graph they are no step away from a target.

        Args:
            depth: Layers above layer 0.
            cap: Most places of one graph in a layer.
            most: Targets that graphs are built for, drawn at random beyond that.
            seed: For samples.
        """
        generator = Random(seed)  # noqa: S311  Not a secret.
        everything = [page for page, seen in self._pages.items() if seen.target]
        targets = everything
        if len(targets) > most:
            targets = [targets[i] for i in sorted(generator.sample(range(len(targets)), most))]
        parents = self._parents()
        known = set(everything)
        graphs = [set(known) for _ in targets]
        layer = seed_layer(targets)
        members = [list(everything)]
        sampled = False
        for _ in range(depth):
            grown = next_layer(layer, parents, graphs, cap=cap, generator=generator)
            layer, sampled = grown.places, sampled or grown.sampled
            members.append([place.page for place in layer])
        number = {page: index for index, page in enumerate(dict.fromkeys(p for row in members for p in row))}
        documents = [self._pages[page].features for page in number]
        return Layers(documents, [[number[page] for page in row] for row in members], sampled=sampled)

    def arrays(self, name: str) -> dict[str, NDArray[np.generic]]:
        """Everything remembered, as arrays whose names begin with `name`."""
        seen = self._pages.values()
        none = [np.zeros(0, dtype=np.int64)]
        return {
            **feature_arrays([one.features for one in seen], name),
            f"{name}_ids": np.array(list(self._pages), dtype=np.int64),
            f"{name}_targets": np.array([one.target for one in seen], dtype=np.bool_),
            f"{name}_links": np.concatenate([one.links for one in seen] or none),
            f"{name}_link_ends": np.cumsum([len(one.links) for one in seen], dtype=np.int64),
        }

    def load(self, arrays: Mapping[str, NDArray[np.generic]], name: str) -> None:
        """Take back what `arrays` gave."""
        links = arrays[f"{name}_links"].astype(np.int64)
        ends: list[int] = arrays[f"{name}_link_ends"].tolist()
        rows = [links[start:end] for start, end in pairwise([0, *ends])]
        pages = zip(
            arrays[f"{name}_ids"].tolist(),
            features_from(arrays, name),
            rows,
            arrays[f"{name}_targets"].tolist(),
            strict=True,
        )
        self._pages = {page: _Seen(features, own, target) for page, features, own, target in pages}

    def _parents(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for page, seen in self._pages.items():
            for link in seen.links.tolist():
                if link in self._pages and link != page:
                    found.setdefault(link, []).append(page)
        return found
