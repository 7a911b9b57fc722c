"""`honeyguide recrawl`."""

from __future__ import annotations

from pathlib import Path

from honeyguide.cli.crawl import Sharding, run, taken_up
from honeyguide.cli.environment import by_environment
from honeyguide.errors import TopicError
from honeyguide.store.shards import is_sharded


def recrawl(
    folder: Path,
    /,
    *,
    older_than: str = "0",
    budget: int | None = None,
    share: float = 0.8,
    all_pages: bool = False,
    trust: bool = False,
    ray: str = "",
    ui: bool = False,
    metrics: str = "",
    json: bool = False,
    quiet: bool = False,
) -> None:
    """Visit the pages of a collection again: keep what changed, mark what is gone.

    Relevant pages that have probably changed go first, and so do pages that led to new ones before. A page
    that has not changed costs only a header. New links are followed within their share. An interrupted run
    goes on when it is started again with the same options.

    Args:
        folder: The collection.
        older_than: Leave out pages visited within this time, such as 7d or 12h.
        budget: Visits in all; by default every page that is due.
        share: Share of known pages among the visits; the rest is for new ones.
        all_pages: Visit pages that are off topic, too.
        trust: Continue a collection that was made elsewhere (see `honeyguide trust`).
        ray: Address of a Ray cluster for a collection of shards; by default this machine.
        ui: Open the portal to watch it; it stays open afterwards.
        metrics: Answer Prometheus at this port or address, such as 127.0.0.1:9109.
        json: Print the closing figures as JSON.
        quiet: Show no progress.
    """
    if budget is not None and budget < 1:
        raise TopicError("--budget must be at least 1")
    if not 0 < share <= 1:
        raise TopicError("--share must be above 0 and at most 1")
    again = {"older_than": older_than, "budget": budget, "share": share, "all_pages": all_pages}
    config = by_environment(taken_up(folder, trust=trust))
    sharding = Sharding(ray=ray) if ray or is_sharded(folder) else None
    run(
        config,
        folder,
        json=json,
        quiet=quiet,
        ui=ui,
        metrics=metrics,
        again=again,
        sharding=sharding,
        on_change="keep",
    )
