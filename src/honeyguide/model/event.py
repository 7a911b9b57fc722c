"""What a crawl tells the world while it runs; the journal keeps the same events."""

from __future__ import annotations

import msgspec


class Event(msgspec.Struct, frozen=True):
    """One journal entry."""

    number: int
    """Position in the journal, from 1."""
    at: float
    """Seconds on the crawl's clock."""
    kind: str
    """`page`, `revisit`, `outcome`, `robots`, `reorder`, `suggest`, `learned`, `warning`."""
    url: str = ""
    data: dict[str, object] = {}
    """Facts by kind; plain JSON values only."""
