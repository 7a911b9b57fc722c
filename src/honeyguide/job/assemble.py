"""From a checked configuration to a running crawler: stores, web, parts, resume."""

from __future__ import annotations

import ipaddress
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from honeyguide.config.load import freeze
from honeyguide.config.recipes import Recipe
from honeyguide.config.schema import VERSION, Config
from honeyguide.discovery.base import Recalling, Source
from honeyguide.engine.admission import Admission
from honeyguide.engine.arrival import Arrival, Stores
from honeyguide.engine.budget import Tally
from honeyguide.engine.checkpoint import Checkpoints
from honeyguide.engine.clock import Clock, VirtualClock
from honeyguide.engine.committer import Committer
from honeyguide.engine.control import Steering
from honeyguide.engine.crawler import Crawler
from honeyguide.engine.live import LiveWeb, VisitOptions
from honeyguide.engine.options import CrawlOptions
from honeyguide.engine.reread import Reader, index_missing, relearn
from honeyguide.engine.retraining import Retraining
from honeyguide.engine.service_http import ServiceHttp
from honeyguide.engine.web import Web
from honeyguide.engine.zone_memory import ZoneMemory
from honeyguide.failpoint import failpoint
from honeyguide.fetch.base import Fetcher
from honeyguide.fetch.egress import EgressGuard
from honeyguide.fetch.http import HttpFetcher
from honeyguide.fetch.robots import RobotsCache
from honeyguide.frontier import Frontier
from honeyguide.job import settings
from honeyguide.job.block_options import blocks_of
from honeyguide.job.parts import Parts, build_parts
from honeyguide.model import Examples
from honeyguide.ordering.base import LinkOrder
from honeyguide.parse.base import Blocks
from honeyguide.parse.pool import ParsePool
from honeyguide.relevance.reviewed import ReviewedModel
from honeyguide.store.archive import ArchiveWriter
from honeyguide.store.index import FullText
from honeyguide.store.layout import Layout, is_collection
from honeyguide.store.state import State
from honeyguide.web import Scope, TrapLimits

SOFTWARE = f"honeyguide/{VERSION}"


@dataclass(frozen=True, slots=True)
class Given:
    """What a caller may hand in instead of what the recipe names."""

    model: object = None
    order: LinkOrder | None = None
    sources: Sequence[Source] | None = None
    services: Mapping[str, object] | None = None
    examples: Examples | None = None
    web: Web | None = None
    fetcher: Fetcher | None = None


def open_stores(config: Config, root: Path | None, clock: Clock) -> tuple[Stores, Layout | None]:
    """State, archive and index of a collection folder; a state in memory when there is none."""
    if root is None:
        return Stores(State.open(None)), None
    layout = Layout.open(root) if is_collection(root) else Layout.create(root, software=SOFTWARE)
    state = State.open(layout.state_file, synchronous=config.storage.sync.upper())
    if not layout.topic_file.exists():
        layout.topic_file.write_text(freeze(config), encoding="utf-8")
    born = state.setting("born")
    if born is None:
        born = clock.now()
        state.put_setting("born", born)
        state.commit()
    archive = index = None
    if config.storage.archive:
        end = state.setting("archive_end")
        archive = ArchiveWriter.resume(
            layout.archive_folder,
            (str(end[0]), int(end[1])) if isinstance(end, list) else None,
            prefix="pages",
            software=SOFTWARE,
            clock=clock.now,
            seed=f"{config.topic.name} {born}",
        )
    if config.storage.index:
        index = FullText.open(layout.index_file)
    return Stores(state, archive, index), layout


def make_fetcher(config: Config, clock: Clock, given: Given) -> Fetcher:
    """The fetcher that was handed in, or HTTP as the configuration describes it."""
    return given.fetcher or HttpFetcher(
        settings.fetch_options(config),
        clock=clock.now,
        guard=EgressGuard([ipaddress.ip_network(net) for net in config.network.allow_net]),
    )


def with_services(given: Given, fetcher: Fetcher, clock: Clock, state: State) -> Given:
    """What was handed in, with what every crawl can offer its sources."""
    own: dict[str, object] = {"http": ServiceHttp(fetcher), "clock": clock, "state": state}
    return replace(given, services={**own, **(given.services or {})})


