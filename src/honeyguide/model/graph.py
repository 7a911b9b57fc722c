"""The part of the web a crawl knows, as arrays: what global orders work on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class CrawlGraph:
    """Known pages are nodes 0..n-1 in the order they were discovered; links are index pairs.

    The arrays are views of the crawl's own growing arrays: read them, do not keep them.
    A later graph of the same crawl extends an earlier one (nodes and links are only appended;
    `fetched`, `waiting` and `score` change in place).
    """

    ids: NDArray[np.int64]
    """URL fingerprint of each node."""
    fetched: NDArray[np.bool_]
    waiting: NDArray[np.bool_]
    """Nodes in the frontier. A node may be neither (dropped, failed)."""
    score: NDArray[np.float32]
    """Verdict score of fetched nodes, 0 elsewhere."""
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]

    @property
    def size(self) -> int:
        """Number of known pages."""
        return len(self.ids)
