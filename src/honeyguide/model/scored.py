"""A link order's answer for one link."""

from __future__ import annotations

import msgspec


class Scored(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The priority of one link, or the reason why it is dropped."""

    link: int
    """Index into the sequence of links that was ranked."""
    priority: float
    """Higher is fetched earlier. Ignored when `drop` is set."""
    drop: str = ""
    """Why the link is left out, or empty. A later link may still bring the URL in."""
    factors: dict[str, float] = {}
    """Named scores behind the priority, shown by `honeyguide why`."""
    memo: dict[str, float] = {}
    """Kept with the URL and given back as `page.via.memo` when it is fetched."""
