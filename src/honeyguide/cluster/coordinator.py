"""The crawl of all shards as its user has it: `ShardedCrawl(topic, out=..., shards=4).run()`.

The coordinator is the process that the user started. Once or twice a second, and more often at first, it asks
every shard where it stands, deals the budget out (`dealing.py`), passes on what people ask and decide
(`control.json`, `reviews.jsonl`), starts shards again whose actors were lost, and knows when all is done.
Links do not go through it. When it dies, its actors die with it; the same command goes on.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from honeyguide.cluster.addresses import Directory
from honeyguide.cluster.dealing import Front, deal, portion_of, slots_of
from honeyguide.cluster.learning import (
    FIRST_AGREEMENT,
    Learned,
    all_others,
    exchange_due,
    keep_bequest,
    next_agreement,
    others_of,
    read_bequest,
)
from honeyguide.cluster.limits import charges, limits
from honeyguide.cluster.ray_cluster import ClusterError, Connection, import_ray
from honeyguide.cluster.recrawls import Again, earlier, forget, keep
from honeyguide.cluster.shard import Ended, Shard
from honeyguide.cluster.snapshots import Claim, Snapshots, check_store
from honeyguide.collection.collection import Collection
from honeyguide.config.load import freeze
from honeyguide.config.reach import reach
from honeyguide.config.schema import Config
from honeyguide.engine import control
from honeyguide.engine.budget import Budget, Tally, spent
from honeyguide.engine.control import with_limits
from honeyguide.engine.neighbours import Standing
from honeyguide.engine.revisits import NOTHING_DUE
from honeyguide.errors import CollectionError, HoneyguideError
from honeyguide.failpoint import failpoint, meant_for
from honeyguide.job.again import SHARE, asked_for
from honeyguide.job.assemble import SOFTWARE, budget, politeness_policy
from honeyguide.job.changed_topic import OnChange, settled_over, write_topic
from honeyguide.job.crawl import as_config
from honeyguide.job.parts import chosen
from honeyguide.job.progress import RATE_SECONDS, Progress
from honeyguide.log import INFO, WARNING, say
from honeyguide.model import Outcome, Topic
from honeyguide.store import shards as manifests
from honeyguide.store.layout import Layout, is_collection
from honeyguide.store.lock import Lock
from honeyguide.store.reviews import FILE as REVIEWS
from honeyguide.store.shards import (
    Manifest,
    is_sharded,
    new_manifest,
    shard_folder,
    with_more,
    with_retired,
)

ROUNDS: Final = (0.5, 1.0)
"""Seconds between two rounds, at least and at most."""
FIRST_ROUNDS: Final = 0.1
"""The same while portions are small."""
PATIENCE: Final = 120.0
"""Seconds that a lost shard may take to come back."""
FAREWELL: Final = 60.0
"""Seconds that a shard may take to stop in order."""
REMOVAL: Final = 90.0
"""Seconds that shards which leave may take to hand over the rest, once the budget is spent."""
WORK: Final = "/var/tmp/honeyguide"  # noqa: S108 - one folder a user's machine, and trusted as such
"""Where machines of a cluster keep their shards."""
AHEAD: Final = 4
"""Pages dealt for each request that shards can have under way; what is left is dealt again."""
WELL_OFF: Final = 2
"""A shard that has as many times the pages left that it took since the last round needs no more at once."""
EVERYTHING: Final = 1 << 40
"""Pages that a shard without others may fetch."""
DONE: Final = "nothing left to fetch"


class ShardedCrawl:
    """One crawl by several shards, on this machine or on a Ray cluster.

    Args:
        topic: A `Topic`, a checked `Config`, or the path of a topic file.
        out: Folder of the collection; one that exists is resumed.
        shards: How many; None for as many as the collection has.
        add_shards: More shards than the collection has, from now on.
        remove_shards: Fewer, from now on: the last ones hand their hosts over.
        ray: Address of a Ray cluster; empty for a Ray of our own on this machine.
        store: Where snapshots of the shards are kept, as fsspec names it (a folder, `s3://bucket/path`);
            needed with `ray`. None for where the collection has them.
        work: Folder for the shards on each machine of a cluster.
        snapshot_seconds: Between two snapshots of a shard.
        recipe: Name of a recipe; by default the topic file's, or scout.
        on_change: `ask` raises an error when the collection was crawled for other keywords, examples or
            parts, `keep` goes on with the old ones, `rejudge` lets every shard judge its archived pages again
            and go on with the new ones.
        options: Further keys of the `[crawl]` table, such as `max_pages=500`.
    """

    _orders_share = True
    """Whether the shards' order can share what it learns, as far as is known."""
    _spent_since: float | None = None
    """When the budget was found to be spent; shards that leave may go on handing over."""
    _told: dict[str, int]
    """The limit that each shard has heard of."""
    _pace: dict[str, int]
    """Pages that each shard took in between the last two rounds."""

    def __init__(
        self,
        topic: Topic | Config | Path | str,
        *,
        out: Path | str,
        shards: int | None = None,
        add_shards: int = 0,
        remove_shards: int = 0,
        ray: str = "",
        store: str | None = None,
        work: Path | str = WORK,
        snapshot_seconds: float = 30.0,
        recipe: str | None = None,
        on_change: OnChange = "ask",
        **options: object,
    ) -> None:
        self.out = Path(out)
        self.config = as_config(topic, recipe, options)
        self._work = Path(work)
        self._every = snapshot_seconds
        self.manifest = with_more(self._manifest(shards, store), _joining(add_shards, remove_shards))
        if ray and not self.manifest.store:
            raise ClusterError(
                "--ray needs --store, where the machines keep their shards: a shared folder or S3"
            )
        self._rejudge = on_change == "rejudge"
        if self._rejudge and self.manifest.retired:
            raise CollectionError(
                f"shards have left {self.out}, and nobody judges their pages; go on with --keep, or with one"
                f" folder: honeyguide merge {self.out} NEW_FOLDER, then crawl with --out NEW_FOLDER --rejudge"
            )
        folders = [shard_folder(self.out, name) for name in self.manifest.at_work]
        self.config = settled_over(list(filter(is_collection, folders)), self.config, on_change)
        self.recipe = chosen(self.config)
        self._address = ray
        self.reason = ""
        """Why the crawl stopped."""
        self.missed_examples: tuple[tuple[str, str], ...] = ()
        self.ended: dict[str, Ended] = {}
        """How each shard ended."""
        self.warnings: dict[str, None] = {}
        self.restarts = 0
        """Shards that were started again after their actors were lost."""
        self.calls = 0
        """How often shards were asked where they stand."""
        self._budget: Budget = budget(self.config)
        self.actors: dict[str, Any] = {}
        """Ray's handles of the shards, while the crawl runs."""
        self._standings: dict[str, Standing] = {}
        self._limits: dict[str, int] = {}
        self._slots: dict[str, int] = {}
        self._told, self._pace = {}, {}
        self._hurried = False
        self._sharing: asyncio.Future[None] | None = None
        self._shared_at, self._agree_at = 0, FIRST_AGREEMENT
        """Pages at which shards told each other last what they had learned, and will weigh it together."""
        self._retired: dict[str, tuple[Standing, Learned]] = {}
        """Where shards stood that have left, whose pages count, and what they had learned."""
        self._opened: set[str] = set()
        """Shards that have told the others which hosts are theirs by now."""
        self._lost: dict[str, asyncio.Future[None]] = {}
        """Shards that Ray is starting again."""
        self._again: Again | None = None
        """The recrawl that this is; None for a crawl."""
        self._claim: Claim | None = None
        self._more = 0
        """Shards that are to join; negative: to leave."""
        self._stop, self._stops, self._paused = "", 0, False
        self._rates: deque[tuple[float, int]] = deque()
        self._relevant_at = (0, 0)
        self._woken = asyncio.Event()

    def _manifest(self, shards: int | None, store: str | None) -> Manifest:
        if is_sharded(self.out):
            found = manifests.load(self.out)
            manifests.require_count(self.out, found, shards)
            if store is not None and _absolute(store) != found.store:
                kept = f"has its shards in {found.store}" if found.store else "was begun without a store"
                raise CollectionError(f"{self.out} {kept}, not in {store}; leave out --store to go on")
            return found
        if is_collection(self.out) and Layout(self.out).state_file.exists():
            raise CollectionError(
                f"{self.out} is an ordinary collection without shards; leave out --shards to go on with it"
            )
        return new_manifest(1 if shards is None else shards, store=_absolute(store or ""), software=SOFTWARE)

    @property
    def tally(self) -> Tally:
        """What all shards spent and found so far."""
        found = [*self._standings.values(), *(one for one, _ in self._retired.values())]
        pages, relevant = sum(one.pages for one in found), sum(one.relevant for one in found)
        if relevant != self._relevant_at[0]:
            self._relevant_at = relevant, pages
        return Tally(
            pages=pages,
            relevant=relevant,
            bytes=sum(one.bytes for one in found),
            requests=sum(one.requests for one in found),
            seconds=max((one.seconds for one in found), default=0.0),
            since_relevant=pages - self._relevant_at[1],
        )

    @property
    def progress(self) -> Progress:
        """How far the crawl is."""
        tally, now = self.tally, time.monotonic()
        while len(self._rates) > 1 and self._rates[0][0] < now - RATE_SECONDS:
            self._rates.popleft()
        since, before = self._rates[0] if self._rates else (now, tally.pages)
        last = next((one.last for one in self._standings.values() if one.last), "")
        return Progress(
            pages=tally.pages,
            relevant=tally.relevant,
            harvest=round(tally.harvest, 4),
            recent_harvest=round(tally.harvest, 4),
            rate=round((tally.pages - before) / max(1.0, now - since), 2),
            waiting=sum(one.waiting for one in self._standings.values()),
            requests=tally.requests,
            seconds=round(tally.seconds, 1),
            last=last,
        )

    @property
    def begun(self) -> bool:
        """Whether the shards crawl by now."""
        return bool(self.actors) and len(self._standings) == len(self.actors)

    def figures(self) -> dict[str, float | list[tuple[str, int]] | None]:
        """The same for Prometheus (`honeyguide.job.metrics`)."""
        tally, now = self.tally, self.progress
        known = sum(one.known for one in self._standings.values())
        known += sum(one.known for one, _ in self._retired.values())
        return {
            "honeyguide_pages_total": tally.pages,
            "honeyguide_relevant_pages_total": tally.relevant,
            "honeyguide_requests_total": tally.requests,
            "honeyguide_bytes_total": tally.bytes,
            "honeyguide_crawl_seconds_total": tally.seconds,
            "honeyguide_harvest_ratio": tally.harvest,
            "honeyguide_pages_per_second": now.rate,
            "honeyguide_known_urls": known or None,
            "honeyguide_waiting_urls": now.waiting,
            "honeyguide_crawl_running": int(self.begun and not self.reason),
            "honeyguide_crawl_paused": int(self._paused),
            "honeyguide_shards": len(self.manifest.shards),
            "honeyguide_shard_restarts_total": self.restarts,
        }

    def add_shards(self, count: int = 1) -> None:
        """Go on with more shards: all stop for a moment, and hand over the hosts that the new ones win."""
        with_more(self.manifest, self._more + count)
        self._more += count
        self._woken.set()

    def remove_shards(self, count: int = 1) -> None:
        """Go on with fewer: all stop for a moment, and the last ones hand over their hosts and end.

        Raises:
            CollectionError: No shard would be left.
        """
        self.add_shards(-count)

    def stop(self, reason: str = "asked to stop") -> None:
        """Stop cleanly; a second call stops at once. The crawl can be resumed."""
        self._stop = self._stop or reason
        self._stops += 1
        self._woken.set()

    async def recrawl(
        self,
        *,
        older_than: float | str = 0.0,
        budget: int | None = None,
        share: float = SHARE,
        all_pages: bool = False,
    ) -> AsyncIterator[Progress]:
        """Visit the pages of the collection again, each shard those of its hosts; see `Crawl.recrawl`.

        Args:
            older_than: Leave out pages visited since, in seconds or as `7 d`.
            budget: Visits in all; None for every page that is due.
            share: Share of known pages among the visits of each shard.
            all_pages: Pages off topic, too, not only those on topic and those on which such were found.
        """
        if not is_sharded(self.out):
            raise CollectionError("there is no collection to visit again; crawl first")
        asked = asked_for(older_than, budget, share, all_pages=all_pages)
        self._again = earlier(self.out, asked, now=time.time()) or Again(time.time(), asked)
        self._budget = Budget(max_pages=budget)
        async for progress in self.run():
            yield progress

    async def run(self) -> AsyncIterator[Progress]:
        """Crawl until a budget is spent or nothing is left, telling a few times a second how far it is."""
        import_ray()
        if self.manifest.store:
            check_store(self.manifest.store)
        self._make_folder()
        lock = Lock(self.out / manifests.FILE)
        try:
            names = self.manifest.shards
            if self.manifest.store:
                self._claim = Claim(self.manifest.store, _key(self.out))
                self._claim.take()
            connection = Connection(self._address)
            try:
                connection.require_room(len(names))
                self._lay_out()  # a store or a number of shards that never worked must not bind the next try
                if self._again is not None:
                    keep(self.out, self._again)
                say(INFO, "crawl started", topic=self.config.topic.name, shards=len(names), out=str(self.out))
                self._read_standings()
                await self._start(connection)
                async for progress in self._rounds(connection):
                    yield progress
                while self._more and not self._stop:
                    await self._regroup(connection)
                    await self._start(connection)
                    async for progress in self._rounds(connection):
                        yield progress
                self.reason = self._stop
                await self._farewell(connection, self._stop)
                await asyncio.to_thread(self._bring_home, *(self.ended.keys() & self.actors.keys()))
                self._read_standings()  # the last pages came after the last word of a shard
                if self._again is not None and self._stops == 0:
                    forget(self.out)
                yield self.progress
                say(INFO, "crawl stopped", reason=self.reason, pages=self.tally.pages)
            finally:
                for back in self._lost.values():
                    back.cancel()
                for actor in self.actors.values():
                    connection.ray.kill(actor)
                connection.close()
        finally:
            if self._claim is not None:
                self._claim.release()
            lock.close()

    def _make_folder(self) -> None:
        """The collection's folder."""
        out = self.out
        if not is_collection(out):
            Layout.create(
                out, software=SOFTWARE, topic=freeze(self.config), reach=reach(self.config, root=out)
            )
        else:
            layout = Layout.open(out)
            layout.require_ours()
            if self._rejudge:
                write_topic(layout, self.config)

    def _lay_out(self) -> None:
        """The manifest, which says that the collection is one of shards, and which."""
        out = self.out
        if not is_sharded(out) or manifests.load(out) != self.manifest:
            manifests.save(out, self.manifest)
        for shard in self.manifest.at_work:
            shard_folder(out, shard).parent.mkdir(exist_ok=True)

    def _read_standings(self) -> None:
        """Where the shards stood when they stopped, until they say so themselves."""
        for name in self.manifest.at_work:
            if (found := self._standing_of(name)) is not None:
                self._standings[name] = found
        self._read_retired()

    def _read_retired(self) -> None:
        """Where shards stood that have left."""
        for name in self.manifest.retired:
            if name not in self._retired and (found := self._standing_of(name)) is not None:
                self._retired[name] = found, read_bequest(self._models_of(name))

    def _models_of(self, name: str) -> Path:
        return Layout(shard_folder(self.out, name)).models_folder

    def _standing_of(self, name: str) -> Standing | None:
        """Where a shard stands by its folder; None where there is none."""
        folder = shard_folder(self.out, name)
        if not is_collection(folder) or not Layout(folder).state_file.exists():
            return None
        with Collection.open(folder) as shard:
            found = shard.status()
            known = found.known - shard.state.columns().counts().get(Outcome.ELSEWHERE, 0)
        return Standing(
            pages=found.pages,
            relevant=found.relevant,
            bytes=found.bytes,
            requests=found.requests,
            seconds=found.seconds,
            waiting=found.waiting,
            known=known,
            spent=found.pages if self._again is None else 0,
            limit=found.pages if self._again is None else 0,
        )

    # Starting

    async def _start(self, connection: Connection) -> None:
        """Make the actors, and let the first shard gather what all need before the others begin."""
        self._connection = connection
        names = self.manifest.at_work
        self._opened.clear()
        for name in names:
            # One that leaves has nothing to fetch.
            made = connection.ray.remote(Shard).options(
                num_cpus=0 if connection.local or name in self.manifest.leaving else 1,
                max_restarts=-1,
                max_concurrency=8,
                scheduling_strategy="SPREAD",
            )
            folder = shard_folder(self.out, name).resolve()
            if self.manifest.store:
                folder = self._work / _key(self.out)
            self.actors[name] = made.remote(
                name,
                self.manifest.shards,
                str(folder),
                self.config,
                store=self.manifest.store,
                every=self._every,
                again=self._again.for_shards if self._again is not None else None,
                rejudge=self._rejudge,
                software=SOFTWARE,
                fail_at=meant_for(name, os.environ),
            )
        policy = politeness_policy(self.config)
        self._directory: Any | None = None
        if len(names) > 1 and policy.ip_delay > 0:
            directory = connection.ray.remote(Directory).options(num_cpus=0, max_restarts=-1)
            self._directory = directory.remote(policy.ip_delay, policy.ip_at_once)
        first = names[0]
        self._prepared: Mapping[str, bytes] = {}
        found: dict[str, bytes] | None = None
        while found is None and not self._stop:
            await self._come_back(first)
            try:
                found = await self._ask(self.actors[first].prepared.remote(1.0))
            except connection.ray.exceptions.RayActorError:  # it begins again
                self._lose(first)
        if found is None:
            return
        self._prepared = found
        if len(names) > 1 and not is_collection(shard_folder(self.out, names[1])):
            # Examples may have been fetched from hosts that are another shard's.
            await asyncio.sleep(min(10.0, self.config.politeness.delay) if self.config.topic.examples else 0)
        await asyncio.gather(*(self._come_back(name) for name in names[1:]))

    async def _begin(self, name: str) -> None:
        peers = {other: actor for other, actor in self.actors.items() if other != name}
        await self._ask(self.actors[name].start.remote(peers, self._prepared, self._directory))

    async def _ask(self, call: Any) -> Any:
        """The answer of an actor. What went wrong in it is raised as it was."""
        ray = self._connection.ray
        try:
            return await asyncio.wrap_future(call.future())
        except ray.exceptions.RayTaskError as error:
            raise _cause(error) from error

    # Going on

    async def _rounds(self, connection: Connection) -> AsyncIterator[Progress]:
        rest: dict[str, int] = {}
        seen_control = self._signature(control.FILE)
        seen_reviews: tuple[int, int] | None = None
        while not self._stop and not self._more:
            began = time.monotonic()
            if (signature := self._signature(control.FILE)) != seen_control:
                seen_control = signature
                self._obey()
                self._deal()  # who may go on must not go on with what an earlier budget allowed
            if (signature := self._signature(REVIEWS)) != seen_reviews and signature is not None:
                with suppress(connection.ray.exceptions.RayActorError):  # it comes back, and is told then
                    await self._pass_reviews()
                    seen_reviews = signature
            if self._claim is not None:
                await asyncio.to_thread(self._claim.renew)
            before = {name: one.spent for name, one in self._standings.items()}
            whole = await self._round()
            self._pace = {n: one.spent - before.get(n, one.spent) for n, one in self._standings.items()}
            tally = self.tally
            self._rates.append((time.monotonic(), tally.pages))
            if whole:
                self._stop_when_spent(tally)
            idle = {name: one.moves for name, one in self._standings.items() if one.idle}
            quiet = [name for name, moves in idle.items() if whole and rest.get(name) == moves]
            rest = idle if whole else {}
            for name in quiet:
                if name in self.manifest.leaving:
                    await self._retire(connection, name)
            if self.actors.keys() <= set(quiet):
                self._stop = self._stop or (DONE if self._again is None else NOTHING_DUE)
            changed = self._deal()
            waiting = [name for name in changed if self._cannot_wait(name)]
            if waiting and not self._stop:
                await self._round(waiting)
            if whole and not self._stop:
                self._share_when_due(tally.pages)
            yield self.progress
            self._woken.clear()
            if not self._stop:
                try:
                    pause = began + self._seconds_between() - time.monotonic()
                    await asyncio.wait_for(self._woken.wait(), max(0.0, pause))
                except TimeoutError:
                    continue

    def _stop_when_spent(self, tally: Tally) -> None:
        """Stop at the end of the budget, once shards that leave have left; nobody is dealt more meanwhile."""
        reason = self._spent(tally)
        if not reason:
            self._spent_since = None
            return
        if self._spent_since is None:
            self._spent_since = time.monotonic()
        if not self.manifest.leaving or time.monotonic() - self._spent_since > REMOVAL:
            self._stop = self._stop or reason

    def _spent(self, tally: Tally) -> str:
        """Why the crawl must stop now, or an empty string."""
        if self._again is not None:
            visits = sum(one.spent for one in self._standings.values())
            full = self._budget.max_pages is not None and visits >= self._budget.max_pages
            return f"budget of {self._budget.max_pages} visits is spent" if full else ""
        if self.config.crawl.keep_fresh:  # it goes on with the pages it has
            return spent(msgspec.structs.replace(self._budget, max_pages=None), tally)
        return spent(self._budget, tally)

    async def _round(self, names: Sequence[str] = ()) -> bool:
        """Ask shards where they stand, and tell them what they may do; whether all answered.

        Args:
            names: Which; by default all.
        """
        look = not names  # who is told something was asked where it stands a moment ago
        answers = await asyncio.gather(*(self._turn(name, look=look) for name in names or self.actors))
        return all(answers)

    async def _turn(self, name: str, stop: str = "", *, look: bool = True) -> bool:
        ray, actor = self._connection.ray, self.actors[name]
        if (back := self._lost.get(name)) is not None:
            if not back.done():
                return False
            del self._lost[name]
            back.result()
        self.calls += 1
        limit = self._limits.get(name, 0)
        try:
            runs, standing = await self._ask(
                actor.turn.remote(limit, self._slots.get(name, 0), paused=self._paused, stop=stop, look=look)
            )
            if not runs:
                if not stop:
                    await self._begin(name)
                return bool(stop)
        except ray.exceptions.ActorDiedError as error:
            raise ClusterError(f"shard {name} was lost and cannot be started again ({error})") from error
        except (ray.exceptions.ActorUnavailableError, ray.exceptions.RayActorError):
            self._lose(name)
            starting = self._come_back(name, lost=True)
            self._lost[name] = asyncio.ensure_future(starting)  # the others go on meanwhile
            return False
        if not standing.open:  # it is still reading its folder
            return bool(stop)
        self._opened.add(name)
        self._standings[name], self._told[name] = standing, limit
        return True

    def _lose(self, name: str) -> None:
        self.restarts += 1
        self._told.pop(name, None)
        say(INFO, "shard lost", shard=name)

    async def _come_back(self, name: str, *, lost: bool = False) -> None:
        """Start a shard's crawl; where its actor is lost, once Ray has started that again."""
        ray, until = self._connection.ray, time.monotonic() + PATIENCE
        while True:
            try:
                await self._begin(name)
                return
            except ray.exceptions.RayActorError as error:
                if not lost:
                    self._lose(name)
                    lost = True
                if time.monotonic() > until:
                    raise ClusterError(
                        f"shard {name} was lost and did not come back within {PATIENCE:g} s; resume the crawl"
                    ) from error
                await asyncio.sleep(0.5)

    def _deal(self) -> list[str]:
        """Give out a portion, by what shards say of the tops of their frontiers; whose limits changed."""
        found, before = self._standings, self._limits
        if not self.actors.keys() <= self._opened & found.keys():
            return []  # one of them may yet hand hosts over, and say what was fetched of them
        moving = {name for one in found.values() for name in one.moving}
        fronts = [
            Front(name, one.best, one.ready, one.spent) for name, one in found.items() if name not in moving
        ]
        pages, slots = self.tally.pages, self.config.crawl.concurrency
        shards = len(self.manifest.shards)
        if self._spent_since is not None:
            grants = dict.fromkeys(found, 0)
        elif len(found) == 1:
            grants = dict.fromkeys(found, EVERYTHING)
        else:
            busy = {name: one.in_flight for name, one in found.items()}
            # One crawl, too, asks for as many pages as it has slots before it knows what comes of them.
            portion = max(slots - sum(busy.values()), portion_of(pages, most=AHEAD * slots * shards))
            self._hurried = portion < slots * shards
            grants = dict.fromkeys(found, 0) | deal(fronts, portion)
            dealt = slots_of({name: busy[name] + grants[name] for name in found}, each=slots)
            for name, one in found.items():
                room = before.get(name, 0) - one.spent - busy[name]
                if _alike(room, grants[name], 2.0) and _alike(self._slots.get(name, 0), dealt[name], 1.25):
                    grants[name] = room  # not worth a message
                else:
                    self._slots[name] = dealt[name]
        most = self._budget.max_pages
        if most is not None and self._again is None:
            most -= sum(one.pages for one, _ in self._retired.values())
        self._limits = limits(found, charges(found, before), grants, budget=most)
        return [name for name, limit in self._limits.items() if limit != before.get(name)]

    def _cannot_wait(self, name: str) -> bool:
        """Whether a shard may have spent what it was told before the next round tells it more.

        A call costs as much as two pages, so what can wait half a second does.
        """
        one, told = self._standings[name], self._told.get(name, 0)
        left = told - one.spent - one.in_flight
        return self._hurried or left <= WELL_OFF * self._pace.get(name, 0)

    def _seconds_between(self) -> float:
        """Until the next round, which costs a call a shard: half of what was dealt should be left by then."""
        if self._hurried:
            return FIRST_ROUNDS
        left = sum(self._limits.get(name, 0) - one.spent for name, one in self._standings.items())
        least, most = ROUNDS
        return min(most, max(least, left / (2.0 * max(self.progress.rate, 1.0))))

    def _obey(self) -> None:
        """Follow a request from outside; what was asked before this run began is not meant for it."""
        asked = control.read(self.out)
        self._budget = with_limits(self._budget, asked.budget)
        self._paused = asked.paused
        if asked.stop:
            self.stop("stopped from the portal")

    def _share_when_due(self, pages: int) -> None:
        """Let shards know what the others have learned, beside the rounds, whenever the crawl has grown."""
        due = exchange_due(pages, self._shared_at, orders=self._orders_share)
        if len(self.actors) + len(self._retired) < 2 or not due:
            return
        if self._sharing is None or self._sharing.done():
            self._shared_at = pages
            weigh = self._orders_share and pages >= self._agree_at
            if weigh:
                self._agree_at = next_agreement(pages)
            self._sharing = asyncio.ensure_future(self._share_learning(dict(self.actors), weigh=weigh))

    async def _share_learning(self, actors: Mapping[str, Any], *, weigh: bool) -> None:
        try:
            said = await asyncio.gather(*(self._ask(actor.learned.remote()) for actor in actors.values()))
            told = dict(zip(actors, said, strict=True))
            told |= {name: learned for name, (_, learned) in self._retired.items()}
            told = {name: one for name, one in told.items() if not one.is_empty}
            self._orders_share = not told or any(one.order is not None for one in told.values())
            answers = {
                name: actors[name].learn.remote(order, models, weigh=weigh)
                for name, (order, models) in all_others(told).items()
                if name in actors
            }
            if not weigh:
                return
            spreads = await asyncio.gather(*(self._ask(answer) for answer in answers.values()))
            for name, others in others_of(dict(zip(answers, spreads, strict=True))).items():
                actors[name].agree.remote(others)
        except self._connection.ray.exceptions.RayError as error:
            # A lost shard is being started again; there is a next time.
            say(INFO, "learning not shared", why=str(error).partition("\n")[0])

    async def _pass_reviews(self) -> None:
        lines = (self.out / REVIEWS).read_bytes()
        await asyncio.gather(*(self._ask(actor.reviews.remote(lines)) for actor in self.actors.values()))

    def _signature(self, name: str) -> tuple[int, int] | None:
        try:
            found = os.stat(self.out / name)  # noqa: PTH116 - as `Steering` does
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    # Ending

    async def _regroup(self, connection: Connection) -> None:
        """Stop the shards, and begin again with more or fewer; each hands over hosts that others win."""
        await self._farewell(connection, "shards are added" if self._more > 0 else "shards are removed")
        for actor in self.actors.values():
            connection.ray.kill(actor)
        for known in (
            *(self.actors, self._standings, self._limits, self._slots, self._told, self._lost, self.ended),
        ):
            known.clear()
        self.manifest, self._more = with_more(self.manifest, self._more), 0
        self._rejudge = False  # it is done
        manifests.save(self.out, self.manifest)
        connection.require_room(len(self.manifest.shards))

    async def _retire(self, connection: Connection, name: str) -> None:
        """End a shard whose hosts are all others' by now; its folder stays, and is read like the others."""
        actor = self.actors[name]
        try:
            learned = await self._ask(actor.learned.remote())
        except connection.ray.exceptions.RayActorError:
            return  # it is started again, and comes to rest again
        await self._end(connection, {name: actor}, "its hosts were handed over")
        if name not in self.ended:
            return
        connection.ray.kill(actor)
        for known in (self.actors, self._standings, self._limits, self._slots, self._told):
            known.pop(name, None)
        await asyncio.to_thread(self._bring_home, name)
        keep_bequest(self._models_of(name), learned)
        failpoint("retire.home")
        self.manifest = with_retired(self.manifest, name)
        manifests.save(self.out, self.manifest)
        # Not those at work: their folders are older than their last word, and do not say who is being moved.
        self._read_retired()
        say(INFO, "shard left", shard=name)

    async def _farewell(self, connection: Connection, reason: str) -> None:
        """Let all shards stop in order."""
        if self._sharing is not None:
            self._sharing.cancel()
        await self._end(connection, self.actors, reason)
        self.missed_examples = tuple(
            dict.fromkeys(missed for ended in self.ended.values() for missed in ended.missed)
        )

    async def _end(self, connection: Connection, actors: Mapping[str, Any], reason: str) -> None:
        until = time.monotonic() + FAREWELL
        left, hurried = dict(actors), False
        while left and time.monotonic() < until:
            if self._stops > 1 and not hurried:
                hurried = True
                for actor in left.values():
                    actor.stop_at_once.remote()
            for name in tuple(left):
                try:
                    await self._turn(name, stop=reason)
                    ended = await self._ask(left[name].ended.remote(0.2))
                except connection.ray.exceptions.RayActorError:
                    continue
                if ended is not None:
                    self.ended[name] = ended
                    self.warnings |= dict.fromkeys(ended.warnings)
                    del left[name]
        for name in left:
            say(WARNING, "shard did not stop in order", shard=name)

    def _bring_home(self, *names: str) -> None:
        """Copy shards from the store into the collection's folder, where readers look for them."""
        if not self.manifest.store:
            return
        for name in names:
            folder = shard_folder(self.out, name)
            fresh = folder.with_name(f"{name}.fresh")
            shutil.rmtree(fresh, ignore_errors=True)
            if Snapshots(self.manifest.store, name).restore(fresh, claim=False):
                old = folder.with_name(f"{name}.old")
                shutil.rmtree(old, ignore_errors=True)
                if folder.exists():
                    folder.rename(old)
                fresh.rename(folder)
                shutil.rmtree(old, ignore_errors=True)


def _absolute(store: str) -> str:
    """A store's address that means the same everywhere: plain paths are made absolute."""
    return store if "://" in store or not store else str(Path(store).resolve())


def _key(out: Path) -> str:
    """A name for a collection that no other has."""
    return str(msgspec.json.decode((out / "collection.json").read_bytes()).get("made", ""))[:32] or "one"


def _joining(more: int, fewer: int) -> int:
    """How many shards join, or leave (negative)."""
    if min(more, fewer) < 0 or (more and fewer):
        raise CollectionError("shards are added or removed, not both at once; give one number above 0")
    return more - fewer


def _alike(one: int, other: int, times: float) -> bool:
    """Whether neither is more than so many times the other."""
    return one <= times * other and other <= times * one


def _cause(error: Any) -> BaseException:
    """What went wrong in an actor."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, HoneyguideError):
        return cause
    return error if isinstance(error, BaseException) else ClusterError(str(error))


def facts(ended: Mapping[str, Ended]) -> dict[str, object]:
    """What the shards spent, for benchmarks."""
    return {name: msgspec.to_builtins(one) for name, one in ended.items()}
