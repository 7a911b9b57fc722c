"""Full-text indexes as search engines: of a collection, and of a recorded web in the lab."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from honeyguide.discovery.search.base import Hits, SearchResult
from honeyguide.errors import CollectionError, HoneyguideError, TopicError
from honeyguide.model import Document
from honeyguide.store.index import FullText
from honeyguide.store.layout import Layout


class CollectionEngine:
    """Searches the pages of a collection that an earlier crawl made.

    Args:
        path: Folder of the collection.
    """

    name = "collection"
    remote = False
    rate = 0.0

    def __init__(self, *, path: str) -> None:
        try:
            self._index = FullText.open(Layout.open(Path(path).expanduser()).index_file, read_only=True)
        except CollectionError as error:
            raise TopicError(f"engine 'collection': {error}") from error

    async def search(self, query: str, limit: int) -> Hits:
        """The best matches."""
        try:
            found = self._index.search(query, limit)
        except HoneyguideError as error:
            return Hits(note=str(error), failed=True)
        return Hits(tuple(SearchResult(hit.url, hit.title) for hit in found), requests=1)


@runtime_checkable
class Searchable(Protocol):
    """What is asked of the lab's service `web`."""

    def search(self, query: str, limit: int = 10) -> Sequence[Document]:
        """The best matches of a query."""
        ...


class RecordedEngine:
    """Searches a whole recorded web, as a public engine searches the live one; at most ten results.

    Args:
        web: The lab's service.
        most: Results to a query at most.
    """

    name = "web"
    remote = False
    rate = 0.0

    def __init__(self, web: Searchable, *, most: int = 10) -> None:
        self._web = web
        self._most = most

    async def search(self, query: str, limit: int) -> Hits:
        """The best matches."""
        try:
            found = self._web.search(query, min(limit, self._most))
        except HoneyguideError as error:
            return Hits(note=str(error), failed=True)
        return Hits(tuple(SearchResult(one.url, one.title) for one in found), requests=1)
