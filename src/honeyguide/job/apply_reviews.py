"""Take reviews into a crawl that does not run: retrain its page model and re-score waiting URLs."""

from __future__ import annotations

from pathlib import Path

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
