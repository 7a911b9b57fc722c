"""The set-up before a crawl: sources that gather something first do so once, and it is kept."""

from __future__ import annotations

from pathlib import Path

import msgspec

from honeyguide.config.recipes import Recipe
from honeyguide.config.schema import Config
from honeyguide.discovery.base import Source
from honeyguide.engine.clock import Clock
from honeyguide.engine.set_up import Preparation
from honeyguide.engine.web import Web
from honeyguide.job.assemble import Given
from honeyguide.job.parts import preparing_sources
from honeyguide.model import Event, Examples
from honeyguide.store.atomic import replacing
from honeyguide.store.state import State


class Prepared(msgspec.Struct, frozen=True):
    """What is ready before the page model is fitted."""

    examples: Examples
    sources: dict[int, Source]
    """Sources that are made already, by their position in the recipe."""
    events: tuple[Event, ...] = ()
    """What the set-up wrote to the journal."""

    def __repr__(self) -> str:
        """Short: asyncio writes out the results of finished tasks, and these hold megabytes of text."""
        return f"Prepared({len(self.sources)} sources, {len(self.events)} events)"


async def prepare(
    config: Config,
    recipe: Recipe,
    examples: Examples,
    *,
    state: State,
    web: Web,
    clock: Clock,
    given: Given,
    kept: Path | None = None,
) -> Prepared:
    """Run the set-up of a recipe's sources (`discovery.base.Preparing`), or take up what it gave.

    Args:
        config: For manners and random seed.
        recipe: Names the sources.
        examples: What the user gave about the topic.
        state: Holds the journal.
        web: Where the set-up reads pages.
        clock: The crawl's.
        given: Sources and services that were handed in.
        kept: File that holds what an earlier session gathered, or will hold it.
    """
    seed = config.crawl.random_seed
    if given.sources is not None:
        sources = dict(enumerate(given.sources))
    else:
        sources = preparing_sources(recipe, examples, seed=seed, services=given.services)
    setup = Preparation(
        config.as_topic(),
        examples,
        state=state,
        web=web,
        clock=clock,
        seed=seed,
        delay=config.politeness.delay,
        at_once=config.crawl.concurrency,
    )
    setup.recall(sources.values())
    earlier = _read(kept)
    if earlier is not None:
        return Prepared(earlier, sources)
    gathered = await setup.run(sources.values())
    if gathered is not examples:
        _write(kept, gathered)
    return Prepared(gathered, sources, tuple(setup.events))


def _read(kept: Path | None) -> Examples | None:
    if kept is None or not kept.exists():
        return None
    return msgspec.json.decode(kept.read_bytes(), type=Examples)


def _write(kept: Path | None, examples: Examples) -> None:
    if kept is not None:
        with replacing(kept) as temporary:
            temporary.write_bytes(msgspec.json.encode(examples))
