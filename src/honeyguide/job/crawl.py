"""The crawl as Python users meet it: `Crawl(topic).run()` and `crawl(topic)`."""

from __future__ import annotations

import asyncio
import gc
import threading
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from honeyguide.collection.collection import Collection
from honeyguide.collection.no_page import no_page
from honeyguide.config.load import by_table, changed, check_values, load
from honeyguide.config.schema import VERSION, Config
from honeyguide.engine.budget import Tally
from honeyguide.engine.clock import Clock, WallClock
from honeyguide.engine.crawler import Crawler
from honeyguide.engine.neighbours import OWNERS, Neighbours
from honeyguide.engine.prospects import Rates
from honeyguide.engine.visit import Visitor
from honeyguide.errors import CollectionError, HoneyguideError, TopicError
from honeyguide.fetch.base import Fetcher
from honeyguide.fetch.politeness import IpGate, PolitenessPolicy
from honeyguide.job import again
from honeyguide.job.assemble import NOT_BEGUN, Equipment, Given, equip, make_crawler, open_stores
from honeyguide.job.changed_topic import OnChange, settled, take_topic
from honeyguide.job.examples import Prepared, prepare, told_missed
from honeyguide.job.notebook import Box, in_notebook
from honeyguide.job.parts import chosen, with_own_parts
from honeyguide.job.progress import Pace, Progress
from honeyguide.log import INFO, say
from honeyguide.model import Event, Examples, Outcome, Topic
from honeyguide.store.layout import Layout, is_collection
from honeyguide.store.lock import holder
from honeyguide.store.shards import is_sharded
from honeyguide.store.state import State
from honeyguide.topic.patterns import is_url

Made = TypeVar("Made")


class _Stopped(Exception):
    """Asked to stop before the crawl had begun."""


class NothingFetched(UserWarning):
    """A whole crawl has no page; the message says why."""


