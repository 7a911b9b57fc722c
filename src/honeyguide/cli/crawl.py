"""`honeyguide crawl` and `honeyguide resume`."""

from __future__ import annotations

import asyncio
import re
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from cyclopts import Parameter

from honeyguide.cli.environment import by_environment
from honeyguide.cli.everywhere import OUT
from honeyguide.cli.output import Progress, announce, begin, note, print_facts, warn
from honeyguide.cli.portal_beside import portal_beside
from honeyguide.cli.topic_warnings import warn_of_topic
from honeyguide.cli.trust import require_trust
from honeyguide.collection.collection import Collection, Status
from honeyguide.collection.no_page import no_page
from honeyguide.config.load import changed, check_values, load
from honeyguide.config.reach import reach
from honeyguide.config.recipes import lacks, uses
from honeyguide.config.schema import Config
from honeyguide.errors import CollectionError, TopicError
from honeyguide.job import progress as job_progress
from honeyguide.job.changed_topic import OnChange, settled, take_topic
from honeyguide.job.crawl import Crawl, run_here
from honeyguide.job.parts import check_config, chosen
from honeyguide.log import writes_logs
from honeyguide.model import Event, Outcome
from honeyguide.store.layout import Layout, is_begun, is_collection
from honeyguide.store.shards import is_sharded
from honeyguide.topic.seed_list import read_seeds, refuse_files
from honeyguide.trust import is_trusted, remember_trust

if TYPE_CHECKING:
    from honeyguide.cluster.coordinator import ShardedCrawl

INTERRUPTED = "interrupted"
WHICH = (
    "Add --keep to continue with the old topic, or --rejudge to judge its pages by the new one and continue."
)
MOST_WARNINGS = 5
"""Warnings told one by one; the journal has them all."""


def crawl(
    *topic: str,
    keywords: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    examples: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    languages: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    seeds_file: Path | None = None,
    out: Annotated[Path | None, OUT] = None,
    recipe: str | None = None,
    max_pages: int | str | None = None,
    max_seconds: float | str | None = None,
    allow_net: tuple[str, ...] = (),
    trust: bool = False,
    keep: bool = False,
    rejudge: bool = False,
    shards: int | None = None,
    ray: str = "",
    store: str | None = None,
    ui: bool = False,
    metrics: str = "",
    json: bool = False,
    quiet: bool = False,
) -> None:
    """Crawl the web for a topic. Run it again to continue where it stopped.

    Args:
        topic: The topic file; or the URLs to start from, with --keywords or --examples.
        keywords: Words and phrases of the topic, instead of a topic file.
        examples: Pages on the topic (URLs or files), instead of a topic file.
        languages: Two-letter codes, with --keywords or --examples; by default en.
        seeds_file: More URLs to start from: a list, a CSV, bookmarks, a sitemap or feeds.
        out: Folder of the collection; by default `collections/NAME`.
        recipe: Use this recipe instead of the file's (see `honeyguide recipes`).
        max_pages: Pages to download, or `unlimited`, instead of the file's limit.
        max_seconds: Time to spend, such as 90 or `2 h`, instead of the file's limit.
        allow_net: Private networks the crawl may contact, such as 127.0.0.0/8.
        trust: Do not ask about what the file reaches (see `honeyguide trust`).
        keep: If the topic has changed, continue with the folder's.
        rejudge: Judge all pages again, by the new topic if it has changed.
        shards: Crawl with this many processes at once, each with hosts of its own.
        ray: Address of a Ray cluster for the shards; by default this machine.
        store: Where a cluster keeps its shards: a shared folder, or s3://bucket/path.
        ui: Open the portal to watch and steer the crawl; it stays open afterwards.
        metrics: Answer Prometheus at this port or address, such as 127.0.0.1:9109.
        json: Print the closing figures as JSON.
        quiet: Show no progress.
    """
    if keep and rejudge:
        raise TopicError("--keep and --rejudge exclude each other; give one of them")
    typed = {"keywords": keywords, "examples": examples, "languages": languages}
    config = _asked(topic, {key: words for key, words in typed.items() if words}, seeds_file, out)
    if not any(typed.values()):  # a file may come from a stranger; what was typed does not
        file, found = Path(topic[0]), reach(config)
        if not is_trusted(file, found):
            require_trust(file, found, trust=trust)
            remember_trust(file, found)
    changes: dict[str, dict[str, object]] = {
        "crawl": {"recipe": recipe, "max_pages": max_pages, "max_seconds": max_seconds},
        "network": {"allow_net": allow_net or None},
    }
    config = changed(by_environment(config), changes)
    check_config(config)
    folder = out or Path("collections") / slug(config.topic.name)
    if shards is not None or ray or store or is_sharded(folder):
        if is_collection(folder):
            check_same_topic(config, Layout.open(folder))
        change: OnChange = "keep" if keep else "rejudge" if rejudge else "ask"
        job = Sharding(shards, ray, store)
        run(config, folder, json=json, quiet=quiet, ui=ui, metrics=metrics, sharding=job, on_change=change)
        return
    if is_collection(folder):
        check_same_topic(config, Layout.open(folder))
        if trust:
            Layout.adopt(folder, reach=reach(load(Layout.open(folder).topic_file)))
        config = settled(folder, config, "keep" if keep else "rejudge" if rejudge else "ask", how=WHICH)
        if rejudge:
            take_topic(folder, config, even_if_same=True)
    run(config, folder, json=json, quiet=quiet, ui=ui, metrics=metrics)


