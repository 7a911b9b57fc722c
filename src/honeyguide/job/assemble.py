"""From a checked configuration to a running crawler: stores, visitor, parts, resume."""

from __future__ import annotations

import ipaddress
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from honeyguide.collection.own_parts import OWN_PARTS, own_parts
from honeyguide.config.load import freeze
from honeyguide.config.reach import reach
from honeyguide.config.recipes import Recipe
from honeyguide.config.registry import WORDS
from honeyguide.config.schema import VERSION, Config
from honeyguide.discovery.base import Recalling, Source
from honeyguide.engine.admission import Admission
from honeyguide.engine.agenda import Agenda, ComingBack
from honeyguide.engine.arrival import Arrival
from honeyguide.engine.budget import Budget, Tally
from honeyguide.engine.checkpoint import Checkpoints, ZoneMemory
from honeyguide.engine.clock import Clock, VirtualClock, WallClock
from honeyguide.engine.committer import Committer, Stores
from honeyguide.engine.control import Steering
from honeyguide.engine.crawler import Crawler, CrawlOptions
from honeyguide.engine.crossing import Crossing
from honeyguide.engine.handing_over import hand_over
from honeyguide.engine.listings import Listings
from honeyguide.engine.live import LiveVisitor, ServiceHttp, VisitOptions
from honeyguide.engine.neighbours import Neighbours
from honeyguide.engine.prospects import Rates
from honeyguide.engine.recollect import Recollection
from honeyguide.engine.rejudging import Rejudging
from honeyguide.engine.render_figures import render_figures
from honeyguide.engine.rendering import Renderer
from honeyguide.engine.reread import Reader, catch_up
from honeyguide.engine.retraining import JUDGE_AGAIN, Retraining
from honeyguide.engine.returning import Returning
from honeyguide.engine.revisits import Revisits
from honeyguide.engine.traffic import Traffic, affordable, recovered
from honeyguide.engine.visit import Visitor
from honeyguide.errors import CollectionError, MissingExtra, TopicError
from honeyguide.fetch.base import AddressBook, Fetcher
from honeyguide.fetch.browser import BrowserPool
from honeyguide.fetch.browser_messages import RenderLimits
from honeyguide.fetch.browser_program import find_browser, has_playwright
from honeyguide.fetch.egress import EgressGuard
from honeyguide.fetch.http import HttpFetcher
from honeyguide.fetch.options import FetchOptions
from honeyguide.fetch.politeness import IpGate, PolitenessPolicy
from honeyguide.fetch.proxy import proxies_from
from honeyguide.fetch.robots import RobotsCache, RobotsOptions
from honeyguide.fetch.turns import Turns
from honeyguide.frontier import Frontier
from honeyguide.job.again import Recrawl
from honeyguide.job.parts import Parts, blocks_for, blocks_of, build_parts
from honeyguide.model import Examples
from honeyguide.parse.base import Blocks, ParseFailure
from honeyguide.parse.pool import ParsePool
from honeyguide.relevance.base import RememberingPageModel
from honeyguide.relevance.reviewed import ReviewedModel
from honeyguide.store.archive import ArchiveWriter, archive_files
from honeyguide.store.archive_end import committed_end
from honeyguide.store.checked import reading
from honeyguide.store.index import FullText
from honeyguide.store.layout import Layout, is_collection
from honeyguide.store.shards import require_whole
from honeyguide.store.state import State
from honeyguide.web import Scope, TrapLimits
from honeyguide.web.zones import ZoneLimits, Zones

SOFTWARE = f"honeyguide/{VERSION}"


NOT_BEGUN = "it could not begin"
"""How the reason of a session starts whose crawl was refused before it asked for a page."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a caller may hand in instead of what the recipe names."""

    services: Mapping[str, object] | None = None
    examples: Examples | None = None
    visitor: Visitor | None = None
    fetcher: Fetcher | None = None
    change_rates: Rates | None = None
    """How often pages change, where somebody knows."""
    neighbours: Neighbours | None = None
    """The other shards, where the crawl is one of several."""
    gate: Callable[[PolitenessPolicy], IpGate] | None = None
    """Makes the spacing per address, where other processes ask the same addresses."""


