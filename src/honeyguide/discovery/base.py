"""The one protocol of this folder: where else could it be?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

import msgspec

from honeyguide.model import Document, Event, Examples, Page, Topic


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
    links_to: str = ""
    """A page of the crawl that it is said to link to; an order with an opinion of that gives the priority."""


class Answer(msgspec.Struct, frozen=True):
    """What a source said, and what it cost. Kept in the journal."""

    suggestions: tuple[Suggestion, ...] = ()
    requests: int = 0
    note: str = ""
    """For people: the query sent, or what went wrong."""
    failed: bool = False
    """Whether the note tells of a failure; the journal then holds a warning as well."""


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


class SetUp(Protocol):
    """What a source may use before the crawl begins. See `Preparing`."""

    topic: Topic
    examples: Examples
    """What the user gave, as text."""
    seed: int
    """The crawl's random seed."""

    async def read(self, urls: Sequence[str]) -> dict[str, Document]:
        """Fetch pages for their text, as politely as the crawl; URLs that give no page are left out."""
        ...

    def record(self, source: str, url: str, answer: Answer) -> None:
        """Keep an answer about `url` in the journal."""
        ...

    def learned(self, source: str, facts: dict[str, object]) -> None:
        """Note in the journal what the set-up came to, in plain JSON values."""
        ...

    def now(self) -> float:
        """Time on the crawl's clock."""
        ...


@runtime_checkable
class Preparing(Protocol):
    """A source that gathers something before the crawl: a context graph, search results, unlabelled text."""

    async def prepare(self, setup: SetUp) -> Examples:
        """The examples with what was gathered.

        Called once; what it gives is kept with the collection, so that a resumed crawl asks nothing again.
        Failing is normal here too: give back what there is.
        """
        ...


@runtime_checkable
class Recalling(Protocol):
    """A source that goes by its own earlier answers: budgets, questions already asked."""

    def recall(self, events: Iterable[Event]) -> None:
        """All `suggest` events of the crawl so far, oldest first; called when a crawl is taken up again."""
        ...


def names(sources: Sequence[Source]) -> list[str]:
    """The names of sources, for messages."""
    return [source.name for source in sources]


def suggest_data(source: str, answer: Answer, *, new: int) -> dict[str, object]:
    """An answer as the journal keeps it."""
    data: dict[str, object] = {
        "source": source,
        "note": answer.note,
        "new": new,
        "requests": answer.requests,
        "urls": [one.url for one in answer.suggestions],
        "reasons": [one.reason for one in answer.suggestions],
    }
    if any(one.links_to for one in answer.suggestions):
        data["links_to"] = [one.links_to for one in answer.suggestions]
    return {**data, "failed": True} if answer.failed else data


def due(source: Source, page: Page | None, *, pages: int, waiting: int) -> list[str]:
    """The occasions on which a source is to be asked now: a good page, a number of pages, few URLs."""
    found = []
    if page is not None and "page" in source.occasions:
        found.append("page")
    if source.every and "every" in source.occasions and pages % source.every == 0:
        found.append("every")
    if source.when_below is not None and "low" in source.occasions and waiting < source.when_below:
        found.append("low")
    return found
