"""A recorded web as backlink service, knowing a share of its links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from honeyguide.discovery.backlinks.base import LocalService, Parents
from honeyguide.errors import HoneyguideError


@runtime_checkable
class KnowsLinks(Protocol):
    """What is asked of the lab's service `web`."""

    def backlinks(
        self, url: str, coverage: float | None = None, *, limit: int | None = None
    ) -> Sequence[str]:
        """Pages that link to a URL, as an index that holds `coverage` of all pages knows them."""
        ...


class RecordedLinks(LocalService):
    """Asks the recorded web itself; the lab counts it as a service, not as pages fetched.

    Args:
        web: The lab's service.
        coverage: Share of the pages that the index holds; None: as the experiment says.
    """

    def __init__(self, web: KnowsLinks, coverage: float | None = None) -> None:
        self._web = web
        self._coverage = coverage

    async def parents(self, url: str, limit: int) -> Parents:
        """Pages of the recording that link to the URL."""
        try:
            return Parents(tuple(self._web.backlinks(url, self._coverage, limit=limit)), requests=1)
        except HoneyguideError as error:
            return Parents(note=str(error), failed=True)
