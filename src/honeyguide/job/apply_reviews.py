"""Take reviews into a crawl that does not run: retrain its page model and re-score waiting URLs."""

from __future__ import annotations

from pathlib import Path

from honeyguide.collection.merging import pass_on_reviews
from honeyguide.config.load import load
from honeyguide.engine.clock import WallClock
from honeyguide.engine.visit import Visit
from honeyguide.errors import CollectionError
from honeyguide.frontier import Waiting
from honeyguide.job.assemble import Given, equip, make_crawler, open_stores
from honeyguide.job.crawl import run_here
from honeyguide.job.examples import kept_examples
from honeyguide.job.parts import chosen
from honeyguide.store.layout import Layout
from honeyguide.store.plain import read_plain
from honeyguide.store.reviews import FILE as REVIEWS
from honeyguide.store.shards import is_sharded, shard_folder
from honeyguide.store.shards import load as load_manifest


class _NoVisits:
    """Nothing is fetched."""

    async def visit(self, waiting: Waiting) -> Visit:
        """Never asked."""
        raise AssertionError(f"{waiting.url} was asked for while reviews were applied")

    async def close(self) -> None:
        """Nothing to close."""


def apply_reviews(folder: Path) -> dict[str, object]:
    """Take in what was decided since the last time.

    Args:
        folder: The collection; no crawl may be running on it (that one takes reviews in by itself).

    Returns:
        What the journal says of it: decisions, reviewed pages learned from, pages judged again, verdicts and
        priorities that changed. Empty when there was nothing new.

    Raises:
        CollectionError: A crawl is running, or the collection cannot be read.
    """
    if is_sharded(folder):
        return _apply_to_shards(folder)
    layout = Layout.open(folder)
    config = load(layout.topic_file)
    clock = WallClock()
    stores, _ = open_stores(config, folder, clock)
    try:
        if stores.archive is None:
            raise CollectionError(
                f"{folder} keeps no pages (archive = false), so nothing can be judged again"
            )
        examples = kept_examples(layout)
        if examples is None:
            raise CollectionError(f"{folder} has no examples.json yet; let the crawl begin first")
        given = Given(visitor=_NoVisits())
        equipment = equip(config, chosen(config), clock, stores=stores, layout=layout, given=given)
        try:
            retraining = make_crawler(equipment, examples).retraining
            before = stores.state.last_event
            if retraining is not None:
                retraining.all(clock.now())
        finally:
            run_here(equipment.close)
        told = [event.data for event in stores.state.events(after=before, kind="learned")]
    finally:
        stores.close()
    return told[-1] if told else {}


def _apply_to_shards(folder: Path) -> dict[str, object]:
    """The same for each shard of a collection: each judges its own pages by the decisions on them."""
    Layout.open(folder).require_ours()
    total: dict[str, object] = {}
    try:
        lines = read_plain(folder / REVIEWS)
    except FileNotFoundError:
        return total
    for name in load_manifest(folder).folders:
        shard = shard_folder(folder, name)
        if not Layout(shard).state_file.is_file():
            continue
        pass_on_reviews(lines, shard)
        for key, value in apply_reviews(shard).items():
            before = total.get(key, 0)
            summed = isinstance(value, int) and isinstance(before, int) and key != "decisions"
            total[key] = before + value if summed else value  # type: ignore[operator]
    return total
