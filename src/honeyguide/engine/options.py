"""How the crawl loop runs, and the priorities of URLs that no link gave one."""

from __future__ import annotations

import msgspec

SEED_PRIORITY = 1e6
"""Seeds go before everything else, in the order they were given."""
INJECTED_PRIORITY = 1e3
"""Suggested URLs go before links, unless their source says otherwise."""


class CrawlOptions(msgspec.Struct, frozen=True):
    """How the loop runs; none of it changes what a crawl of a recorded web finds."""

    concurrency: int = 32
    drain_seconds: float = 5.0
    """How long a stopping crawl waits for answers that are under way."""
    commit_pages: int = 64
    """Pages in one transaction, at most."""
    commit_seconds: float = 0.25
    """How long an answer may wait for its transaction; a crash costs no more than that."""
    checkpoint_pages: int = 1000
    follow_sitemaps: bool = False
