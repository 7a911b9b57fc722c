"""Take reviews into a crawl that does not run: retrain its page model and re-score what waits."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import msgspec

from honeyguide.config.load import load
from honeyguide.engine.clock import WallClock
from honeyguide.engine.web import Visit
from honeyguide.errors import CollectionError
from honeyguide.frontier import Waiting
from honeyguide.job.assemble import Given, make_crawler, make_fetcher, open_stores, with_services
from honeyguide.job.crawl import run_here
from honeyguide.job.parts import chosen
from honeyguide.model import Examples
from honeyguide.store.layout import Layout


class _NoWeb:
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
        What the journal says of it: decisions, reviewed pages learned from, pages judged anew, verdicts and
        priorities that changed. Empty when there was nothing new.

    Raises:
        CollectionError: A crawl is running, or the collection cannot be read.
    """
    layout = Layout.open(folder)
    config = load(layout.topic_file)
    recipe = chosen(config)
    clock = WallClock()
    stores, _ = open_stores(config, folder, clock)
    with ExitStack() as closing:
        closing.callback(stores.state.close)
        for store in (stores.index, stores.archive):
            if store is not None:
                closing.callback(store.close)
        if stores.archive is None:
            raise CollectionError(f"{folder} keeps no pages (archive = false), so nothing can be judged anew")
        fetcher = make_fetcher(config, clock, Given())
        closing.callback(run_here, fetcher.close)
        crawler = make_crawler(
            config,
            recipe,
            _examples(layout),
            stores=stores,
            layout=layout,
            web=_NoWeb(),
            clock=clock,
            given=with_services(Given(), fetcher, clock, stores.state),
        )
        before = stores.state.last_event
        if crawler.retraining is not None:
            crawler.retraining.all(clock.now())
        told = [event.data for event in stores.state.events(after=before, kind="learned")]
    return told[-1] if told else {}


def _examples(layout: Layout) -> Examples:
    """What the page model was fitted on, as the crawl kept it."""
    for kept in (layout.prepared_file, layout.root / "examples.json"):
        if kept.exists():
            return msgspec.json.decode(kept.read_bytes(), type=Examples)
    raise CollectionError(f"{layout.root} has no examples.json yet; let the crawl begin first")
