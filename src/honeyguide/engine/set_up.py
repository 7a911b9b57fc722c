"""What happens before the crawl: sources that need it fetch and ask, and the answers are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from honeyguide.discovery.base import Answer, Preparing, Recalling, Source
from honeyguide.engine.clock import Clock
from honeyguide.engine.gather import Gathered, gather
from honeyguide.engine.web import Visit, Web
from honeyguide.model import Document, Event, Examples, Page, Topic
from honeyguide.store.state import State
from honeyguide.web import canonical, host_key


class Preparation:
    """Implements `discovery.base.SetUp`: reads pages politely and writes the journal.

    Args:
        topic: What is looked for.
        examples: What the user gave.
        state: Where the journal is.
        web: Where pages come from.
        clock: The crawl's.
        seed: The crawl's random seed.
        delay: Seconds between two requests to one host.
        at_once: Hosts asked at the same time.
    """

    def __init__(
        self,
        topic: Topic,
        examples: Examples,
        *,
        state: State,
        web: Web,
        clock: Clock,
        seed: int = 0,
        delay: float = 1.0,
        at_once: int = 8,
    ) -> None:
        self.topic = topic
        self.examples = examples
        self.seed = seed
        self.events: list[Event] = []
        """What was written to the journal."""
        self._state = state
        self._web = web
        self._clock = clock
        self._delay = delay
        self._slots = asyncio.Semaphore(1 if clock.virtual else at_once)
        self._last: dict[str, float] = {}

    async def run(self, sources: Iterable[Source]) -> Examples:
        """Let each source that prepares do so, in order; the examples with all they gathered."""
        for source in sources:
            if isinstance(source, Preparing):
                self.examples = await source.prepare(self)
        self._state.commit()
        return self.examples

    def recall(self, sources: Iterable[Source]) -> None:
        """Remind sources of their earlier answers."""
        for source in sources:
            if isinstance(source, Recalling):
                source.recall(self._state.events(kind="suggest"))

    async def read(self, urls: Sequence[str]) -> dict[str, Document]:
        """Fetch pages for their text: one request at a time a host, several hosts at once."""
        hosts: dict[str, list[str]] = {}
        for text in dict.fromkeys(urls):
            url = canonical(text)
            hosts.setdefault(host_key(url) if url else "", []).append(text)
        found = await asyncio.gather(*(self._read_host(own) for own in hosts.values()))
        documents = {url: document for one in found for url, document in one.documents.items()}
        return {url: documents[url] for url in urls if url in documents}

    async def _read_host(self, urls: Sequence[str]) -> Gathered:
        async with self._slots:
            return await gather(
                self._web,
                urls,
                self._clock,
                delay=self._delay,
                last=self._last,
                remember=self._remember,
            )

    def _remember(self, visit: Visit) -> None:
        """Keep a robots.txt: a resumed crawl must not ask for it again, nor be late by it."""
        if visit.robots_origin:
            held = [visit.status, visit.robots_body.decode("latin-1"), visit.exchanges[-1].at]
            self._state.put_setting(f"robots:{visit.robots_origin}", held)

    def record(self, source: str, url: str, answer: Answer) -> None:
        """Keep an answer about `url` in the journal, as the crawl itself does."""
        self._event("suggest", url, suggest_data(source, answer, new=0))
        if answer.failed:
            self._event("warning", url, {"source": source, "note": answer.note})

    def learned(self, source: str, facts: dict[str, object]) -> None:
        """Note in the journal what the set-up came to."""
        self._event("learned", "", {"source": source, **facts})

    def now(self) -> float:
        """Time on the crawl's clock."""
        return self._clock.now()

    def _event(self, kind: str, url: str, data: dict[str, object]) -> None:
        self.events.append(self._state.append_event(kind, url, data, at=self._clock.now()))


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
