"""How well a crawl could do if it knew the graph and the labels: the measure's upper end.

Two curves, since the best order itself is a hard problem (it contains the Steiner tree problem):

- `bound`: no order of any kind can be above it. It allows each target as soon as its distance from the
  seeds permits, and pays only for the pages in front of the nearest one.
- `oracle`: an order that can really be crawled. It always takes a target from the frontier when there
  is one (the one that shows the most new targets), and otherwise walks the shortest path to the
  nearest target that is left. It is greedy, so the best order may be a little above it; a crawl can
  in principle beat it, but never the bound.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray


class Oracle(msgspec.Struct, frozen=True):
    """The oracle's crawl."""

    order: tuple[str, ...]
    """Pages in the order they are fetched, until every reachable target is."""
    hits: NDArray[np.int64]
    """Targets found after each download."""

    @property
    def reachable(self) -> int:
        """Targets that can be reached."""
        return int(self.hits[-1]) if len(self.hits) else 0


def oracle(links: Mapping[str, Sequence[str]], targets: Iterable[str], seeds: Iterable[str]) -> Oracle:
    """The greedy oracle's order over a known graph.

    Args:
        links: Followable out-links of every page.
        targets: Pages on topic.
        seeds: Where every crawl starts; pages of the frontier from the beginning.

    Example:
        >>> links = {"s": ["a", "t1"], "a": ["t2"], "t1": ["b"], "b": [], "t2": []}
        >>> oracle(links, ["t1", "t2"], ["s"]).order
        ('s', 't1', 'a', 't2')
    """
    return _Walk(links, set(targets), list(dict.fromkeys(seeds))).run()


class _Walk:
    """State of one oracle crawl."""

    def __init__(self, links: Mapping[str, Sequence[str]], targets: set[str], seeds: list[str]) -> None:
        self._links = links
        self._targets = targets
        self._fetched: dict[str, None] = {}
        self._frontier: dict[str, None] = {}
        self._ready: list[tuple[int, int, str]] = []
        for seed in seeds:
            self._find(seed)

    def run(self) -> Oracle:
        while True:
            if not self._ready:
                path = self._path()
                if not path:
                    break
                for page in path:
                    self._fetch(page)
                continue
            promised, number, page = heapq.heappop(self._ready)
            if page in self._fetched:
                continue
            # What a target shows shrinks as others show the same: look again before taking it.
            gain = -self._gain(page)
            if gain > promised:
                heapq.heappush(self._ready, (gain, number, page))
                continue
            self._fetch(page)
        order = tuple(self._fetched)
        hits = np.cumsum([page in self._targets for page in order], dtype=np.int64)
        return Oracle(order, hits)

    def _gain(self, page: str) -> int:
        """New targets that the page would show."""
        return sum(
            1
            for link in self._links.get(page, ())
            if link in self._targets and link not in self._fetched and link not in self._frontier
        )

    def _find(self, page: str) -> None:
        if page in self._fetched or page in self._frontier:
            return
        self._frontier[page] = None
        if page in self._targets:
            heapq.heappush(self._ready, (-self._gain(page), len(self._frontier) + len(self._fetched), page))

    def _fetch(self, page: str) -> None:
        if page in self._fetched:
            return
        self._fetched[page] = None
        self._frontier.pop(page, None)
        for link in self._links.get(page, ()):
            self._find(link)

    def _path(self) -> list[str]:
        """A shortest path from the frontier to a target; of the nearest, the one that shows most."""
        before: dict[str, str] = dict.fromkeys(self._frontier, "")
        level = list(self._frontier)
        while level:
            ends = [page for page in level if page in self._targets]
            if ends:
                page = max(ends, key=self._gain)
                path = [page]
                while before[path[-1]]:
                    path.append(before[path[-1]])
                return path[::-1]
            found: list[str] = []
            for page in level:
                for link in self._links.get(page, ()):
                    if link not in before and link not in self._fetched:
                        before[link] = page
                        found.append(link)
            level = found
        return []


def bound(
    links: Mapping[str, Sequence[str]], targets: Iterable[str], seeds: Iterable[str]
) -> NDArray[np.int64]:
    """Targets that no crawl can exceed after 1, 2, 3, … downloads, until all are found.

    A target at distance d needs d other downloads first, and the first d0 downloads, d0 being the
    nearest target's distance, find nothing.
    """
    depth: dict[str, int] = dict.fromkeys(seeds, 0)
    waiting = deque(depth)
    while waiting:
        page = waiting.popleft()
        for link in links.get(page, ()):
            if link not in depth:
                depth[link] = depth[page] + 1
                waiting.append(link)
    depths = sorted(depth[target] for target in set(targets) if target in depth)
    if not depths:
        return np.zeros(0, dtype=np.int64)
    # The k-th target comes no earlier than its own depth allows, and k - 1 downloads after the first.
    earliest = [max(far, depths[0] + number) for number, far in enumerate(depths)]
    hits = np.zeros(earliest[-1] + 1, dtype=np.int64)
    np.add.at(hits, earliest, 1)
    return np.cumsum(hits)
