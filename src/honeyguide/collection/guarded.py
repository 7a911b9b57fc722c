"""Values of a state that a stranger may have written, read without trusting them."""

from __future__ import annotations

from datetime import UTC, datetime

from honeyguide.web.url import host_key

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def host_of(url: str) -> str:
    """Host of an address; empty for what is not an address.

    Example:
        >>> host_of("http://a.example/x"), host_of("javascript:alert(1)")
        ('a.example', '')
    """
    try:
        return host_key(url) if url.startswith(("http://", "https://")) else ""
    except (ValueError, IndexError):
        return ""


def utc(at: float) -> datetime:
    """A moment; the beginning of 1970 for what is none.

    Example:
        >>> utc(float("inf")).year, utc(1e9).year
        (1970, 2001)
    """
    try:
        return datetime.fromtimestamp(at, UTC)
    except (OverflowError, ValueError, OSError):
        return _EPOCH
