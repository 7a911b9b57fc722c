"""The one protocol of this folder: what does a search engine say to these words?"""

from __future__ import annotations

from typing import Protocol

import msgspec


class SearchResult(msgspec.Struct, frozen=True):
    """One result, as the engine wrote it."""

    url: str
    title: str = ""


class Hits(msgspec.Struct, frozen=True):
    """What an engine said to one query, best first, and what it cost."""

    hits: tuple[SearchResult, ...] = ()
    requests: int = 0
    note: str = ""
    """For people: what went wrong, or empty. Never holds a key."""
    failed: bool = False
    retry_after: float | None = None
    """Seconds the engine asked us to stay away."""


class SearchEngine(Protocol):
    """Answers queries with addresses. Failing is normal: it answers with a note."""

    name: str
    remote: bool
    """Whether a query is a request to somebody's server, and so is rationed by `rate`."""
    rate: float
    """Queries a second at most, where it is remote."""

    async def search(self, query: str, limit: int) -> Hits:
        """The best results, at most `limit`."""
        ...
