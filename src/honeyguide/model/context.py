"""Context graphs: the pages that lead to pages on topic, in layers by their distance."""

from __future__ import annotations

import msgspec

from honeyguide.model.document import Document


class ContextNode(msgspec.Struct, frozen=True, array_like=True):
    """One place in a context graph. A page stands in as many places as it has children in the graph."""

    document: int
    """Index into `ContextGraph.documents`."""
    below: int
    """The node of the layer below that it links to; -1 in layer 0."""
    seed: int
    """The seed document (node of layer 0) whose graph this is."""


class ContextGraph(msgspec.Struct, frozen=True):
    """The context graphs of all seed documents, merged layer by layer, and what they cost."""

    documents: tuple[Document, ...] = ()
    """Each page once."""
    layers: tuple[tuple[ContextNode, ...], ...] = ()
    """Layer 0 holds the seed documents, layer i + 1 the pages that link to layer i."""
    sampled: bool = False
    """Whether a layer was too large to be kept whole."""
    requests: int = 0
    """Questions to the backlink source."""
    fetched: int = 0
    """Pages fetched for their text."""
    seconds: float = 0.0
    """Time on the crawl's clock."""
    notes: tuple[str, ...] = ()
    """What went wrong, for people."""

    @property
    def depth(self) -> int:
        """Layers above the seed documents that hold anything."""
        return max(0, sum(1 for layer in self.layers if layer) - 1)
