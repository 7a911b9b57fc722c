"""The one protocol of this folder: which pages link to this one?"""

from __future__ import annotations

from typing import Protocol

import msgspec


class Parents(msgspec.Struct, frozen=True):
    """What a backlink service said about one URL, and what it cost."""

    urls: tuple[str, ...] = ()
    """Pages that link to it; canonical or not, with or without repetitions."""
    requests: int = 0
    note: str = ""
    """For people: what went wrong, or empty. Never holds a key."""
    failed: bool = False
    retry_after: float | None = None
    """Seconds the service asked us to stay away."""


class BacklinkService(Protocol):
    """Knows some of the pages that link to a page. Failing is normal: it answers with a note."""

    remote: bool
    """Whether each question is a request to somebody's server, and so is rationed by `rate`."""
    rate: float
    """Questions a second at most, where it is remote."""

    async def parents(self, url: str, limit: int) -> Parents:
        """At most `limit` pages that link to a canonical URL."""
        ...


class LocalService:
    """What services without a server of their own have in common."""

    remote: bool = False
    rate: float = 0.0
