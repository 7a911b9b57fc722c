"""The one protocol of this folder: bring me what this URL answers."""

from __future__ import annotations

from typing import Protocol, TypeAlias, runtime_checkable

import msgspec

from honeyguide.fetch.options import MAX_BODY
from honeyguide.fetch.room import Hold
from honeyguide.model import Outcome

Headers: TypeAlias = tuple[tuple[str, str], ...]


class Request(msgspec.Struct, frozen=True):
    """One GET. The URL is canonical; redirects are never followed by a fetcher."""

    url: str
    purpose: str = "page"
    """`page`, `robots`, `sitemap` or `discovery`."""
    max_bytes: int = MAX_BODY
    """Limit for the decoded body. More is cut and marked, or refused for pages."""
    headers: Headers = ()
    types: tuple[str, ...] = ()
    """Media type beginnings that are wanted, such as `text/`. When given, a 2xx answer that names another
    type ends as `NOT_A_PAGE` before its body is read: a crawl need not download films to drop them."""
    hold: Hold | None = None
    """Where a large body takes its room, for callers who keep it beyond the fetch; they give it back."""


class Response(msgspec.Struct, frozen=True):
    """An answer with any status. `payload` is as received; `body` is decoded."""

    url: str
    status: int
    headers: Headers
    body: bytes
    payload: bytes
    """The body as the server sent it, its Content-Encoding still on (transfer coding removed)."""
    reason: str = ""
    truncated: str = ""
    """Empty, or why the body is incomplete: `length`, `time`, `disconnect`; `encoding` when a body that
    is not a 2xx page could not be decoded and is left empty."""
    ip: str = ""
    started_at: float = 0.0
    seconds: float = 0.0
    request_head: bytes = b""
    """Request line and headers as sent, for the archive."""
    response_head: bytes = b""
    """Status line and headers as received, for the archive."""

    def header(self, name: str) -> str:
        """First value of a header, or an empty string."""
        wanted, size = name.lower(), len(name)
        for key, value in self.headers:
            if len(key) == size and key.lower() == wanted:
                return value
        return ""


class Failure(msgspec.Struct, frozen=True):
    """No usable answer."""

    url: str
    outcome: Outcome
    detail: str
    ip: str = ""
    started_at: float = 0.0
    seconds: float = 0.0


class Fetcher(Protocol):
    """Fetches one URL. Never raises for what the web does; cancellation passes through."""

    async def fetch(self, request: Request) -> Response | Failure:
        """The answer, or why there is none, within the fetcher's deadline."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


@runtime_checkable
class AddressBook(Protocol):
    """A fetcher that can tell which address it would dial, so that limits per address hold from the start."""

    def address(self, host: str) -> str:
        """The address that would be dialled now; empty when it has to be looked up first."""
        ...

    async def look_up(self, host: str) -> str:
        """The address that would be dialled; empty when there is none that may be."""
        ...
