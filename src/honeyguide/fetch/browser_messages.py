"""What the crawl and a browser's process say to each other. Plain data: it crosses a process boundary.

Frames on a socket pair are a four-byte length (big-endian) and a msgpack document with its kind in it. The
crawl sends a `RenderJob` and an `Answer` for each `Wanted`. The browser's process says `Ready`, wants things,
and ends each page with `Rendered` or `NotRendered`.
"""

from __future__ import annotations

import struct
from typing import Final, TypeAlias

import msgspec

from honeyguide.fetch.base import Headers

HEADER: Final = struct.Struct(">I")
MAX_FRAME: Final = 256 << 20


class RenderLimits(msgspec.Struct, frozen=True):
    """What one page may take in a browser."""

    seconds: float = 10.0
    """From the beginning of the page until it is read, whatever it still does."""
    requests: int = 100
    """Requests that a page may make; further ones are refused."""
    bytes: int = 16 << 20
    """What the answers to them may hold together."""
    memory: int = 1 << 30
    """What the browser and all its processes may take; more ends it."""
    html: int = 8 << 20
    """Bytes of the rendered document."""
    scrolls: int = 5
    """How often a page that grows is scrolled to its end."""
    at_once: int = 6
    """Requests of one page under way."""
    pop_ups: int = 5
    """Windows that a page may try to open; each is closed, and more end the page."""


class RenderJob(msgspec.Struct, frozen=True, tag="job"):
    """A page to render, as it was received."""

    url: str
    body: bytes
    headers: Headers = ()
    limits: RenderLimits = RenderLimits()


class Wanted(msgspec.Struct, frozen=True, tag="wanted"):
    """A request that the page makes."""

    number: int
    url: str
    kind: str
    """`script`, `stylesheet`, `fetch`, `xhr`, ..."""
    headers: Headers = ()


class Answer(msgspec.Struct, frozen=True, tag="answer"):
    """What a request of a page got."""

    number: int
    status: int = 0
    headers: Headers = ()
    body: bytes = b""
    refused: str = ""
    """Why there is no answer."""


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """The browser waits for a page."""

    software: str = ""
    """Such as `Chromium 156.0`."""


class Rendered(msgspec.Struct, frozen=True, tag="rendered"):
    """A page as it stands when its scripts have run."""

    html: bytes
    """The document, UTF-8."""
    requests: int = 0
    """Requests that were answered."""
    refused: int = 0
    """Requests that were refused: images, frames, other methods than GET, over a limit."""
    scrolls: int = 0
    late: bool = False
    """Whether the time was over before the page was quiet."""
    software: str = ""


class NotRendered(msgspec.Struct, frozen=True, tag="not"):
    """Why a page could not be rendered."""

    reason: str


ToBrowser: TypeAlias = RenderJob | Answer
FromBrowser: TypeAlias = Ready | Wanted | Rendered | NotRendered