def make_web(
    config: Config, recipe_blocks: Blocks, clock: Clock, state: State, *, given: Given, fetcher: Fetcher
) -> Web:
    """The live web as the configuration describes it, or the one that was handed in."""
    if given.web is not None:
        return given.web
    robots = RobotsCache(
        fetcher,
        config.identity.product,
        clock=clock.now,
        options=settings.robots_options(config),
    )

    def recall(origin: str) -> tuple[int, bytes, float] | None:
        held = state.setting(f"robots:{origin}")
        return (
            (int(held[0]), str(held[1]).encode("latin-1"), float(held[2])) if isinstance(held, list) else None
        )

    workers = 0 if clock.virtual else (config.crawl.parse_workers or max(1, (os.cpu_count() or 2) - 1))
    pool = ParsePool(workers, deadline=config.limits.parse_deadline, memory_limit=config.limits.parse_memory)
    options = VisitOptions(blocks=recipe_blocks, max_bytes=config.limits.max_body)
    return LiveWeb(fetcher, pool, robots=robots, options=options, recall=recall)


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
        follow_feeds=config.crawl.follow_feeds,
    )


def make_crawler(
    config: Config,
    recipe: Recipe,
    examples: Examples,
    *,
    stores: Stores,
    layout: Layout | None,
    web: Web,
    clock: Clock,
    given: Given,
    prepared: Mapping[int, Source] | None = None,
    session: int = 0,
) -> Crawler:
    """Wire everything, and take up where the collection stands."""
    state = stores.state
    parts = build_parts(
        recipe,
        examples,
        seed=config.crawl.random_seed,
        model=given.model,
        order=given.order,
        sources=given.sources,
        services=given.services,
        prepared=prepared,
        reviews=layout is not None,
    )
    for source in parts.sources:
        if isinstance(source, Recalling) and source not in (prepared or {}).values():
            source.recall(state.events(kind="suggest"))
    known = state.setting("tally")
    tally = msgspec.convert(known, Tally) if known is not None else Tally()
    moment = state.setting("clock")
    if isinstance(clock, VirtualClock) and isinstance(moment, float):
        clock.set(moment)
    frontier = Frontier(
        state,
        in_memory=config.storage.frontier_in_memory,
        max_pages_per_domain=config.crawl.max_pages_per_domain,
        keep_graph=parts.order.reorder_every is not None,
    )
    admission = make_admission(config, clock)
    zones = ZoneMemory(state, layout.models_folder if layout else None, admission.zones)
    zones.restore()
    arrival = Arrival(stores, frontier, parts.model, parts.order, admission=admission, tally=tally)
    options = CrawlOptions(
        concurrency=1 if clock.virtual else config.crawl.concurrency,
        # Live, what a crash costs counts: half as many pages again as are in flight.
        commit_pages=64 if clock.virtual else max(1, config.crawl.concurrency // 2),
        follow_sitemaps=config.crawl.follow_sitemaps,
    )
    checkpoints = Checkpoints(
        state,
        layout.models_folder if layout else None,
        parts.model,
        parts.order,
        every=options.checkpoint_pages,
        zones=zones,
    )
    reader = _reader(config, state, layout, parts) if layout is not None else None
    if reader is not None and tally.pages:
        _take_up(stores, reader, checkpoints, lambda after: relearn(reader, stores, arrival, after=after))
    committer = Committer(
        stores,
        frontier,
        tally,
        pages=options.commit_pages,
        seconds=3600.0 if clock.virtual else options.commit_seconds,
    )
    crawler = Crawler(
        config.as_topic(),
        web=web,
        clock=clock,
        frontier=frontier,
        arrival=arrival,
        order=parts.order,
        sources=parts.sources,
        committer=committer,
        checkpoints=checkpoints,
        budget=settings.budget(config),
        tally=tally,
        policy=settings.politeness_policy(config),
        options=options,
        steering=Steering(layout.root, session=session) if layout and not clock.virtual else None,
    )
    if layout is not None and reader is not None and isinstance(parts.model, ReviewedModel):
        crawler.retraining = Retraining(
            layout.root, stores=stores, frontier=frontier, arrival=arrival, model=parts.model,
            order=parts.order, admission=admission, reader=reader, committer=committer,
            checkpoints=checkpoints, tally=tally, aside=not clock.virtual,
        )  # fmt: skip
    return crawler


def _reader(config: Config, state: State, layout: Layout, parts: Parts) -> Reader:
    return Reader(
        state, layout.archive_folder, blocks=blocks_of(parts.order), max_bytes=config.limits.max_body
    )


def _take_up(
    stores: Stores, reader: Reader, checkpoints: Checkpoints, learn_after: Callable[[int], int]
) -> None:
    """Bring model, order and index to where the state is."""
    covered = checkpoints.restore()
    failpoint("resume.restored")
    if stores.archive is None:
        return
    if checkpoints.stateful:
        learn_after(covered)
    crashed = any(session.stop is None for session in stores.state.sessions()[:-1])
    if crashed:
        index_missing(reader, stores)
