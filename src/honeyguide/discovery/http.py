"""What sources need of HTTP: one question, one answer. The engine gives them its own fetcher."""

from __future__ import annotations

from typing import Protocol

import msgspec


class HttpAnswer(msgspec.Struct, frozen=True):
    """What a service said."""

    status: int = 0
    """0: nothing came back."""
    body: bytes = b""
    problem: str = ""
    """Why nothing, or only a part, came back."""
    retry_after: float | None = None
    """Seconds the service asked us to stay away."""
    seconds: float = 0.0


class Http(Protocol):
    """Asks services over HTTP, under the crawl's limits and egress rules. Never raises for what they do."""

    async def get(
        self, url: str, *, headers: tuple[tuple[str, str], ...] = (), max_bytes: int = 4 << 20
    ) -> HttpAnswer:
        """The answer to one GET; redirects are not followed."""
        ...
