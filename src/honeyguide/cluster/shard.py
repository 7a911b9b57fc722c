"""One shard: an actor that runs the ordinary crawl in a thread of its own, on its own folder.

Ray calls the actor's methods in other threads. They touch nothing of the crawl but its `Mailbox`, and what is
safe from any thread. The postman is a third thread: it takes committed batches to their owners, again and
again until each says that it holds them for good.

An actor that died is started again by Ray with what it was made with; the coordinator then tells it to start.
"""

from __future__ import annotations

import asyncio
import os
import platform
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec
from zstandard import ZstdCompressor, ZstdDecompressor

from honeyguide.cluster.addresses import SharedGate, ray_asker
from honeyguide.cluster.assignment import Assignment
from honeyguide.cluster.learning import Learned, agree, learned_by, spread_of, teach
from honeyguide.cluster.ray_cluster import ClusterError, first_line
from honeyguide.cluster.snapshots import Snapshots, Superseded
from honeyguide.collection.merging import pass_on_reviews
from honeyguide.config.load import freeze
from honeyguide.config.reach import reach
from honeyguide.config.schema import Config
from honeyguide.engine import control
from honeyguide.engine.crawler import Crawler
from honeyguide.engine.neighbours import Batch, Mailbox, Neighbours, Standing
from honeyguide.errors import CollectionError
from honeyguide.failpoint import VARIABLE, arm, failpoint
from honeyguide.fetch.politeness import IpGate, PolitenessPolicy
from honeyguide.job.assemble import SOFTWARE
from honeyguide.job.changed_topic import take_topic
from honeyguide.job.crawl import Crawl, run_here
from honeyguide.log import WARNING, say
from honeyguide.model import Event
from honeyguide.store.atomic import replacing
from honeyguide.store.layout import Layout, is_begun, is_collection
from honeyguide.store.models import Saved

PREPARED: Final = ("examples.json", "prepared.json")
"""What one shard gathers before the crawl, and all others are given."""
LEARNING_SECONDS: Final = 10.0
"""How long a shard may take to say what it has learned."""
LOOK_SECONDS: Final = 0.25
"""How long a shard may take to say where it stands now; else it says where it stood."""
LOCK_SECONDS: Final = 20.0
"""How long a shard waits for its predecessor to let go of the folder."""
MOST_WARNINGS: Final = 100
SOON: Final = 0.1
SELDOM: Final = 2.0
"""Seconds between two calls to a shard that has little to do, and to one that has enough."""
HUNGRY: Final = 32
"""A shard with fewer URLs waiting has little to do."""


class Ended(msgspec.Struct, frozen=True):
    """How a shard's crawl ended."""

    reason: str = ""
    missed: tuple[tuple[str, str], ...] = ()
    """Examples that could not be fetched, and why."""
    warnings: tuple[str, ...] = ()
    cpu: float = 0.0
    """Seconds of CPU of the actor's process and its children."""
    calls: int = 0
    """Calls that it made to other shards and to the directory of addresses."""
    sent: int = 0
    """Bytes of links that it sent."""


