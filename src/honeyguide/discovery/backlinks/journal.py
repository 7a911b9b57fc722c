"""The journal of an earlier crawl as backlink service: repeats a crawl without asking again."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from honeyguide.discovery.backlinks.base import LocalService, Parents
from honeyguide.discovery.base import Answer, Suggestion
from honeyguide.errors import CollectionError, TopicError
from honeyguide.model import Event
from honeyguide.store.layout import Layout
from honeyguide.store.state import State

REASON = "links to "
"""What the journal says of a suggested URL, before the page it links to."""


def answers(events: Iterable[Event], source: str) -> dict[str, list[str]]:
    """What a source answered about each URL, from `suggest` events; failures are left out."""
    found: dict[str, list[str]] = {}
    for event in events:
        data = event.data
        if data.get("source") != source or data.get("failed"):
            continue
        if event.url:
            found.setdefault(event.url, [])
        urls, reasons = data.get("urls"), data.get("reasons")
        if isinstance(urls, list) and isinstance(reasons, list):
            for url, reason in zip(urls, reasons, strict=False):
                if str(reason).startswith(REASON):
                    found.setdefault(str(reason).removeprefix(REASON), []).append(str(url))
    return found


def as_answer(url: str, found: Parents) -> Answer:
    """What a service said about a URL, as sources answer and the journal keeps it."""
    suggestions = tuple(Suggestion(one, f"{REASON}{url}", links_to=url) for one in found.urls)
    note = f"backlinks of {url}: {found.note}" if found.note else f"{len(suggestions)} pages link to {url}"
    return Answer(suggestions, found.requests, note, failed=found.failed)


class JournalAnswers(LocalService):
    """Answers as a backlink service did in another crawl; it knows of nothing else.

    Args:
        path: Folder of the other collection.
    """

    def __init__(self, path: str) -> None:
        try:
            with State.open(Layout.open(Path(path)).state_file, read_only=True) as state:
                self._answers = answers(state.events(kind="suggest"), "backlinks")
        except CollectionError as error:
            raise TopicError(f"service 'journal': {error}") from error

    async def parents(self, url: str, limit: int) -> Parents:
        """What was answered then."""
        return Parents(tuple(self._answers.get(url, ())[:limit]))
