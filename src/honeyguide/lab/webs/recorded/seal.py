"""No look-ahead: while a replay runs, pages that it has not fetched cannot be read by anything else."""

from __future__ import annotations

from honeyguide.errors import HoneyguideError
from honeyguide.model import UrlId


class LookAhead(HoneyguideError):
    """A recipe read a page that its crawl has not fetched. Its results would be worth nothing."""


class Seal:
    """Which replays of a recording run in this process, and what each has fetched."""

    def __init__(self) -> None:
        self._running: dict[object, set[UrlId]] = {}

    def close(self, replay: object, fetched: set[UrlId]) -> None:
        """Close the recording for everybody but this replay; `fetched` grows as it goes on."""
        self._running[replay] = fetched

    def open(self, replay: object) -> None:
        """The replay is over. Allowed twice."""
        self._running.pop(replay, None)

    def check(self, url: UrlId | None) -> None:
        """LookAhead when a replay runs and no running one has fetched the page (None: any of them)."""
        if self._running and not any(url in fetched for fetched in self._running.values()):
            raise LookAhead(
                "a page that the crawl has not fetched was asked for during a replay;"
                " use only what the crawl hands to the recipe"
            )