@dataclass(frozen=True, slots=True)
class Equipment:
    """What a crawl works with, before its parts are made."""

    config: Config
    recipe: Recipe
    clock: Clock
    stores: Stores
    visitor: Visitor
    given: Given
    layout: Layout | None = None
    """Where the collection is; None keeps everything in memory."""
    fetcher: Fetcher | None = None
    gate: IpGate | None = None
    """Spacing per address, for all requests of the crawl."""

    async def close(self) -> None:
        """Let go of connections and parse workers; the stores stay open."""
        await self.visitor.close()
        if self.fetcher is not None:
            await self.fetcher.close()


def equip(
    config: Config, recipe: Recipe, clock: Clock, *, stores: Stores, layout: Layout | None, given: Given
) -> Equipment:
    """Everything that fetches pages, and the services that sources may ask for."""
    fetcher = make_fetcher(config, clock, given)
    own: dict[str, object] = {"http": ServiceHttp(fetcher), "clock": clock, "state": stores.state}
    given = replace(given, services={**own, **(given.services or {})})
    blocks = blocks_for(recipe.ordering)
    gate = (given.gate or IpGate)(politeness_policy(config))
    visitor = given.visitor or make_visitor(
        config, blocks, clock, stores.state, fetcher=fetcher, gate=gate, packs=stores.archive is not None
    )
    return Equipment(config, recipe, clock, stores, visitor, given, layout, fetcher, gate)


@asynccontextmanager
async def a_few_visits(config: Config, blocks: Blocks = False) -> AsyncIterator[tuple[Visitor, Clock]]:
    """A visitor for a few pages outside any crawl: robots.txt, limits and egress rules as in one."""
    clock = WallClock()
    with State.open(None) as state:
        fetcher = make_fetcher(config, clock, Given())
        visitor = make_visitor(config, blocks, clock, state, fetcher=fetcher)
        try:
            yield visitor, clock
        finally:
            await visitor.close()


def open_stores(config: Config, root: Path | None, clock: Clock) -> tuple[Stores, Layout | None]:
    """State, archive and index of a collection folder; a state in memory when there is none."""
    if root is None:
        return Stores(State.open(None)), None
    if is_collection(root):
        layout = Layout.open(root)
        layout.require_ours()
        require_whole(root)
    else:
        layout = Layout.create(root, software=SOFTWARE, topic=freeze(config), reach=reach(config, root=root))
    state = State.open(layout.state_file, synchronous=config.storage.sync.upper())
    born = state.setting("born")
    if born is None:
        if archive_files(layout.archive_folder, "pages"):
            state.close()
            raise CollectionError(
                f"{layout.state_file} is empty, but there are pages in {layout.archive_folder}: restore the"
                " state from a copy, or start again in another folder"
            )
        born = clock.now()
        state.put_setting("born", born)
        state.commit()
    archive = index = None
    if config.storage.archive:
        archive = ArchiveWriter.resume(
            layout.archive_folder,
            committed_end(state, layout.archive_folder, "pages"),
            prefix="pages",
            software=SOFTWARE,
            clock=clock.now,
            seed=f"{config.topic.name} {born}",
        )
    if config.storage.index:
        index = FullText.open_or_rebuild(layout.index_file)
    go_on_clock(state, clock)
    return Stores(state, archive, index), layout


def make_fetcher(config: Config, clock: Clock, given: Given) -> Fetcher:
    """The fetcher that was handed in, or HTTP as the configuration describes it."""
    return given.fetcher or HttpFetcher(
        fetch_options(config),
        clock=clock.now,
        guard=EgressGuard([ipaddress.ip_network(net) for net in config.network.allow_net]),
    )


