"""A host's record: what politeness, the frontier and the trap rules know of it."""

from __future__ import annotations

import msgspec


class Host(msgspec.Struct, gc=False):
    """One host (`name[:port]`). Mutable: it is the crawl's running record, saved at each commit.

    It holds no other object, so the garbage collector need not look at half a million of them.
    """

    row: int
    name: str
    domain: str = ""
    """Registered domain, or the name itself for addresses."""
    ip: str = ""
    ready_at: float = 0.0
    """Not before this time (crawl's clock) may the host be asked again."""
    delay: float = 0.0
    """Current adaptive delay in seconds."""
    crawl_delay: float = -1.0
    """From robots.txt; negative when it names none."""
    failures: int = 0
    """Failed requests in a row."""
    requests: int = 0
    fetched: int = 0
    relevant: int = 0
    recent: float = -1.0
    """Moving average of its pages' relevance; negative before the first page."""
    given_up: bool = False
