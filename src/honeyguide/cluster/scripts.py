"""What scripts call for a collection, whether it consists of shards or not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from honeyguide.cluster.coordinator import ShardedCrawl
from honeyguide.collection.collection import Collection
from honeyguide.errors import CollectionError
from honeyguide.job import crawl as ordinary
from honeyguide.job.again import SHARE
from honeyguide.model import Event
from honeyguide.store.layout import Layout
from honeyguide.store.shards import is_sharded


def recrawl(
    folder: Path | str,
    *,
    older_than: float | str = 0.0,
    budget: int | None = None,
    share: float = SHARE,
    all_pages: bool = False,
    on_event: Callable[[Event], object] | None = None,
) -> Collection:
    """Visit the pages of a collection again, and give it back; for scripts and notebooks.

    Args:
        folder: The collection. The shards of one that has some run on this machine.
        older_than: As for `Crawl.recrawl`.
        budget: As for `Crawl.recrawl`.
        share: As for `Crawl.recrawl`.
        all_pages: As for `Crawl.recrawl`.
        on_event: Called with each event; not for shards, each of which has its own journal.

    Raises:
        CollectionError: There is no collection with pages, or events of shards are asked for.
    """
    if not is_sharded(Path(folder)):
        return ordinary.recrawl(
            folder, older_than=older_than, budget=budget, share=share, all_pages=all_pages, on_event=on_event
        )
    if on_event is not None:
        raise CollectionError(
            f"{folder} consists of shards, whose events nobody sees as they come; leave out on_event, or take"
            " ShardedCrawl(...).recrawl() to see how far it is"
        )
    job = ShardedCrawl(Layout.open(Path(folder)).topic_file, out=folder)

    async def everything() -> None:
        async for _ in job.recrawl(older_than=older_than, budget=budget, share=share, all_pages=all_pages):
            pass

    ordinary.run_here(everything, interrupted=lambda: job.stop("interrupted"))
    return Collection.open(folder)
