"""The one protocol of this folder: where else could it be?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import msgspec

from honeyguide.model import Page, Topic


class Ask(msgspec.Struct, frozen=True):
    """Why the engine asks a source now, and what it knows."""

    occasion: str
    """`start`, `page` (an on-topic page was fetched), `every` (M pages went by), `low` (the frontier
    runs low)."""
    topic: Topic
    page: Page | None = None
    pages_fetched: int = 0
    waiting: int = 0


class Suggestion(msgspec.Struct, frozen=True):
    """A URL from outside the crawl's own links."""

    url: str
    reason: str
    priority: float | None = None
    """None: the engine's default for injected URLs (just above the best waiting one)."""
    memo: dict[str, float] = {}


class Answer(msgspec.Struct, frozen=True):
    """What a source said, and what it cost. Kept in the journal."""

    suggestions: tuple[Suggestion, ...] = ()
    requests: int = 0
    note: str = ""
    """For people: the query sent, or what went wrong."""


@runtime_checkable
class Source(Protocol):
    """Suggests URLs. Failing is normal: a source answers with a note, it does not raise."""

    name: str
    occasions: frozenset[str]
    every: int | None
    """Ask each time this many pages went by, for the occasion `every`."""
    when_below: int | None
    """Ask when fewer URLs wait, for the occasion `low`."""

    async def suggest(self, ask: Ask) -> Answer:
        """URLs, each with its reason."""
        ...


def names(sources: Sequence[Source]) -> list[str]:
    """The names of sources, for messages."""
    return [source.name for source in sources]
