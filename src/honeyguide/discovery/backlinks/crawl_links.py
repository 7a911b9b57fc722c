"""The link graph of a crawl as backlink service: its own, or that of an earlier collection."""

from __future__ import annotations

from pathlib import Path

from honeyguide.discovery.backlinks.base import LocalService, Parents
from honeyguide.errors import CollectionError, TopicError
from honeyguide.store.layout import Layout
from honeyguide.store.state import State
from honeyguide.web import url_id


class CrawlLinks(LocalService):
    """Fetched pages that link to a URL, the first fetched first.

    Before the crawl its own graph is empty; an earlier crawl of the same part of the web knows more.

    Args:
        state: The crawl's own state.
        path: Folder of another collection, to use instead.
    """

    def __init__(self, state: State | None, path: str = "") -> None:
        self._state = state
        if path:
            try:
                self._state = State.open(Layout.open(Path(path)).state_file, read_only=True)
            except CollectionError as error:
                raise TopicError(f"service 'crawl': {error}") from error

    async def parents(self, url: str, limit: int) -> Parents:
        """Pages of the crawl that link to the URL."""
        if self._state is None:
            return Parents()
        row = self._state.row_of(url_id(url))
        rows = self._state.in_links(row)[:limit] if row else []
        return Parents(tuple(self._state.url_text(one) for one in rows))