def make_visitor(
    config: Config,
    blocks: Blocks,
    clock: Clock,
    state: State,
    *,
    fetcher: Fetcher,
    gate: IpGate | None = None,
    packs: bool = False,
) -> Visitor:
    """Visits over a fetcher, as the configuration describes them; `packs` answers for the archive, too."""
    policy = politeness_policy(config)
    turns = Turns(
        policy,
        gate or IpGate(policy),
        now=clock.now,
        sleep=clock.sleep,
        look_up=fetcher.look_up if isinstance(fetcher, AddressBook) else None,
    )
    workers = 0 if clock.virtual else (config.crawl.parse_workers or max(1, (os.cpu_count() or 2) - 1))
    pool = ParsePool(workers, deadline=config.limits.parse_deadline, memory_limit=config.limits.parse_memory)

    async def read_robots(url: str, body: bytes, token: str) -> tuple[bytes, bytes] | None:
        found = await pool.robots(url, body, token)
        return None if isinstance(found, ParseFailure) else (found.rules, found.kept)

    robots = RobotsCache(
        fetcher,
        config.identity.product,
        clock=clock.now,
        options=robots_options(config),
        turns=turns,
        reader=read_robots,
    )
    options = VisitOptions(blocks=blocks, max_bytes=config.limits.max_body)
    renderer = None if clock.virtual else make_renderer(config, clock, state, fetcher=fetcher)
    return LiveVisitor(
        fetcher,
        pool,
        robots=robots,
        options=options,
        recall=state.robots,
        turns=turns,
        renderer=renderer,
        packer=pool if packs else None,
    )


def make_renderer(config: Config, clock: Clock, state: State, *, fetcher: Fetcher) -> Renderer | None:
    """What renders pages in browsers, as the configuration describes it; None where none is to be.

    Raises:
        MissingExtra: Every page is to be rendered, and the extra is not installed.
        TopicError: Every page is to be rendered, and there is no browser.
    """
    table = config.fetch
    if table.render == "never":
        return None
    program = find_browser() if has_playwright() else ""
    if table.render == "always":
        if not has_playwright():
            raise MissingExtra("render = 'always' in [fetch]", "browser")
        if not program:
            raise TopicError(
                "render = 'always' in [fetch] needs a browser; install Debian's package chromium, or run"
                " `playwright install chromium`"
            )
    if not program:
        return None
    pool = BrowserPool(
        program,
        browsers=table.browsers or min(4, os.cpu_count() or 1),
        agent=config.identity.user_agent,
        language=config.topic.languages[0],
    )
    never = Scope((), config.scope.exclude, domains=(), denied_domains=config.scope.deny_domains)
    return Renderer(
        pool,
        mode=table.render,
        fetcher=fetcher,
        limits=render_limits(config),
        clock=clock.now,
        denied=lambda url: bool(never.reason(url)),
        needing=render_figures(state).needing,
    )


def render_limits(config: Config) -> RenderLimits:
    """What one page may take in a browser."""
    table = config.fetch
    return RenderLimits(
        seconds=table.render_seconds,
        requests=table.render_requests,
        bytes=table.render_bytes,
        memory=table.render_memory,
        html=config.limits.max_body,
        scrolls=table.scrolls,
    )


def make_admission(config: Config, clock: Clock) -> Admission:
    """Scope and trap rules."""
    scope = Scope(
        config.scope.include,
        config.scope.exclude,
        domains=config.scope.allow_domains,
        denied_domains=config.scope.deny_domains,
    )
    traps = TrapLimits(
        max_length=config.limits.max_url_length,
        max_segments=config.limits.max_path_segments,
        max_repeats=config.limits.max_repeated_segments + 1,
        now_year=time.gmtime(clock.now()).tm_year,
    )
    return Admission(
        scope,
        traps,
        max_depth=config.crawl.max_depth,
        max_redirects=config.limits.max_redirects,
        follow_feeds=config.crawl.follow_feeds is True,
        languages=config.topic.languages,
        zones=Zones(zone_limits(config)),
    )