def _asked(
    words: tuple[str, ...], typed: dict[str, tuple[str, ...]], seeds_file: Path | None, out: Path | None
) -> Config:
    """The topic file, or a topic made of what was typed."""
    more = read_seeds(seeds_file) if seeds_file else ()
    if typed:
        options = " and ".join(f"--{key}" for key in typed)
        for word in words:
            if word.endswith(".toml") and "://" not in word:
                raise TopicError(f"{word} is a topic file: write there what {options} would say")
        refuse_files(words)
        told = typed.get("keywords", ()) or tuple(Path(one).stem for one in typed.get("examples", ())[:1])
        name = (out.absolute().resolve().name if out else "") or " ".join(told)
        config = check_values(
            {"topic": {"name": name or "topic", **typed}, "crawl": {"seeds": (*words, *more)}}
        )
        if not config.as_topic().seeds:
            raise TopicError("no address to begin with; add one, such as https://example.org/")
        return config
    if not words:
        raise TopicError(
            "name a topic file, or an address with --keywords or --examples; see honeyguide crawl --help"
        )
    if len(words) > 1 or words[0].startswith(("http://", "https://")):
        raise TopicError(
            f"what is the topic? add its words: honeyguide crawl {words[0]} --keywords WORD ..."
            " (or pages on it: --examples PAGE ...)"
        )
    config = load(Path(words[0]))
    if not more:
        return config
    return changed(config, {"crawl": {"seeds": tuple(dict.fromkeys((*config.crawl.seeds, *more)))}})


def resume(
    folder: Path,
    /,
    *,
    max_pages: int | str | None = None,
    max_seconds: float | str | None = None,
    trust: bool = False,
    shards: int | None = None,
    add_shards: int = 0,
    remove_shards: int = 0,
    ray: str = "",
    store: str | None = None,
    ui: bool = False,
    metrics: str = "",
    json: bool = False,
    quiet: bool = False,
) -> None:
    """Continue a crawl from its folder.

    Args:
        folder: The collection.
        max_pages: New limit on pages, counted over all runs; or `unlimited`.
        max_seconds: New limit on time, such as 90 or `2 h`, counted over all runs.
        trust: Continue a collection that was made elsewhere (see `honeyguide trust`).
        shards: How many shards the collection has; leave it out to take whatever there is.
        add_shards: Add this many shards; only the hosts that they take over are moved.
        remove_shards: Remove this many shards; only their hosts are moved, and their pages stay.
        ray: Address of a Ray cluster to put the shards on; by default this machine.
        store: Where the cluster keeps the shards; leave it out to take what there is.
        ui: Open the portal to watch and steer the crawl; it stays open afterwards.
        metrics: Answer Prometheus at this port or address, such as 127.0.0.1:9109.
        json: Print the closing figures as JSON.
        quiet: Show no progress.
    """
    config = taken_up(folder, trust=trust)
    limits: dict[str, object] = {"max_pages": max_pages, "max_seconds": max_seconds}
    run(
        changed(by_environment(config), {"crawl": limits}),
        folder,
        json=json,
        quiet=quiet,
        ui=ui,
        metrics=metrics,
        sharding=Sharding(shards, ray, store, add_shards, remove_shards)
        if shards is not None or ray or store or add_shards or remove_shards or is_sharded(folder)
        else None,
        on_change="keep",
    )


