"""Several shards on a web of the lab, in step: the engine's own exchange of links, the cluster's own dealing.

A round is what happens between two looks of the coordinator. Each shard says what is on top of its
frontier, a portion of the budget is dealt (`cluster.dealing`), each fetches its part, all commit, and what
left for other shards arrives there. Portions, tops and exchanges are those of the coordinator, by the same
code. In a cluster the shards fetch at the same time; here they take turns page by page, so runs are equal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import ExitStack

import msgspec

from honeyguide.cluster.assignment import owner_of
from honeyguide.cluster.dealing import Front, deal, portion_of
from honeyguide.cluster.learning import (
    FIRST_AGREEMENT,
    agree,
    all_others,
    exchange_due,
    learned_by,
    next_agreement,
    others_of,
    spread_of,
    teach,
)
from honeyguide.config.load import check_values
from honeyguide.config.schema import UNLIMITED, Config
from honeyguide.engine.clock import VirtualClock
from honeyguide.engine.crawler import Crawler
from honeyguide.engine.neighbours import Mailbox, Neighbours
from honeyguide.engine.visit import Visitor
from honeyguide.job.assemble import Equipment, Given, make_crawler, open_stores
from honeyguide.job.parts import chosen
from honeyguide.lab.runner.hosts_split import SplitVisits, joined, split
from honeyguide.lab.runner.situation import Situation
from honeyguide.lab.runner.world import Asks, World
from honeyguide.model import Examples
from honeyguide.ordering.sharing import SharingOrder
from honeyguide.store.shards import shard_names


class Sharing(msgspec.Struct, frozen=True):
    """How shards work together."""

    merge: bool = True
    """Whether what orders and page models learn is merged."""
    split: bool = False
    """Whether folders stand in for hosts."""
    cut: int = 0
    """Which way hosts are given to shards: 0 as in a live crawl, others as if they had other names."""


class Course(msgspec.Struct, frozen=True):
    """What a sharded crawl fetched, and what it sent about."""

    urls: tuple[str, ...]
    """In order, as the web names them."""
    pages: tuple[int, ...]
    """Of each shard."""
    links_sent: int
    rounds: int


class _Shard:
    def __init__(self, name: str, crawler: Crawler, mailbox: Mailbox) -> None:
        self.name = name
        self.crawler = crawler
        self.mailbox = mailbox
        self.sent: dict[str, int] = {}


def sharded_crawl(
    world: World,
    there: Situation,
    examples: Examples,
    *,
    recipe: str,
    pages: int,
    shards: int,
    sharing: Sharing,
) -> Course:
    """Crawl in memory with so many shards.

    Args:
        world: The web.
        there: Topic and seeds.
        examples: What every shard is given.
        recipe: Name of a recipe that needs no blocks and no services.
        pages: Budget of all shards together.
        shards: How many.
        sharing: How they work together.
    """
    with ExitStack() as stack:
        made = _make(world, there, examples, recipe=recipe, shards=shards, sharing=sharing, stack=stack)
        return asyncio.run(_rounds(made, pages, sharing))


def _make(
    world: World,
    there: Situation,
    examples: Examples,
    *,
    recipe: str,
    shards: int,
    sharing: Sharing,
    stack: ExitStack,
) -> list[_Shard]:
    names = shard_names(shards)
    owners: dict[str, str] = {}

    def owner(host: str) -> str:
        # By host, not by domain: the folders of a split site are all of one domain.
        named = f"{sharing.cut}.{host}" if sharing.cut else host
        return owners.get(host) or owners.setdefault(host, owner_of(named, names))

    seeds = [split(url) for url in there.seeds] if sharing.split else list(there.seeds)
    config = _config(there, examples, recipe, seeds)
    made: list[_Shard] = []
    for name in names:
        clock = VirtualClock()
        replay = world.replay(clock, site=there.task.site, blocks=False, asks=Asks())
        visitor: Visitor = SplitVisits(replay.visitor) if sharing.split else replay.visitor
        stores, _ = open_stores(config, None, clock)
        stack.enter_context(stores.state)
        mailbox = Mailbox()
        given = Given(
            services={"clock": clock, "state": stores.state},
            neighbours=Neighbours(name, names, owner, mailbox),
        )
        equipment = Equipment(config, chosen(config), clock, stores, visitor, given)
        crawler = make_crawler(equipment, examples)
        mailbox.allow(1 << 40)
        made.append(_Shard(name, crawler, mailbox))
    return made


def _config(there: Situation, examples: Examples, recipe: str, seeds: Sequence[str]) -> Config:
    polite = {"delay": 0, "ip_delay": 0, "slow_factor": 0, "max_retries": 0, "max_crawl_delay": 0}
    crawl = {"seeds": seeds, "recipe": recipe, "max_pages": UNLIMITED, "max_pages_per_domain": UNLIMITED}
    topic = {"name": there.task.name, "keywords": examples.keywords or ("page",)}
    return check_values({"topic": topic, "crawl": crawl, "politeness": polite})


async def _rounds(shards: Sequence[_Shard], pages: int, sharing: Sharing) -> Course:
    fetched: list[str] = []
    rounds = links = 0
    exchanged = idle = 0
    agreed = FIRST_AGREEMENT
    orders = isinstance(shards[0].crawler.order, SharingOrder)
    while len(fetched) < pages and idle < 3:
        portion = portion_of(len(fetched), most=pages)
        grants = _grants(shards, min(portion, pages - len(fetched)))
        moved = await _fetch(shards, grants, fetched)
        for shard in shards:
            shard.crawler.settle()
        sent = _deliver(shards)
        links += sent
        for shard in shards:
            shard.crawler.settle()
        if sharing.merge and exchange_due(len(fetched), exchanged, orders=orders):
            exchanged = len(fetched)
            weigh = len(fetched) >= agreed
            if weigh:
                agreed = next_agreement(len(fetched))
            share_learning(shards, weigh=weigh)
        idle = 0 if moved or sent else idle + 1
        rounds += 1
    name: Callable[[str], str] = joined if sharing.split else str
    return Course(
        tuple(map(name, fetched)), tuple(shard.crawler.tally.pages for shard in shards), links, rounds
    )


def _grants(shards: Sequence[_Shard], portion: int) -> dict[str, int]:
    if any(shard.crawler.tally.pages == 0 for shard in shards) and not any(
        shard.crawler.waiting for shard in shards
    ):
        return {shard.name: 1 for shard in shards}  # the seeds are not in yet
    return deal(
        [Front(shard.name, *shard.crawler.best_waiting(), shard.crawler.tally.pages) for shard in shards],
        portion,
    )


async def _fetch(shards: Sequence[_Shard], grants: dict[str, int], fetched: list[str]) -> bool:
    """Let each shard fetch its part, in turns; whether anything was asked for."""
    moved = False
    left = dict(grants)
    while any(left.values()):
        for shard in shards:
            if not left[shard.name]:
                continue
            before = shard.crawler.tally.pages
            if not await shard.crawler.fetch_one():
                left[shard.name] = 0
                continue
            moved = True
            if shard.crawler.tally.pages > before:
                left[shard.name] -= 1
                fetched.append(shard.crawler.last_url)
    return moved


def _deliver(shards: Sequence[_Shard]) -> int:
    """Take what left to where it belongs; how many links."""
    count = 0
    by_name = {shard.name: shard for shard in shards}
    for sender in shards:
        for to in sender.mailbox.waiting_for():
            while batches := sender.mailbox.to_send(to, sender.sent.get(to, 0)):
                by_name[to].mailbox.deliver(sender.name, sender.mailbox.run, batches)
                sender.sent[to] = batches[-1].number
                count += sum(len(batch.links) for batch in batches)
            sender.mailbox.acknowledge(to, sender.sent[to])
    return count


def share_learning(shards: Sequence[_Shard], *, weigh: bool) -> None:
    """Merge what the shards' orders have learned, where they can share it, and let them weigh it anew."""
    if len(shards) < 2:
        return
    told = {
        shard.name: learned_by(shard.crawler.order, shard.crawler.model, shards=len(shards))
        for shard in shards
    }
    others = all_others(told)
    for shard in shards:
        teach(shard.crawler, *others[shard.name])
    if weigh:
        spreads = others_of({shard.name: spread_of(shard.crawler) for shard in shards})
        for shard in shards:
            agree(shard.crawler, spreads[shard.name])