def zone_limits(config: Config) -> ZoneLimits:
    """How soon a part of a site is taken for a trap."""
    pages = config.crawl.trap_pages
    return ZoneLimits(
        close=config.crawl.trap_zones,
        copies=pages,
        tree=pages,
        dates=pages * 3 // 2,
        facets=pages * 3 // 2,
        failures=pages * 3,
        sample=config.crawl.trap_sample,
    )


def _addresses(equipment: Equipment) -> AddressBook | None:
    """Where addresses of hosts are looked up: nowhere where somebody else does the visiting."""
    own = equipment.given.visitor is None and isinstance(equipment.fetcher, AddressBook)
    return equipment.fetcher if own else None  # type: ignore[return-value]


def _keep_own_parts(state: State, recipe: Recipe, folder: Path, *, begun: bool) -> None:
    """Note which parts were handed over from Python: the topic file cannot name them.

    Raises:
        CollectionError: The collection was made with others; what they learned is of no use to these.
    """
    own = {kind: part.name for kind, part in (("relevance", recipe.relevance), ("ordering", recipe.ordering))
           if part.own is not None}  # fmt: skip
    held = own_parts(state)
    if held == own:
        return
    if begun and held and not state.setting(JUDGE_AGAIN):
        told = " and ".join(f"{WORDS[kind]} {name}" for kind, name in held.items())
        options = ", ".join(f"{kind}=..." for kind in held)
        raise CollectionError(
            f"{folder} was crawled with your own {told}; go on from Python with Crawl(..., {options}),"
            " or judge its pages again by its topic file: honeyguide crawl FILE --rejudge"
        )
    state.put_setting(OWN_PARTS, own)


def make_crawler(
    equipment: Equipment,
    examples: Examples,
    *,
    prepared: Mapping[int, Source] | None = None,
    session: int = 0,
    recrawl: Recrawl | None = None,
) -> Crawler:
    """Wire everything, and take up where the collection stands.

    Args:
        equipment: What the crawl works with.
        examples: What the page model is fitted on.
        prepared: Sources that were made before the others, by their position in the recipe.
        session: Number of this run, for requests from outside.
        recrawl: Visit known pages again, once.
    """
    config, clock, stores, layout = equipment.config, equipment.clock, equipment.stores, equipment.layout
    neighbours = equipment.given.neighbours
    if neighbours is not None:
        neighbours.open(stores.state)
    tally = _spent_so_far(stores.state)
    if layout is not None:
        _keep_own_parts(stores.state, equipment.recipe, layout.root, begun=tally.pages > 0)
    parts = _make_parts(equipment, examples, prepared or {})
    options = _crawl_options(config, clock)
    frontier = Frontier(
        stores.state,
        in_memory=config.storage.frontier_in_memory,
        max_pages_per_domain=config.crawl.max_pages_per_domain,
        keep_graph=parts.order.reorder_every is not None,
    )
    _correct_times(frontier, equipment)
    admission = make_admission(config, clock)
    models = layout.models_folder if layout else None
    zones = ZoneMemory(stores.state, models, admission.zones)
    zones.restore()
    crossing = None
    if neighbours is not None:
        crossing = Crossing(neighbours, stores.state, frontier, parts.order, admission)
    arrival = Arrival(
        stores, frontier, parts.model, parts.order, admission=admission, tally=tally,
        listings=_listings(equipment), crossing=crossing,
        timer=time.process_time if clock.virtual else float,
    )  # fmt: skip
    checkpoints = Checkpoints(stores.state, models, parts.model, parts.order, zones=zones)
    reader = None
    if layout is not None:
        blocks, most = blocks_of(parts.order), config.limits.max_body
        reader = Reader(stores.state, layout.archive_folder, blocks=blocks, max_bytes=most)
        if tally.pages:
            catch_up(reader, stores, arrival, checkpoints)
    committer = Committer(
        stores,
        frontier,
        tally,
        pages=options.commit_pages,
        seconds=3600.0 if clock.virtual else options.commit_seconds,
        neighbours=neighbours,
    )
    if neighbours is not None:
        hand_over(neighbours, stores.state, frontier, arrival)
        committer.commit(clock.now())
    retraining = None
    if layout is not None and reader is not None and isinstance(parts.model, ReviewedModel):
        retraining = Retraining(
            layout.root, stores=stores, frontier=frontier, arrival=arrival, model=parts.model,
            order=parts.order, admission=admission, reader=reader, committer=committer,
            checkpoints=checkpoints, tally=tally, aside=not clock.virtual,
        )  # fmt: skip
    rejudging = None
    if isinstance(parts.model, RememberingPageModel):
        rejudging = Rejudging(
            parts.model, stores=stores, frontier=frontier, committer=committer, tally=tally,
            order=parts.order, admission=admission, reader=reader,
            folder=layout.root if layout else None, in_slices=not clock.virtual,
        )  # fmt: skip
    revisits = None
    back = recrawl.how if recrawl is not None else _keeps_fresh(config)
    if back is not None:
        agenda = Agenda(
            stores.state,
            frontier,
            back,
            recollect=Recollection(stores.state, layout.archive_folder if layout else None),
            rates=equipment.given.change_rates,
            is_mine=neighbours.is_mine if neighbours is not None else None,
        )
        returning = Returning(stores, frontier, arrival, parts.order, admission=admission, tally=tally)
        made, new = recrawl.spent(stores.state, tally) if recrawl is not None else (0, 0)
        revisits = Revisits(agenda, returning, made=made, new=new)
        for host in frontier.hosts():
            if host.given_up:
                frontier.forgive(host)
    return Crawler(
        config.as_topic(),
        visitor=equipment.visitor,
        clock=clock,
        frontier=frontier,
        traffic=_traffic(equipment, options),
        addresses=_addresses(equipment),
        arrival=arrival,
        order=parts.order,
        sources=parts.sources if neighbours is None or neighbours.asks_sources else (),
        committer=committer,
        checkpoints=checkpoints,
        budget=budget(config) if recrawl is None and neighbours is None else Budget(max_pages=None),
        tally=tally,
        options=options,
        steering=Steering(layout.root, session=session) if layout and not clock.virtual else None,
        retraining=retraining,
        rejudging=rejudging,
        revisits=revisits,
        neighbours=neighbours,
    )