class Sharding(msgspec.Struct, frozen=True):
    """How a crawl is spread."""

    shards: int | None = None
    ray: str = ""
    store: str | None = None
    more: int = 0
    fewer: int = 0


def taken_up(folder: Path, *, trust: bool = False) -> Config:
    """What a collection's crawl is to go on with, once it is clear that it may."""
    layout = Layout.create(folder) if is_begun(folder) else Layout.open(folder)
    config = load(layout.topic_file)
    found = reach(config)
    if not trust:
        layout.require_ours()
    if not layout.allows(found):
        require_trust(layout.topic_file, found, trust=trust)
    Layout.adopt(folder, reach=found)
    return config


def slug(name: str) -> str:
    """A folder name from a topic's name.

    Example:
        >>> slug("Owls of Europe")
        'owls-of-europe'
    """
    return re.sub(r"[^\w]+", "-", name.lower()).strip("-") or "topic"


def check_same_topic(config: Config, layout: Layout) -> None:
    """A folder belongs to one topic: another one's pages must not be mixed in."""
    held = load(layout.topic_file)
    if held.topic.name != config.topic.name:
        raise CollectionError(
            f"{layout.root} holds the topic {held.topic.name!r}, not {config.topic.name!r};"
            " choose another folder with --out"
        )


def run(
    config: Config,
    folder: Path,
    *,
    json: bool,
    quiet: bool,
    ui: bool = False,
    metrics: str = "",
    again: dict[str, Any] | None = None,
    sharding: Sharding | None = None,
    on_change: OnChange = "ask",
) -> None:
    """Run a crawl with progress and clean interrupts, and print how it ended.

    Args:
        config: What to crawl.
        folder: The collection.
        json: Print the closing figures as JSON.
        quiet: Show no progress.
        ui: Open the portal beside it.
        metrics: Where to answer Prometheus; empty for nowhere.
        again: Arguments of a recrawl; None for a crawl.
        sharding: How it is spread over processes or machines; None for a crawl in this process.
        on_change: What to do about a changed topic.
    """
    place = None
    if metrics:
        from honeyguide.job.metrics import parse_place  # a server, which few crawls need

        place = parse_place(metrics)
    work = (
        partial(_run, config, folder, place, json=json, quiet=quiet, again=again)
        if sharding is None
        else partial(
            _run_shards,
            config,
            folder,
            sharding,
            place,
            on_change=on_change,
            json=json,
            quiet=quiet,
            again=again,
        )
    )
    if not ui:
        work()
        return
    with portal_beside(folder) as portal:
        work()
        portal.wait()


def _run(
    config: Config,
    folder: Path,
    metrics: tuple[str, int] | None,
    *,
    json: bool,
    quiet: bool,
    again: dict[str, Any] | None,
) -> None:
    doing = "crawling" if again is None else "visiting pages again"
    begin(f"{doing} for {config.topic.name!r} into {folder}", quiet=quiet)
    job = Crawl(config, out=folder)
    warn_of_topic(config)
    recipe = chosen(config)
    if not quiet:
        note(f"recipe {recipe.name}: {uses(recipe)}")
    for lack in lacks(recipe):
        warn(lack)
    warnings: dict[str, None] = {}
    before = _so_far(folder) if again is not None else {}
    events = job.run if again is None else partial(job.recrawl, **again)
    run_here(lambda: _watch(job, events, config, warnings, metrics, quiet=quiet))
    for url, reason in job.missed_examples:
        warn(f"example {url} was not used: {reason}")
    for said in [] if writes_logs() else list(warnings)[:MOST_WARNINGS]:
        warn(said)
    with Collection.open(folder) as collection:
        status = collection.status()
        if status.pages == 0 and status.waiting == 0 and job.reason != INTERRUPTED:
            raise CollectionError(no_page(collection.state, config.crawl.seeds))
    facts: dict[str, object] = {"stopped": job.reason}
    facts |= _gathered(status) if again is None else _come_back(before, _so_far(folder))
    facts["collection"] = str(folder)
    if not status.pages and (trouble := job.progress.trouble):
        facts["no page yet"] = f"{trouble}; it is tried again when the same command goes on"
    if warnings:
        facts["warnings"] = list(warnings) if json else f"{len(warnings)}, the first: {next(iter(warnings))}"
    if job.missed_examples:
        facts["examples not used"] = [f"{url}: {reason}" for url, reason in job.missed_examples]
    if again is None and (left_out := not_fetched(status)):
        facts["not fetched"] = left_out
    print_facts(facts, json=json)
    _say_what_next(folder, job.reason, status, again=again is not None)