class Crawl:
    """One crawl: of a topic, by a recipe, into a folder.

    Args:
        topic: A `Topic`, a checked `Config`, or the path of a topic file.
        out: Folder of the collection; one that exists is resumed. None keeps everything in memory,
            without archive and index.
        recipe: Name of a recipe; by default the topic file's, or scout.
        relevance: A page model of your own: an instance, a class, `"module:Class"`, a registered name, or a
            scikit-learn classifier over texts. A class is made with what it `needs`; see CONTRIBUTING.md.
        ordering: A link order of your own, in the same ways.
        discovery: Sources of your own, one or several, in the same ways.
        examples: What is known of the topic as text, instead of what the topic names.
        services: What sources may need beyond HTTP, by name.
        visitor: Where pages come from, instead of HTTP: a recorded or generated web.
        fetcher: What asks for URLs, instead of HTTP.
        clock: The crawl's time; by default the machine's.
        change_rates: How often pages change, by their addresses, where that is known (in the lab).
        on_change: What to do when `out` holds a collection that was crawled for other keywords, examples or
            parts: `ask` raises an error that says what differs, `keep` goes on with the old ones, `rejudge`
            judges the archived pages again and goes on with the new ones.
        neighbours: The other shards, where the crawl is one of several (`honeyguide.cluster`).
        gate: Makes the spacing per address, where other processes ask the same addresses.
        options: Further keys of the topic file's `[crawl]`, `[scope]`, `[identity]`, `[politeness]`,
            `[limits]`, `[fetch]`, `[network]` and `[storage]`, such as `max_pages=500` or `delay=0.5`.

    Example:
        >>> crawl = Crawl(Topic("owls", keywords=("owl",), seeds=("https://example.org/",)), max_pages=10)
        >>> crawl.config.crawl.max_pages
        10
    """

    def __init__(
        self,
        topic: Topic | Config | Path | str,
        *,
        out: Path | str | None = None,
        recipe: str | None = None,
        relevance: object = None,
        ordering: object = None,
        discovery: object = None,
        examples: Examples | None = None,
        services: Mapping[str, object] | None = None,
        visitor: Visitor | None = None,
        fetcher: Fetcher | None = None,
        clock: Clock | None = None,
        change_rates: Rates | None = None,
        on_change: OnChange = "ask",
        neighbours: Neighbours | None = None,
        gate: Callable[[PolitenessPolicy], IpGate] | None = None,
        **options: object,
    ) -> None:
        self.config = as_config(topic, recipe, options)
        if out is not None and is_collection(Path(out)):
            self.config = settled(Path(out), self.config, on_change)
        self.recipe = with_own_parts(
            chosen(self.config),
            relevance=relevance,
            ordering=ordering,
            discovery=discovery,
            services=services or (),
        )
        self.out = Path(out) if out is not None else None
        self.clock: Clock = clock or WallClock()
        self._given = Given(
            services=services,
            examples=examples,
            visitor=visitor,
            fetcher=fetcher,
            change_rates=change_rates,
            neighbours=neighbours,
            gate=gate,
        )
        self._crawler: Crawler | None = None
        self._pace = Pace()
        self._stop = ""
        self._again: again.RecrawlOptions | None = None
        self._again_since: float | None = None
        self._setting_up: asyncio.Future[Any] | None = None
        self.reason = ""
        """Why the crawl stopped."""
        self.session = 0
        """Number of this run of the crawl, from 1; 0 before it begins."""
        self.state: State | None = None
        """The open state, while the crawl runs; afterwards too when it is kept in memory."""
        self.missed_examples: tuple[tuple[str, str], ...] = ()

    @property
    def tally(self) -> Tally:
        """What was spent and found so far."""
        return self._crawler.tally if self._crawler else Tally()

    @property
    def progress(self) -> Progress:
        """How far the crawl is."""
        return self._pace.progress(self.tally, self._crawler)

    @property
    def crawler(self) -> Crawler | None:
        """The running loop."""
        return self._crawler

    def stop(self, reason: str = "asked to stop") -> None:
        """Stop cleanly; a second call stops at once. The crawl can be resumed."""
        self._stop = self._stop or reason
        if self._crawler is not None:
            self._crawler.stop(reason)
        elif self._setting_up is not None:
            self._setting_up.cancel()

    async def _or_stop(self, work: Coroutine[None, None, Made]) -> Made:
        """What comes before the crawl: a stop ends it at once, since nothing of it is worth draining."""
        if self._stop:
            work.close()
            raise _Stopped
        self._setting_up = task = asyncio.ensure_future(work)
        try:
            return await task
        except asyncio.CancelledError:
            if self._stop:
                raise _Stopped from None
            raise
        finally:
            self._setting_up = None

    async def recrawl(
        self,
        *,
        older_than: float | str = 0.0,
        budget: int | None = None,
        share: float = again.SHARE,
        all_pages: bool = False,
        start: float | None = None,
    ) -> AsyncIterator[Event]:
        """Visit the pages of the collection again, giving each event once it is committed.

        Those go first whose visit is expected to win most: relevance times the chance of a change, and pages
        that brought new ones before. New links are followed within their share. One that was stopped or
        killed goes on when it is called again.

        Args:
            older_than: Leave out pages visited since, in seconds or as `7 d`.
            budget: Visits in all; None for every page that is due.
            share: Share of known pages among the visits.
            all_pages: Pages off topic, too, not only those on topic and those on which such were found.
            start: When the recrawl of several shards began, for one of them.

        Raises:
            CollectionError: There is no collection with pages in `out`.
        """
        if self.out is None or not is_collection(self.out):
            raise CollectionError("there is no collection to visit again; crawl first")
        self._again = again.asked_for(older_than, budget, share, all_pages=all_pages)
        self._again_since = start
        async for event in self.run():
            yield event

    def _made(self, equipment: Equipment, prepared: Prepared, recrawl: again.Recrawl | None) -> Crawler:
        """The loop; where it cannot begin, the session says why, and does not look killed."""
        try:
            return make_crawler(
                equipment,
                prepared.examples,
                prepared=prepared.sources,
                session=self.session,
                recrawl=recrawl,
            )
        except HoneyguideError as error:
            state = equipment.stores.state
            state.rollback()
            state.stop_session(self.session, self.clock.now(), reason=f"{NOT_BEGUN}: {error}")
            state.commit()
            if not (isinstance(error, TopicError) and prepared.missed):
                raise
            told = told_missed(prepared.missed)
            raise TopicError(f"{error}; examples that could not be fetched: {told}") from error

    async def run(self) -> AsyncIterator[Event]:
        """Crawl until a budget is spent or nothing is left, giving each event once it is committed."""
        clock = self.clock
        if clock.now() < 0:  # hosts are ready from 1970 on, and dates before it fit no archive
            raise HoneyguideError(
                "this machine's clock says that it is before 1970; set it, then run the same command again"
            )
        if self.out is not None:
            if self._given.neighbours is None:  # who have told this crawl of URLs that they forget then
                begin_again(self.out)
            if is_collection(self.out):
                take_topic(self.out, self.config)
        stores, layout = open_stores(self.config, self.out, clock)
        if self._given.neighbours is None and stores.state.setting(OWNERS) is not None:
            stores.close(keep_state=False)
            raise CollectionError(
                f"{self.out} is one shard of a crawl, and alone it would ask for what others have;"
                " resume the whole collection, or make an ordinary one of that: honeyguide merge"
            )
        state = self.state = stores.state
        session = self.session = state.start_session(clock.now(), version=VERSION)
        recrawl = again.begin(state, self._again, now=clock.now(), start=self._again_since)
        state.commit()
        say(
            INFO,
            "crawl started",
            topic=self.config.topic.name,
            recipe=self.recipe.name,
            folder=str(self.out or ""),
            session=session,
        )
        try:
            equipment = equip(
                self.config, self.recipe, clock, stores=stores, layout=layout, given=self._given
            )
            try:
                prepared = await self._or_stop(prepare(equipment))
                self.missed_examples = prepared.missed
                for event in prepared.events:
                    self._pace.saw(event)
                    yield event
                self._crawler = self._made(equipment, prepared, recrawl)
                retraining = self._crawler.retraining
                if retraining is not None and retraining.judges_again:
                    retraining.all(clock.now())
                if self._stop:
                    self._crawler.stop(self._stop)
                with _startup_frozen(live=not clock.virtual):
                    async for event in self._crawler.run():
                        self._pace.saw(event)
                        self._pace.tell(self.tally, self._crawler)
                        yield event
                self.reason = self._crawler.stopping
            except _Stopped:
                self.reason = self._stop
            finally:
                await equipment.close()
            again.end(state, recrawl, stopped=bool(self._stop))
            state.stop_session(session, clock.now(), reason=self.reason)
            state.commit()
            say(
                INFO,
                "crawl stopped",
                reason=self.reason,
                pages=self.tally.pages,
                relevant=self.tally.relevant,
                requests=self.tally.requests,
            )
        finally:
            stores.close(keep_state=self.out is None)


