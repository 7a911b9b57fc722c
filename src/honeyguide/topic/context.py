"""How context graphs grow, layer by layer: the rule that set-up and rebuilding share."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from random import Random
from typing import Generic, NamedTuple, TypeVar

Key = TypeVar("Key", bound=Hashable)
"""What names a page: its URL, or its number."""


class Place(NamedTuple, Generic[Key]):
    """A page's place in a layer of a context graph."""

    page: Key
    below: int
    """Index of its child in the layer below; -1 for a seed."""
    seed: int
    """Which seed's graph this is."""


class Layer(NamedTuple, Generic[Key]):
    """The next layer of all graphs."""

    places: list[Place[Key]]
    sampled: bool
    """Whether a graph had more pages for this layer than were kept."""


def seed_layer(seeds: Sequence[Key]) -> list[Place[Key]]:
    """Layer 0: one graph for each seed."""
    return [Place(page, -1, number) for number, page in enumerate(seeds)]


def next_layer(
    layer: Sequence[Place[Key]],
    parents: Mapping[Key, Sequence[Key]],
    seen: Sequence[set[Key]],
    *,
    cap: int,
    generator: Random,
) -> Layer[Key]:
    """The pages that link to a layer, at most `cap` for each seed's graph, drawn at random beyond that.

    A page stands in the layer of its shortest way to the seed only, but there once for every child: a
    parent of two pages of the layer below stands twice, so that each place has one child.

    Args:
        layer: The layer below.
        parents: Pages that link to each page.
        seen: For each seed, the pages that its graph holds already; the new ones are added.
        cap: Most places of one graph.
        generator: For the sample.

    Example:
        >>> graphs = [{"seed"}]
        >>> first = next_layer(seed_layer(["seed"]), {"seed": ["a", "b"]}, graphs, cap=9, generator=Random(1))
        >>> second = next_layer(
        ...     first.places, {"a": ["c"], "b": ["c", "seed"]}, graphs, cap=9, generator=Random(1)
        ... )
        >>> [(place.page, place.below) for place in second.places]
        [('c', 0), ('c', 1)]
    """
    found: list[list[Place[Key]]] = [[] for _ in seen]
    for index, place in enumerate(layer):
        known = seen[place.seed]
        found[place.seed].extend(
            Place(page, index, place.seed) for page in parents.get(place.page, ()) if page not in known
        )
    kept: list[Place[Key]] = []
    sampled = False
    for number, every in enumerate(found):
        places = every
        if len(every) > cap:
            sampled = True
            places = [every[i] for i in sorted(generator.sample(range(len(every)), cap))]
        seen[number].update(place.page for place in places)
        kept.extend(places)
    return Layer(kept, sampled)