def _say_what_next(folder: Path, reason: str, status: Status, *, again: bool) -> None:
    verb, further = ("recrawl", "changes") if again else ("resume", "report")
    if reason == INTERRUPTED:
        announce(f"interrupted; go on with: honeyguide {verb} {folder}")
        return
    note(f"next: honeyguide {further} {folder}, honeyguide search {folder} WORDS")
    if not again and status.waiting and reason.endswith("pages is spent"):
        note(f"for more pages: honeyguide resume {folder} --max-pages {2 * status.pages}")


def _run_shards(
    config: Config,
    folder: Path,
    sharding: Sharding,
    metrics: tuple[str, int] | None,
    *,
    on_change: OnChange,
    json: bool,
    quiet: bool,
    again: dict[str, Any] | None,
) -> None:
    """As `_run`, for a crawl of several shards."""
    from honeyguide.cluster.coordinator import ShardedCrawl  # few crawls need it

    job = ShardedCrawl(
        config,
        out=folder,
        shards=sharding.shards,
        ray=sharding.ray,
        store=sharding.store,
        add_shards=sharding.more,
        remove_shards=sharding.fewer,
        on_change=on_change,
    )
    count = len(job.manifest.shards)
    where = f"Ray at {sharding.ray}" if sharding.ray else "this machine"
    doing = "crawling" if again is None else "visiting pages again"
    what = f"{doing} for {config.topic.name!r} into {folder}"
    begin(f"{what}, {count} shards on {where}", quiet=quiet)
    warn_of_topic(config)
    if not quiet:
        note(f"recipe {job.recipe.name}: {uses(job.recipe)}")
    before = _so_far(folder) if again is not None else {}
    run_here(lambda: _watch_shards(job, metrics, again, quiet=quiet))
    for url, reason in job.missed_examples:
        warn(f"example {url} was not used: {reason}")
    for said in [] if writes_logs() else list(job.warnings)[:MOST_WARNINGS]:
        warn(said)
    now = job.progress
    if now.pages == 0 and now.waiting == 0 and job.reason != INTERRUPTED:
        raise CollectionError("no page was fetched; check the seeds and the network, then run it again")
    facts: dict[str, object] = {"stopped": job.reason}
    facts |= (
        {
            "pages": now.pages,
            "relevant": now.relevant,
            "harvest": now.harvest,
            "waiting": now.waiting,
            "requests": now.requests,
        }
        if again is None
        else _come_back(before, _so_far(folder))
    )
    facts |= {"shards": count, "collection": str(folder)}
    if job.restarts:
        facts["shards started again"] = job.restarts
    print_facts(facts, json=json)
    verb, further = ("resume", "report") if again is None else ("recrawl", "changes")
    if job.reason == INTERRUPTED:
        announce(f"interrupted; go on with: honeyguide {verb} {folder}")
    else:
        note(f"next: honeyguide {further} {folder}, honeyguide merge {folder}")


async def _watch_shards(
    job: ShardedCrawl, metrics: tuple[str, int] | None, again: dict[str, Any] | None, *, quiet: bool
) -> None:
    stop_on_signals(job.stop)
    async with AsyncExitStack() as beside:
        await _serve(job, metrics, beside)
        progress = beside.enter_context(Progress(job.config.crawl.max_pages, quiet=quiet))
        async for now in job.run() if again is None else job.recrawl(**again):
            progress.update(
                pages=now.pages,
                relevant=now.relevant,
                harvest=now.harvest,
                waiting=now.waiting,
                rate=now.rate,
                last=now.last,
            )


