"""Budgets and stop rules: when a crawl has had enough."""

from __future__ import annotations

import msgspec


class Budget(msgspec.Struct, frozen=True):
    """Limits for the whole crawl, all its sessions together. None: no limit."""

    max_pages: int | None = 1000
    max_relevant: int | None = None
    max_bytes: int | None = None
    max_seconds: float | None = None
    stop_after_irrelevant: int | None = None
    """Stop when none of the last N pages was on topic."""


class Tally(msgspec.Struct):
    """What the crawl has spent and got so far. Mutable; saved at each commit."""

    pages: int = 0
    relevant: int = 0
    bytes: int = 0
    requests: int = 0
    seconds: float = 0.0
    since_relevant: int = 0
    score: float = 0.0
    """Sum of verdict scores."""
    recent: float = 0.0
    """Moving average of verdict scores over about the last 200 pages."""
    revisits: int = 0
    """Later visits of pages that the collection holds."""
    changed: int = 0
    """Those of them that found another text."""
    gone: int = 0
    """Those that found the page gone for the first time."""

    def count_page(self, *, score: float, on_topic: bool, size: int) -> None:
        """Add one fetched page."""
        self.pages += 1
        self.bytes += size
        self.score += score
        weight = max(1 / 200, 1 / self.pages)
        self.recent += weight * (score - self.recent)
        if on_topic:
            self.relevant += 1
            self.since_relevant = 0
        else:
            self.since_relevant += 1

    @property
    def harvest(self) -> float:
        """Share of fetched pages on topic."""
        return self.relevant / self.pages if self.pages else 0.0


def spent(budget: Budget, tally: Tally) -> str:
    """Why the crawl must stop now, or an empty string.

    Example:
        >>> spent(Budget(max_pages=10), Tally(pages=10))
        'budget of 10 pages is spent'
    """
    if budget.max_pages is not None and tally.pages >= budget.max_pages:
        return f"budget of {budget.max_pages} pages is spent"
    if budget.max_relevant is not None and tally.relevant >= budget.max_relevant:
        return f"{tally.relevant} relevant pages were found"
    if budget.max_bytes is not None and tally.bytes >= budget.max_bytes:
        return f"budget of {budget.max_bytes} bytes is spent"
    if budget.max_seconds is not None and tally.seconds >= budget.max_seconds:
        return f"budget of {budget.max_seconds:g} seconds is spent"
    limit = budget.stop_after_irrelevant
    if limit is not None and tally.since_relevant >= limit:
        return f"no relevant page among the last {limit}"
    return ""
