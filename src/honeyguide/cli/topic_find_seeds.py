"""`honeyguide topic find-seeds`."""

from __future__ import annotations

import asyncio
import ipaddress
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from honeyguide.cli.output import note, print_table, warn
from honeyguide.cli.seed_file import add_seeds
from honeyguide.config.load import changed, load
from honeyguide.config.schema import Config
from honeyguide.discovery.search.engines import Within, make_engines
from honeyguide.discovery.search.meta_search import chosen_terms
from honeyguide.discovery.search.proposals import Proposals, propose_seeds
from honeyguide.discovery.search.rationed import RationedEngine
from honeyguide.engine.clock import WallClock
from honeyguide.engine.live import ServiceHttp
from honeyguide.errors import HoneyguideError, TopicError
from honeyguide.fetch.egress import EgressGuard
from honeyguide.fetch.http import HttpFetcher
from honeyguide.job.assemble import fetch_options
from honeyguide.model import Examples

_Many = Parameter(consume_multiple=True)


def find_seeds(
    topic: Path,
    /,
    *,
    searxng: Annotated[tuple[str, ...], _Many] = (),
    ddgs: bool = False,
    collection: Annotated[tuple[str, ...], _Many] = (),
    query_log: Path | None = None,
    queries: int = 10,
    results: int = 10,
    count: int = 20,
    allow_net: tuple[str, ...] = (),
    write: bool = False,
    json: bool = False,
) -> None:
    """Propose URLs to start from, by asking search engines for the topic's words.

    The engines are those of the `[[discovery]]` table with source "meta-search" in the topic file, and
    those given here.

    Args:
        topic: The topic file; it needs keywords only.
        searxng: URLs of SearXNG instances.
        ddgs: Ask public engines through the library `ddgs`.
        collection: Folders of collections to search.
        query_log: File with one query a line to take words from, instead of the keywords.
        queries: How many queries.
        results: Results to take from each engine for a query.
        count: URLs to propose.
        allow_net: Private networks the crawl may contact, such as 127.0.0.0/8 for a SearXNG on this machine.
        write: Add the proposed URLs to the topic file's seeds.
        json: Print JSON.
    """
    if min(queries, results, count) < 1:
        raise TopicError("queries, results and count must be 1 at least; raise them")
    config = changed(load(topic), {"network": {"allow_net": allow_net or None}})
    tables: list[str | dict[str, object]] = [{"kind": "searxng", "url": url} for url in searxng]
    tables += ["ddgs"] if ddgs else []
    tables += [{"kind": "collection", "path": path} for path in collection]
    tables += [
        engine
        for table in config.discovery
        if table.source == "meta-search"
        for engine in table.options.get("engines", ())  # type: ignore[attr-defined]
    ]
    if not tables:
        raise TopicError("no search engine is named; add --searxng ADDRESS, --ddgs or --collection FOLDER")
    examples = Examples(
        keywords=config.topic.keywords,
        taxonomy=tuple(config.topic.taxonomy.split("/")) if config.topic.taxonomy else (),
        languages=config.topic.languages,
    )
    terms = chosen_terms(examples, query_log=str(query_log) if query_log else "")
    if not terms:
        raise TopicError(f"{topic} has no words to search for; give 'keywords' in [topic]")
    found = asyncio.run(_ask(config, tables, terms, queries=queries, results=results, count=count))
    for one in found.asked:
        note(one.note)
    if found.failed:
        problem = _problem(found)
        private = "is not a public address" in problem
        advice = (
            "open its network, as --allow-net 127.0.0.0/8" if private else "try others or try again later"
        )
        raise HoneyguideError(f"no search engine answered ({problem}); {advice}")
    for one in found.asked:
        if one.notes:
            warn(one.note)
    rows = [
        {"url": one.url, "title": one.title, "score": round(one.score, 4), "queries": list(one.ranks)}
        for one in found.seeds
    ]
    print_table(
        rows, {"url": "address", "title": "title", "score": "score", "queries": "found by"}, json=json
    )
    if write and found.seeds:
        added = add_seeds(topic, [one.url for one in found.seeds])
        note(f"{added} addresses added to {topic}; next: honeyguide crawl {topic}")
    else:
        note(f"next: honeyguide topic find-seeds {topic} --write, or copy those you like into 'seeds'")


async def _ask(
    config: Config,
    tables: list[str | dict[str, object]],
    terms: tuple[str, ...],
    *,
    queries: int,
    results: int,
    count: int,
) -> Proposals:
    clock = WallClock()
    guard = EgressGuard([ipaddress.ip_network(net) for net in config.network.allow_net])
    async with HttpFetcher(fetch_options(config), clock=clock.now, guard=guard) as fetcher:
        engines = make_engines(tables, Within(http=ServiceHttp(fetcher)))
        return await propose_seeds(
            [RationedEngine(engine, clock) for engine in engines],
            terms,
            queries=queries,
            results=results,
            count=count,
            seed=config.crawl.random_seed,
        )


def _problem(found: Proposals) -> str:
    notes = {f"{name}: {text}": None for one in found.asked for name, text in one.notes.items()}
    return ", ".join(notes) or "no query could be sent"