def stop_on_signals(stop: Callable[[str], object]) -> None:
    """Let Ctrl-C and SIGTERM stop a crawl in order."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, stop, INTERRUPTED)
        except (RuntimeError, NotImplementedError, ValueError):  # not the main thread
            break


def _gathered(status: Status) -> dict[str, object]:
    """What a crawl has by now."""
    return {
        "pages": status.pages,
        "relevant": status.relevant,
        "harvest": round(status.harvest, 4),
        "waiting": status.waiting,
        "requests": status.requests,
    }


def _so_far(folder: Path) -> dict[str, int]:
    """What was spent and found by now."""
    with Collection.open(folder) as collection:
        tally = collection.state.setting("tally")
    return {
        name: value
        for name, value in (tally if isinstance(tally, dict) else {}).items()
        if isinstance(value, int)
    }


def _come_back(before: dict[str, int], after: dict[str, int]) -> dict[str, object]:
    """What a recrawl did."""
    made = {
        name: after.get(name, 0) - before.get(name, 0) for name in ("revisits", "changed", "gone", "pages")
    }
    return {
        "visited again": made["revisits"],
        "changed": made["changed"],
        "gone": made["gone"],
        "new pages": made["pages"],
        "pages": after.get("pages", 0),
        "relevant": after.get("relevant", 0),
    }


_DONE = frozenset(
    {
        Outcome.FETCHED,
        Outcome.REDIRECTED,
        Outcome.CANONICAL,
        Outcome.LISTING,
        Outcome.WAITING,
        Outcome.GONE,
    }
)


def not_fetched(status: Status) -> list[str]:
    """Every reason that left out more than one known URL in a hundred, and the setting that changes it."""
    told = []
    for name, count in sorted(status.outcomes.items(), key=lambda item: -item[1]):
        outcome = Outcome[name.upper()]
        if outcome not in _DONE and count > 0.01 * status.known:
            setting = f", see {outcome.setting}" if outcome.setting else ""
            told.append(f"{outcome.label}: {count:,} ({100 * count / status.known:.0f} %{setting})")
    return told


async def _serve(job: Crawl | ShardedCrawl, metrics: tuple[str, int] | None, beside: AsyncExitStack) -> None:
    """Answer Prometheus beside a crawl, where that is asked for."""
    if metrics is not None:
        from honeyguide.job.metrics import serve_metrics

        port = await beside.enter_async_context(serve_metrics(job, *metrics))
        announce(f"metrics: port {port} of {metrics[0]}")


async def _tell_rests(job: Crawl, progress: Progress) -> None:
    """Say what a crawl waits for while no event comes: a host may want to be left alone for an hour."""
    while True:
        await asyncio.sleep(1.0)
        progress.update(rests=rest_of(job.progress))


def rest_of(now: job_progress.Progress) -> str:
    """Until when nothing may be asked for, and why; empty when that is soon."""
    if not now.rests_until:
        return ""
    until = time.strftime("%H:%M:%S", time.localtime(now.rests_until))
    return f"nothing may be asked before {until}" + (f" ({now.trouble})" if now.trouble else "")


async def _watch(
    job: Crawl,
    events: Callable[[], AsyncIterator[Event]],
    config: Config,
    warnings: dict[str, None],
    metrics: tuple[str, int] | None,
    *,
    quiet: bool,
) -> None:
    stop_on_signals(job.stop)
    async with AsyncExitStack() as beside:
        await _serve(job, metrics, beside)
        progress = beside.enter_context(Progress(config.crawl.max_pages, quiet=quiet))
        resting = asyncio.create_task(_tell_rests(job, progress))
        beside.callback(resting.cancel)
        async for event in events():
            if event.kind == "warning" and len(warnings) < 1000:
                warnings[f"{event.data.get('source', '')}: {event.data.get('note', '')}"] = None
            if event.kind in {"page", "revisit"}:
                now = job.progress
                progress.update(
                    pages=now.pages,
                    relevant=now.relevant,
                    harvest=now.harvest,
                    waiting=now.waiting,
                    rate=now.rate,
                    last=now.last,
                )