def crawl(
    topic: Topic | Config | Path | str,
    *,
    on_event: Callable[[Event], object] | None = None,
    progress: bool = True,
    **arguments: object,
) -> Collection:
    """Run a whole crawl and give back its collection; for scripts and notebooks.

    Interrupting it (Ctrl-C, or the stop button of a notebook) stops the crawl in order, then raises
    `KeyboardInterrupt`; with `out`, calling it again goes on.

    Args:
        topic: As for `Crawl`.
        on_event: Called with each event.
        progress: Show how far it is under the cell of a notebook; elsewhere nothing is shown.
        arguments: As for `Crawl`.
    """
    job = Crawl(topic, **arguments)  # type: ignore[arg-type]
    begun = job.out is not None and is_collection(job.out)
    if not begun and not job.config.as_topic().seeds and not job.recipe.discovery:
        raise TopicError("there is no address to begin with; give the topic seeds=('https://example.org/',)")
    box = Box(job.config.crawl.max_pages) if progress and in_notebook() else None
    loops: list[asyncio.AbstractEventLoop] = []

    async def everything() -> None:
        loops.append(asyncio.get_running_loop())
        async for event in job.run():
            if on_event is not None:
                on_event(event)

    def interrupt() -> None:
        if loops:  # another thread's
            loops[0].call_soon_threadsafe(job.stop, "interrupted")
        else:
            job.stop("interrupted")

    def draw() -> None:
        if box is not None:
            box.draw(job.progress)

    try:
        run_here(everything, interrupted=interrupt, meanwhile=draw)
    finally:
        if box is not None:
            box.draw(job.progress, ended=job.reason or "it failed")
    collection = (
        Collection.open(job.out)
        if job.out is not None
        else Collection.of(job.state, name=job.config.topic.name)
    )
    status = collection.status()
    if status.pages == 0 and status.waiting == 0:
        warnings.warn(no_page(collection.state, job.config.crawl.seeds), NothingFetched, stacklevel=2)
    return collection


def recrawl(
    folder: Path | str,
    *,
    older_than: float | str = 0.0,
    budget: int | None = None,
    share: float = again.SHARE,
    all_pages: bool = False,
    on_event: Callable[[Event], object] | None = None,
) -> Collection:
    """Visit the pages of a collection again, and give it back; for scripts and notebooks.

    Args:
        folder: The collection.
        older_than: As for `Crawl.recrawl`.
        budget: As for `Crawl.recrawl`.
        share: As for `Crawl.recrawl`.
        all_pages: As for `Crawl.recrawl`.
        on_event: Called with each event.
    """
    job = Crawl(Layout.open(Path(folder)).topic_file, out=folder)

    async def everything() -> None:
        events = job.recrawl(older_than=older_than, budget=budget, share=share, all_pages=all_pages)
        async for event in events:
            if on_event is not None:
                on_event(event)

    run_here(everything, interrupted=lambda: job.stop("interrupted"))
    return Collection.open(folder)


