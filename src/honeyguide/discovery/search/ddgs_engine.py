"""The `ddgs` library as search engine: several public engines, without a key."""

from __future__ import annotations

import asyncio
from typing import Any

from honeyguide.discovery.search.base import Hits, SearchResult
from honeyguide.errors import MissingExtra

_MAX_TITLE = 300


class Ddgs:
    """Asks public search engines through the library `ddgs`.

    The library has an HTTP client of its own, which the crawl's egress guard does not see: it talks to
    the engines it knows and to nobody else. It is used only where a topic file names it.

    Args:
        backend: Which engines, as the library names them; `auto` lets it choose.
        region: Such as `us-en`.
        rate: Queries a second at most.
        timeout: Seconds for one request of the library.
    """

    name = "ddgs"
    remote = True

    def __init__(
        self, *, backend: str = "auto", region: str = "us-en", rate: float = 0.2, timeout: float = 10.0
    ) -> None:
        self.rate = rate
        self._backend = backend
        self._region = region
        self._timeout = timeout
        self._client = _library()

    async def search(self, query: str, limit: int) -> Hits:
        """The library's first results."""
        try:
            results = await asyncio.to_thread(self._ask, query, limit)
        except Exception as error:  # The library raises its own errors and those of its HTTP client.
            said = " ".join(str(error).split())[:200] or type(error).__name__
            empty = "no results" in said.lower()
            return Hits(requests=1, note=said, failed=not empty)
        hits = [
            SearchResult(one["href"], str(one.get("title") or "")[:_MAX_TITLE])
            for one in results
            if isinstance(one, dict) and isinstance(one.get("href"), str)
        ]
        return Hits(tuple(hits[:limit]), requests=1)

    def _ask(self, query: str, limit: int) -> Any:
        client = self._client(timeout=max(1, round(self._timeout)))
        return client.text(query, region=self._region, max_results=limit, backend=self._backend) or []


def _library() -> Any:
    try:
        from ddgs import DDGS
    except ImportError:
        raise MissingExtra("the search engine 'ddgs'", "search") from None
    return DDGS
