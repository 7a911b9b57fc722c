"""A configuration's tables as the settings that the crawl's own parts take."""

from __future__ import annotations

from honeyguide.config.schema import Config
from honeyguide.engine.budget import Budget
from honeyguide.engine.slots import affordable
from honeyguide.fetch.options import FetchOptions
from honeyguide.fetch.politeness import PolitenessPolicy
from honeyguide.fetch.robots import RobotsOptions


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