class Post:
    """Takes batches to other shards.

    Args:
        me: Name of this shard.
        mailbox: Where the batches are.
        peers: Actors of the other shards, by name.
    """

    def __init__(self, me: str, mailbox: Mailbox, peers: Mapping[str, Any]) -> None:
        self._me = me
        self._mailbox = mailbox
        self._peers = dict(peers)
        self._due: dict[str, float] = {}
        """When a shard is written to next."""
        self._received: dict[str, int] = {}
        """Last batch of ours that a shard has, by its own word."""
        self._under_way: dict[Any, str] = {}
        self._news = threading.Event()
        self._ended = threading.Event()
        self.calls = 0
        self.sent = 0
        mailbox.said = self._news.set
        self._thread = threading.Thread(target=self._run, name="post", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def end(self) -> None:
        """Make no more rounds."""
        self._ended.set()
        self._news.set()
        if self._thread.is_alive():  # a crawl that was stopped early never began to send
            self._thread.join(10.0)

    def _run(self) -> None:
        while not self._ended.is_set():
            self._round()
            self._ended.wait(SOON)
            if not self._under_way and not self._mailbox.waiting_for():
                self._news.wait(SELDOM)
            self._news.clear()

    def _round(self) -> None:
        busy = set(self._under_way.values())
        for to in self._mailbox.waiting_for():
            if to in busy or to not in self._peers or self._due.get(to, 0.0) > time.monotonic():
                continue
            batches = self._mailbox.to_send(to, self._received.get(to, 0))
            run = batches[0].run if batches else self._mailbox.run
            payload = packed(batches)
            self.calls += 1
            self.sent += len(payload)
            self._under_way[self._peers[to].deliver.remote(self._me, run, payload)] = to
            failpoint("post.sent")
        self._collect()

    def _collect(self) -> None:
        import ray

        if not self._under_way:
            return
        done, _ = ray.wait(list(self._under_way), num_returns=len(self._under_way), timeout=SOON)
        for call in done:
            to = self._under_way.pop(call)
            try:
                received, held, hungry = ray.get(call)
            except ray.exceptions.RayError:
                self._received.pop(to, None)  # it is being started again: it will say what it has
                self._due[to] = time.monotonic() + SELDOM
                continue
            failpoint("post.answered")
            self._due[to] = time.monotonic() + (SOON if hungry else SELDOM)
            self._received[to] = received
            self._mailbox.acknowledge(to, held)


class Shard:
    """Runs one shard's crawl. Made a Ray actor by the coordinator.

    Args:
        name: Of the shard.
        shards: Names of all.
        folder: Where its collection is. With a store: where each machine keeps the folders of its shards.
        config: The topic and all settings.
        store: Where snapshots are kept; empty for nowhere: then all shards are on the machine of the folder.
        every: Seconds between two snapshots.
        again: Arguments of a recrawl (`Crawl.recrawl`); None for a crawl.
        rejudge: Whether all pages are to be judged again, by the topic of `config`.
        software: The honeyguide of the coordinator; empty for whatever it is.
        fail_at: Fail point at which a test wants it to die, in its first life only.
    """

    def __init__(
        self,
        name: str,
        shards: tuple[str, ...],
        folder: str,
        config: Config,
        *,
        store: str = "",
        every: float = 30.0,
        again: Mapping[str, Any] | None = None,
        rejudge: bool = False,
        software: str = "",
        fail_at: str = "",
    ) -> None:
        first_life = not _lives_again() if fail_at or rejudge else True
        if fail_at and first_life:
            arm({"HONEYGUIDE_TESTS": "1", VARIABLE: fail_at})
        self._software = software
        self._name = name
        self._shards = shards
        self._folder = Path(folder)
        self._every = every
        self._again = again
        self._rejudge = rejudge
        self._first_life = first_life
        self._snapshots: Snapshots | None = None
        self._taken = time.monotonic()
        self._camera = threading.Lock()
        self._last_taken = False
        if store:
            self._folder = self._folder / _node() / name
            self._snapshots = Snapshots(store, name)
        self._config = config
        self._mailbox = Mailbox()
        self._crawl: Crawl | None = None
        self._post: Post | None = None
        self._thread: threading.Thread | None = None
        self._ready = threading.Event()
        self._over = threading.Event()
        self._error: BaseException | None = None
        self._warnings: dict[str, None] = {}
        self._call: Callable[[Callable[[], object]], object] | None = None
        self._stop = ""
        self._paused = False
        self._directory: Any | None = None
        self._gate: SharedGate | None = None

    def start(
        self, peers: Mapping[str, Any], prepared: Mapping[str, bytes], directory: Any | None = None
    ) -> bool:
        """Begin the crawl, unless it runs.

        Args:
            peers: Actors of the other shards.
            prepared: Contents of the files in `PREPARED`, for a shard that has none yet.
            directory: Actor that knows who asks which address; None where nobody has to.
        """
        if self._thread is not None:
            return False
        if self._software not in ("", SOFTWARE):
            raise ClusterError(
                f"{platform.node()} has {SOFTWARE}, the crawl was started by {self._software};"
                " install the same version on all machines"
            )
        self._directory = directory
        self._post = Post(self._name, self._mailbox, peers)
        self._thread = threading.Thread(
            target=self._work, args=(dict(prepared),), name=f"shard-{self._name}", daemon=True
        )
        self._thread.start()
        return True

    def prepared(self, seconds: float) -> dict[str, bytes] | None:
        """What was gathered before the crawl, once it is; None when it is not within so many seconds."""
        if not self._ready.wait(seconds) and not self._over.is_set():
            return None
        self._raise()
        files = (self._folder / name for name in PREPARED)
        return {file.name: file.read_bytes() for file in files if file.is_file()}

    def turn(
        self, limit: int, slots: int = 0, *, paused: bool = False, stop: str = "", look: bool = True
    ) -> tuple[bool, Standing]:
        """Whether the crawl runs or has ended in order, and where it stands; sets what it may do.

        Args:
            limit: Pages it may have in all.
            slots: Requests it may have under way; 0 for as many as its settings say.
            paused: Whether it is to rest.
            stop: Why it is to stop; empty for not at all.
            look: Whether where it stands now is wanted, also when it takes a moment.
        """
        if self._over.is_set():
            self._raise()
        if stop and not self._stop:
            self._stop = stop
            self._tell(lambda crawl: crawl.stop(stop))
        if paused != self._paused and self._crawl is not None and self._crawl.session:
            self._paused = paused
            control.ask(self._folder, session=self._crawl.session, paused=paused)
        standing = self._mailbox.allow(limit, slots)
        if look and standing.open and not self._stop and not self._over.is_set():
            standing = self._mailbox.look(LOOK_SECONDS)
        return self._thread is not None, standing

    def stop_at_once(self) -> None:
        """Wait for no answer that is under way."""
        self._tell(lambda crawl: crawl.stop("interrupted"))

    def deliver(self, sender: str, run: str, payload: bytes) -> tuple[int, int, bool]:
        """Batches of another shard; see `Mailbox.deliver`. Whether more is wanted soon."""
        if not self._ready.is_set():
            return 0, 0, False  # it is not known yet what is in
        batches = unpacked(payload)
        hungry = self._mailbox.standing.waiting < HUNGRY
        received = self._mailbox.deliver(sender, run, batches)
        failpoint("inbox.received")
        return *received, hungry

    def reviews(self, lines: bytes) -> None:
        """People's decisions, all of them."""
        if pass_on_reviews(lines, self._folder):
            control.ask(self._folder, reviews=1)

    def learned(self) -> Learned:
        """What order and page model have learned by themselves; nothing where they cannot share it."""
        found: Future[Learned] = Future()
        if not self._ready.is_set() or self._over.is_set():
            return Learned()
        try:
            count = len(self._shards)
            self._in_crawl(
                lambda crawler: found.set_result(learned_by(crawler.order, crawler.model, shards=count))
            )
            return found.result(LEARNING_SECONDS)
        except (TimeoutError, RuntimeError):  # busy, or its loop has just ended
            return Learned()

    def learn(self, order: Saved, models: list[Saved], *, weigh: bool = False) -> Saved:
        """Take what the other shards have learned, between two turns of the crawl.

        Args:
            order: Of theirs.
            models: Their page models.
            weigh: Whether to say how what waits here scores then, and wait for that.
        """
        found: Future[Saved] = Future()

        def take(crawler: Crawler) -> None:
            teach(crawler, order, models)
            if weigh:
                found.set_result(spread_of(crawler))

        with suppress(TimeoutError, RuntimeError):  # busy, or its loop has just ended
            self._in_crawl(take)
            return found.result(LEARNING_SECONDS) if weigh else Saved()
        return Saved()

    def agree(self, others: Saved) -> None:
        """Weigh anew, by how what waits in the other shards scores."""
        with suppress(RuntimeError):  # the crawl's loop has just ended
            self._in_crawl(lambda crawler: agree(crawler, others))

    def _in_crawl(self, what: Callable[[Crawler], object]) -> None:
        self._tell(lambda crawl: what(crawl.crawler) if crawl.crawler is not None else None)

    def ended(self, seconds: float) -> Ended | None:
        """How the crawl ended; None while it runs."""
        if self._thread is not None and not self._over.wait(seconds):
            return None
        self._raise()
        used = os.times()
        post, crawl = self._post, self._crawl
        return Ended(
            reason=crawl.reason if crawl is not None else self._stop,
            missed=crawl.missed_examples if crawl is not None else (),
            warnings=tuple(self._warnings),
            cpu=used.user + used.system + used.children_user + used.children_system,
            calls=(post.calls if post else 0) + (self._gate.rounds if self._gate is not None else 0),
            sent=post.sent if post is not None else 0,
        )

    def process(self) -> int:
        """Number of the actor's process."""
        return os.getpid()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    def _tell(self, what: Callable[[Crawl], object]) -> None:
        crawl, call = self._crawl, self._call
        if crawl is not None and call is not None:
            call(lambda: what(crawl))

    def _work(self, prepared: Mapping[str, bytes]) -> None:
        """The crawl's thread."""
        try:
            self._lay_out(prepared)
            owners = Assignment(self._shards)
            first = self._name == self._shards[0]
            neighbours = Neighbours(
                self._name,
                self._shards,
                owners.of_host,
                self._mailbox,
                asks_sources=first,
                safe=self._snapshots is None,
            )
            self._crawl = Crawl(
                self._config,
                out=self._folder,
                on_change="keep",
                neighbours=neighbours,
                gate=self._make_gate if self._directory is not None else None,
            )
            self._go()
            if self._snapshots is not None:
                with self._camera:  # what is being copied meanwhile would come after the last one
                    self._last_taken = True
                    self._snapshots.take(self._folder, ended=True)
        except BaseException as error:
            self._error = error
        finally:
            if self._post is not None:
                self._post.end()
            self._over.set()
            self._ready.set()

    def _make_gate(self, policy: PolitenessPolicy) -> IpGate:
        self._gate = SharedGate(policy, self._name, ray_asker(self._directory), wake=self._mailbox.wake_up)
        threading.Thread(target=self._gate.run, args=(self._over,), name="addresses", daemon=True).start()
        return self._gate

    def _lay_out(self, prepared: Mapping[str, bytes]) -> None:
        """The shard's folder, and in it what another shard gathered before the crawl."""
        folder = self._folder
        if self._snapshots is not None and self._snapshots.is_newer(folder):
            if folder.exists():  # the shard went on elsewhere since it was here
                folder.rename(folder.with_name(f"{folder.name}.{time.time_ns()}"))
            folder.parent.mkdir(parents=True, exist_ok=True)
            self._snapshots.restore(folder)
        if is_begun(folder) or not is_collection(folder):
            Layout.create(
                folder, software=SOFTWARE, topic=freeze(self._config), reach=reach(self._config, root=folder)
            )
        if self._rejudge:
            self._take_topic()
        for name, content in prepared.items():
            if name in PREPARED and not (folder / name).exists():
                with replacing(folder / name) as temporary:
                    temporary.write_bytes(content)

    def _take_topic(self) -> None:
        """Have all pages judged again, once: one that was lost since only goes on with it."""
        if Layout(self._folder).state_file.is_file():
            take_topic(self._folder, self._config, even_if_same=self._first_life)

    def _go(self) -> None:
        """Run the crawl to its end.

        Its coroutines are no methods: with one, Ray would take the actor for an asynchronous one and call
        all of its methods one after the other, in one event loop.
        """
        crawl = self._crawl
        assert crawl is not None

        def session() -> AsyncIterator[Event]:
            return crawl.run() if self._again is None else crawl.recrawl(**self._again)

        async def events() -> None:
            self._call = asyncio.get_running_loop().call_soon_threadsafe
            if self._stop:
                crawl.stop(self._stop)
            watcher = asyncio.ensure_future(doors())
            until = time.monotonic() + LOCK_SECONDS
            try:
                while True:
                    try:
                        async for event in session():
                            if event.kind == "warning" and len(self._warnings) < MOST_WARNINGS:
                                said = f"{event.data.get('source', '')}: {event.data.get('note', '')}"
                                self._warnings[said] = None
                        return
                    except CollectionError as error:
                        if "is in use by another process" not in str(error) or time.monotonic() > until:
                            raise
                        await asyncio.sleep(0.2)  # an actor that was lost is still dying
            finally:
                watcher.cancel()

        async def doors() -> None:
            while crawl.crawler is None:  # noqa: ASYNC110 - it has no such event
                await asyncio.sleep(0.02)
            self._open()

        run_here(events)

    def _open(self) -> None:
        """Open the doors: the crawl knows what is in."""
        self._ready.set()
        if self._post is not None:
            self._post.start()
        if self._snapshots is not None:
            threading.Thread(target=self._photograph, name="snapshots", daemon=True).start()

    def _photograph(self) -> None:
        """Take snapshots: one in a while, and soon when others wait for it and nothing else is to be done."""
        assert self._snapshots is not None
        while not self._over.wait(0.2):
            waited = time.monotonic() - self._taken
            rests = self._mailbox.unheld and not self._mailbox.standing.waiting
            if waited < (min(1.0, self._every) if rests else self._every):
                continue
            if self._thread is None or not self._thread.is_alive():
                return
            try:
                with self._camera:
                    if self._last_taken:
                        return
                    held = self._snapshots.take(self._folder)
                failpoint("snapshot.held")
                self._mailbox.hold(held)
            except Superseded as error:
                self._error = error
                self._tell(lambda crawl: crawl.stop("it goes on elsewhere"))
                return
            except Exception as error:
                say(WARNING, "snapshot failed", shard=self._name, why=first_line(error))
            self._taken = time.monotonic()


def packed(batches: list[Batch]) -> bytes:
    """Batches as they travel, in a quarter of their size.

    Ray sends large messages by its object store, which costs more than twice the call.
    """
    return ZstdCompressor(level=1).compress(msgspec.msgpack.encode(batches))


def unpacked(payload: bytes) -> list[Batch]:
    """What arrived."""
    return msgspec.msgpack.decode(ZstdDecompressor().decompress(payload), type=list[Batch])


def _lives_again() -> bool:
    """Whether Ray has started this actor again after it was lost."""
    import ray

    return bool(ray.get_runtime_context().was_current_actor_reconstructed)


def _node() -> str:
    """Name of this machine, as Ray has it: a machine that was lost comes back under another."""
    import ray

    return str(ray.get_runtime_context().get_node_id())[:16]
