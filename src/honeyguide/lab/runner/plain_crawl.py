"""One crawl on a web of the lab, looked at from outside now and then: for studies of a crawl's course."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

from honeyguide.config.load import check_values
from honeyguide.config.schema import UNLIMITED
from honeyguide.engine.clock import VirtualClock
from honeyguide.engine.crawler import Crawler
from honeyguide.engine.visit import Visitor
from honeyguide.job.assemble import Equipment, Given, make_crawler, open_stores
from honeyguide.job.parts import chosen
from honeyguide.lab.runner.situation import Situation
from honeyguide.lab.runner.world import Asks, World
from honeyguide.model import Examples
from honeyguide.store.state import State

Seen = TypeVar("Seen")


def plain_crawl(
    world: World,
    there: Situation,
    examples: Examples,
    *,
    recipe: str,
    pages: int,
    marks: Sequence[int],
    look: Callable[[State], Seen],
) -> dict[int, Seen]:
    """Crawl in memory, without waiting; what was seen at each mark, and at the end.

    Args:
        world: The web.
        there: Topic and seeds.
        examples: What the crawl is given.
        recipe: Name of a recipe that needs no blocks and no services.
        pages: Budget.
        marks: Numbers of pages to look after; a look comes with the next commit.
        look: Asked with the state; its answer is kept by the number of pages.
    """
    polite = {"delay": 0, "ip_delay": 0, "slow_factor": 0, "max_retries": 0, "max_crawl_delay": 0}
    crawl = {
        "seeds": there.seeds,
        "recipe": recipe,
        "max_pages": pages,
        "max_pages_per_domain": UNLIMITED,
    }
    topic = {"name": there.task.name, "keywords": examples.keywords or ("page",)}
    config = check_values({"topic": topic, "crawl": crawl, "politeness": polite})
    clock = VirtualClock()
    replay = world.replay(clock, site=there.task.site, blocks=False, asks=Asks())
    stores, _ = open_stores(config, None, clock)
    with stores.state:
        own = Given(services={"clock": clock, "state": stores.state})
        equipment = Equipment(config, chosen(config), clock, stores, replay.visitor, own)
        crawler = make_crawler(equipment, examples)
        return asyncio.run(_watched(crawler, replay.visitor, stores.state, marks=marks, look=look))


async def _watched(
    crawler: Crawler, visitor: Visitor, state: State, *, marks: Sequence[int], look: Callable[[State], Seen]
) -> dict[int, Seen]:
    seen: dict[int, Seen] = {}
    ahead = sorted(marks)
    try:
        async for event in crawler.run():
            if event.kind == "page" and ahead and crawler.tally.pages >= ahead[0]:
                seen[crawler.tally.pages] = look(state)
                while ahead and ahead[0] <= crawler.tally.pages:
                    ahead.pop(0)
    finally:
        await visitor.close()
    seen[crawler.tally.pages] = look(state)
    return seen
