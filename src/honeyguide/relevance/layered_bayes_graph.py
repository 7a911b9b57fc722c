"""The training documents of layered naive Bayes: context graphs as features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from honeyguide.model import Document, Examples
from honeyguide.relevance.reduced_tf_idf import Features, ReducedTfIdf


class Layers:
    """Documents by layer. A document may stand in several layers, and several times in one.

    Args:
        documents: Each once.
        members: For each layer, indices of its documents with repetitions.
        sampled: Whether a layer holds only a part of what was found.
    """

    def __init__(
        self,
        documents: Sequence[Features] = (),
        members: Sequence[Sequence[int]] = ((),),
        *,
        sampled: bool = False,
    ) -> None:
        self._documents = list(documents)
        self._members = [list(layer) for layer in members]
        self.sampled = sampled

    @property
    def depth(self) -> int:
        """Layers above layer 0, empty ones included."""
        return len(self._members) - 1

    @property
    def filled(self) -> int:
        """Layers that hold anything."""
        return sum(1 for layer in self._members if layer)

    def documents(self, layer: int) -> list[int]:
        """Indices of a layer's documents, with repetitions."""
        return self._members[layer]

    def unique(self, layer: int) -> list[Features]:
        """A layer's documents, each once."""
        return [self._documents[index] for index in dict.fromkeys(self._members[layer])]

    def counts(self, size: int) -> NDArray[np.float64]:
        """How often each of `size` terms occurs in each layer, repeated documents counted as often."""
        total = np.zeros((len(self._members), size))
        for layer, members in enumerate(self._members):
            for index, times in Counter(members).items():
                one = self._documents[index]
                total[layer, one.columns] += one.counts * times
        return total

    def joined(self, other: Layers) -> Layers:
        """Both, layer by layer."""
        shift = len(self._documents)
        layers = max(len(self._members), len(other._members))
        members = [
            [*_at(self._members, layer), *(index + shift for index in _at(other._members, layer))]
            for layer in range(layers)
        ]
        sampled = self.sampled or other.sampled
        return Layers([*self._documents, *other._documents], members, sampled=sampled)

    def without_seeds(self) -> Layers:
        """The upper layers alone; layer 0 is empty."""
        return Layers(self._documents, [[], *self._members[1:]], sampled=self.sampled)

    def only_seeds(self) -> Layers:
        """Layer 0 alone; the others are empty."""
        return Layers(self._documents, [self._members[0], *([] for _ in self._members[1:])])

    def parted(self, is_target: Callable[[Features], bool], *, join: bool) -> Layers:
        """Without the documents of upper layers that are targets themselves; `join` puts them in layer 0."""
        upper = dict.fromkeys(index for layer in self._members[1:] for index in layer)
        targets = [index for index in upper if is_target(self._documents[index])]
        out = set(targets)
        members = [[index for index in layer if index not in out] for layer in self._members[1:]]
        seeds = [*self._members[0], *targets] if join else self._members[0]
        return Layers(self._documents, [seeds, *members], sampled=self.sampled)

    def arrays(self, name: str) -> dict[str, NDArray[np.generic]]:
        """Everything but `sampled`, as arrays whose names begin with `name`."""
        return {
            **feature_arrays(self._documents, name),
            f"{name}_members": np.array([i for layer in self._members for i in layer], dtype=np.int32),
            f"{name}_layers": np.array([len(layer) for layer in self._members], dtype=np.int64),
        }

    @classmethod
    def load(cls, arrays: Mapping[str, NDArray[np.generic]], name: str, *, sampled: bool) -> Self:
        """Take back what `arrays` gave."""
        flat: list[int] = arrays[f"{name}_members"].tolist()
        ends = np.cumsum(arrays[f"{name}_layers"].astype(np.int64)).tolist()
        members = [flat[start:end] for start, end in pairwise([0, *ends])]
        return cls(features_from(arrays, name), members, sampled=sampled)


def feature_arrays(documents: Sequence[Features], name: str) -> dict[str, NDArray[np.generic]]:
    """Documents as flat arrays."""
    none = [np.zeros(0, dtype=np.int32)]
    return {
        f"{name}_columns": np.concatenate([one.columns for one in documents] or none),
        f"{name}_counts": np.concatenate([one.counts for one in documents] or none),
        f"{name}_ends": np.cumsum([len(one.columns) for one in documents], dtype=np.int64),
    }


def features_from(arrays: Mapping[str, NDArray[np.generic]], name: str) -> list[Features]:
    """Take back what `feature_arrays` gave."""
    columns = arrays[f"{name}_columns"].astype(np.int32)
    counts = arrays[f"{name}_counts"].astype(np.int32)
    ends: list[int] = arrays[f"{name}_ends"].tolist()
    return [Features(columns[start:end], counts[start:end]) for start, end in pairwise([0, *ends])]


def context_layers(text: ReducedTfIdf, examples: Examples, *, depth: int) -> Layers:
    """The examples as layer 0, and the layers of their context graph above it."""

    def features(document: Document) -> Features:
        return text.features(document.title, document.text)

    documents = [features(document) for document in examples.positives]
    members: list[list[int]] = [list(range(len(documents))), *([] for _ in range(depth))]
    graph = examples.context
    if graph is None:
        return Layers(documents, members)
    place: dict[int, int] = {}
    for layer, nodes in enumerate(graph.layers[1 : depth + 1], 1):
        for node in nodes:
            if node.document not in place:
                place[node.document] = len(documents)
                documents.append(features(graph.documents[node.document]))
            members[layer].append(place[node.document])
    return Layers(documents, members, sampled=graph.sampled)


def _at(members: Sequence[Sequence[int]], layer: int) -> Sequence[int]:
    return members[layer] if layer < len(members) else ()