def _keeps_fresh(config: Config) -> ComingBack | None:
    """How a crawl that never ends comes back; None for one that ends."""
    crawl = config.crawl
    if not crawl.keep_fresh:
        return None
    return ComingBack(every=crawl.fresh_every, share=crawl.fresh_share, policy=crawl.fresh_policy)


def _listings(equipment: Equipment) -> Listings:
    """Sitemaps and feeds of relevant hosts; not in the lab, whose webs are to be found by their links."""
    crawl, visitor = equipment.config.crawl, equipment.visitor
    if equipment.clock.virtual:
        return Listings()
    return Listings(
        sitemaps=crawl.follow_sitemaps,
        feeds=crawl.follow_feeds,
        named_by=visitor.sitemaps_of if isinstance(visitor, LiveVisitor) else None,
    )


def _make_parts(equipment: Equipment, examples: Examples, prepared: Mapping[int, Source]) -> Parts:
    """Page model, order and sources; those that go by their earlier answers are told them."""
    given = equipment.given
    parts = build_parts(
        equipment.recipe,
        examples,
        seed=equipment.config.crawl.random_seed,
        services=given.services,
        prepared=prepared,
        reviews=equipment.layout is not None,
    )
    for source in parts.sources:
        if isinstance(source, Recalling) and source not in prepared.values():
            source.recall(equipment.stores.state.events(kind="suggest"))
    return parts


def go_on_clock(state: State, clock: Clock) -> None:
    """A virtual clock goes on from where earlier sessions stopped, if it is not beyond that."""
    moment = state.setting("clock")
    if isinstance(clock, VirtualClock) and isinstance(moment, float) and moment > clock.now():
        clock.set(moment)


