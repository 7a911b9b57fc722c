"""What a lab web answers to one URL: the only seam between webs and the ways to read them."""

from __future__ import annotations

from typing import Protocol, TypeAlias

import msgspec

Headers: TypeAlias = tuple[tuple[str, str], ...]


class Served(msgspec.Struct, frozen=True):
    """One HTTP answer, and how the server behaves while it gives it."""

    status: int
    headers: Headers = ()
    """As sent, without Content-Length, Date and Connection, which belong to the server."""
    body: bytes = b""
    """As sent: a Content-Encoding named in the headers is still on."""
    delay: float = 0.0
    """Seconds the server waits before the first byte."""
    behaviour: str = ""
    """Empty, or `reset` (no byte, connection reset), `hang` (no byte, ever) or `cut` (half the body)."""


class Servable(Protocol):
    """Anything that can be served or fetched from: generated webs, recorded webs."""

    def get(self, url: str) -> Served:
        """The answer for an absolute URL. Never raises for what a client may ask."""
        ...
