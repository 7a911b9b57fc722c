"""A web as an experiment needs it, whether it was recorded or is generated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from honeyguide.engine.clock import VirtualClock
from honeyguide.engine.visit import Visitor
from honeyguide.model import Document
from honeyguide.parse.base import Blocks


class Asks(msgspec.Struct, frozen=True):
    """What discovery sources may ask for in one crawl."""

    backlinks: float = 0.0
    search: bool = False
    unlabelled: tuple[Document, ...] = ()
    seed: int = 0


class Replay(msgspec.Struct, frozen=True):
    """A web as one crawl sees it."""

    visitor: Visitor
    services: dict[str, object] = {}


class World(Protocol):
    """The truth about a web: for the lab only, out of reach of what it measures."""

    name: str
    digest: str
    """Changes when anything about the web changes."""

    @property
    def labels(self) -> Mapping[str, tuple[str, ...]]:
        """Labels of each labelled page by canonical URL."""
        ...

    @property
    def sites(self) -> Mapping[str, str]:
        """Site of each page; empty where the web has none."""
        ...

    def prepare(self, *, blocks: Blocks) -> None:
        """Bring parsed pages to disk, before several processes would do the same work."""
        ...

    def followed(self, seeds: Iterable[str], site: str) -> dict[str, list[str]]:
        """Links of every page that can be reached from the seeds (inside a site, unless it is empty)."""
        ...

    def pages(self, site: str) -> list[str]:
        """Canonical URLs of all pages (of a site)."""
        ...

    def stands_for(self, url: str) -> str:
        """The URL a fetched page counts as: its own, or that of the page it is a copy of."""
        ...

    def replay(self, clock: VirtualClock, *, site: str, blocks: Blocks, asks: Asks) -> Replay:
        """A fresh view for one crawl, as the engine and the discovery sources see the web."""
        ...

    def documents(self, urls: Sequence[str]) -> list[Document]:
        """Pages as texts, for examples and background."""
        ...

    def keywords(self, label: str) -> tuple[str, ...]:
        """Words a user would give for a label, where the web knows them; else nothing."""
        ...


def has_label(labels: Iterable[str], wanted: Iterable[str]) -> bool:
    """Whether one of the labels is wanted, or lies below a wanted one.

    Example:
        >>> has_label(["Science/Biology/Birds"], ["Science/Biology"]), has_label(["Scienceless"], ["Science"])
        (True, False)
    """
    prefixes = tuple(wanted)
    return any(label == prefix or label.startswith(prefix + "/") for label in labels for prefix in prefixes)