def _spent_so_far(state: State) -> Tally:
    """What earlier sessions spent."""
    known = state.setting("tally")
    with reading("figures"):
        return msgspec.convert(known, Tally) if known is not None else Tally()


def _crawl_options(config: Config, clock: Clock) -> CrawlOptions:
    return CrawlOptions(
        concurrency=1 if clock.virtual else config.crawl.concurrency,
        # Live, what a crash costs counts: half as many pages again as are in flight.
        commit_pages=64 if clock.virtual else max(1, config.crawl.concurrency // 2),
        follow_sitemaps=config.crawl.follow_sitemaps is True,
    )


def _traffic(equipment: Equipment, options: CrawlOptions) -> Traffic:
    slow = 0 if equipment.clock.virtual else affordable(options.concurrency)
    policy = politeness_policy(equipment.config)
    return Traffic(policy, options.concurrency, slow_limit=slow, gate=equipment.gate)


def _correct_times(frontier: Frontier, equipment: Equipment) -> None:
    """Hosts wait as long as they should, whatever became of the clock or of the last session."""
    if equipment.clock.virtual:
        return
    state, now = equipment.stores.state, equipment.clock.now()
    earlier = [one for one in state.sessions() if one.stop is None or one.reason]
    # One that could not begin has saved nothing either: neither its own requests nor what it found out.
    crashed = len(earlier) > 1 and (earlier[-2].stop is None or earlier[-2].reason.startswith(NOT_BEGUN))
    saved = state.setting("clock")
    changed = recovered(
        frontier.hosts(),
        politeness_policy(equipment.config),
        now=now,
        saved=saved if isinstance(saved, float) else now,
        crashed=crashed,
    )
    for host in changed:
        frontier.touch(host)
    if isinstance(equipment.visitor, LiveVisitor):
        equipment.visitor.recall_delays(frontier.hosts())


def budget(config: Config) -> Budget:
    """When the crawl has had enough."""
    crawl = config.crawl
    return Budget(
        max_pages=crawl.max_pages,
        max_relevant=crawl.max_relevant,
        max_bytes=crawl.max_bytes,
        max_seconds=crawl.max_seconds,
        stop_after_irrelevant=crawl.stop_after_irrelevant,
    )


def fetch_options(config: Config) -> FetchOptions:
    """How pages are asked for over HTTP."""
    return FetchOptions(
        user_agent=config.identity.user_agent,
        deadline=config.limits.deadline,
        connect_timeout=min(config.limits.connect_timeout, config.limits.deadline),
        max_bytes=config.limits.max_body,
        max_connections=config.crawl.concurrency + affordable(config.crawl.concurrency),
        idle_connections=4 * config.crawl.concurrency,
        connect_to=dict(config.network.connect_to),
        proxies=proxies_from(config.network.proxy, os.environ),
        accept_language=", ".join(config.topic.languages),
    )


def politeness_policy(config: Config) -> PolitenessPolicy:
    """How gently hosts are asked."""
    table = config.politeness
    return PolitenessPolicy(
        min_delay=table.delay,
        max_delay=max(table.delay, table.max_delay),
        factor=table.slow_factor,
        max_crawl_delay=max(table.delay, table.max_crawl_delay),
        ip_delay=table.ip_delay,
        ip_at_once=table.ip_at_once,
        backoff_base=table.backoff,
        backoff_limit=max(table.backoff, table.max_backoff),
        give_up_after=table.give_up_after,
        retries=table.max_retries,
    )


def robots_options(config: Config) -> RobotsOptions:
    """How long robots.txt is trusted."""
    longest = config.politeness.robots_max_age
    table = config.politeness
    # A host without a readable robots.txt is asked more rarely than one that fails at a page.
    return RobotsOptions(
        ttl=longest,
        min_ttl=min(longest, RobotsOptions().min_ttl),
        retry_first=6 * table.backoff,
        retry_limit=6 * max(table.backoff, table.max_backoff),
    )