def run_here(
    work: Callable[[], object],
    *,
    interrupted: Callable[[], object] | None = None,
    meanwhile: Callable[[], object] | None = None,
) -> None:
    """Run a coroutine function to its end, also where an event loop runs already (a notebook).

    Args:
        work: What to run.
        interrupted: Called when a person interrupts the waiting; the work is then waited for.
        meanwhile: Called a few times a second while a notebook waits.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        _run(work)
        return
    problem: list[BaseException] = []

    def aside() -> None:
        try:
            _run(work)
        except BaseException as error:
            problem.append(error)
        finally:
            done.set()

    # An event, since Python 3.11 takes a thread for ended when its `join` is interrupted.
    done = threading.Event()
    thread = threading.Thread(target=aside, name="honeyguide-crawl")
    thread.start()
    stop: KeyboardInterrupt | None = None
    while True:
        try:
            while not done.wait(0.2):  # short, so that an interrupt is noticed
                if meanwhile is not None:
                    meanwhile()
            break
        except KeyboardInterrupt as error:  # a second one stops it at once
            stop = error
            if interrupted is not None:
                interrupted()
    thread.join()
    if stop is not None:
        raise stop
    if problem:
        raise problem[0]


@contextmanager
def _startup_frozen(*, live: bool) -> Iterator[None]:
    """Let the garbage collector leave out what there is already, in a live crawl.

    Most of it are modules. To look through all of it takes 50 ms each time, and no connection is served then.
    """
    if not live:
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _run(work: Callable[[], object]) -> None:
    # A page makes thousands of objects and hardly any cycle: looking for those every 700 finds nothing.
    usual = gc.get_threshold()
    gc.set_threshold(max(usual[0], 20_000), *usual[1:])
    try:
        _run_loop(work)
    finally:
        gc.set_threshold(*usual)


def _run_loop(work: Callable[[], object]) -> None:
    try:
        import uvloop
    except ImportError:
        asyncio.run(work())  # type: ignore[arg-type]
        return
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work())  # type: ignore[arg-type]


def as_config(topic: Topic | Config | Path | str, recipe: str | None, options: dict[str, object]) -> Config:
    """Whatever the caller gave, as a checked configuration with its own options laid over."""
    if isinstance(topic, Topic):
        values = msgspec.to_builtins(topic)
        seeds = values.pop("seeds")
        values = {key: value for key, value in values.items() if value}
        config = check_values({"topic": values, "crawl": {"seeds": seeds}})
    elif isinstance(topic, Config):
        config = topic
    elif is_url(str(topic)):
        raise TopicError(
            f"{topic} is an address, not a topic file; write"
            f" Topic(name='my topic', keywords=('word',), seeds=('{topic}',)), with Topic from honeyguide"
        )
    else:
        config = load(Path(topic))
    changes = by_table(options)
    changes["crawl"]["recipe"] = recipe
    return changed(config, changes)


NOT_CONNECTED = frozenset(
    {
        Outcome.EGRESS,
        Outcome.TIMEOUT,
        Outcome.DNS,
        Outcome.CONNECTION,
        Outcome.TLS,
        Outcome.HOST_GIVEN_UP,
    }
)
"""Ends that say something of the network and nothing of the web."""


def begin_again(root: Path) -> bool:
    """Clear a collection without a page whose every address failed to connect; whether it was one.

    Its topic file stays; archive and index hold nothing of the web. With a page, a robots.txt that was
    read, or a crawl running, nothing is touched.
    """
    if not is_collection(root) or is_sharded(root):
        return False
    try:
        layout = Layout.open(root)  # which refuses folders that are links to others
        if not layout.is_ours or not layout.state_file.is_file() or holder(layout.lock_file):
            return False
        with State.open(layout.state_file, read_only=True) as state:
            ended = {outcome for outcome, count in state.counts().items() if count}
            if state.page_count() or not ended or not ended <= NOT_CONNECTED:
                return False
            if any(state.settings("robots:")):
                return False
    except HoneyguideError:
        return False
    for file in (layout.state_file, layout.index_file):
        for suffix in ("-wal", "-shm", ""):
            file.with_name(file.name + suffix).unlink(missing_ok=True)
    for path in layout.archive_folder.glob("*.warc*"):
        path.unlink()
    return True
