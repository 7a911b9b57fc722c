"""The crawl loop: pop, visit, arrive, commit, until a stop rule says so."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from math import inf
from typing import TypeAlias

import msgspec

from honeyguide.discovery.base import Answer, Ask, Source, due, suggest_data
from honeyguide.engine.admission import SEED, found_outside
from honeyguide.engine.arrival import Arrival
from honeyguide.engine.budget import Budget, Tally, spent
from honeyguide.engine.checkpoint import Checkpoints
from honeyguide.engine.clock import Clock
from honeyguide.engine.committer import Committer
from honeyguide.engine.control import OBEYED, Obeyed, Steering, with_limits
from honeyguide.engine.neighbours import Neighbours, Standing
from honeyguide.engine.rejudging import Rejudging
from honeyguide.engine.retraining import Retraining
from honeyguide.engine.revisits import NOTHING_DUE, Revisits
from honeyguide.engine.traffic import Traffic
from honeyguide.engine.visit import Visit, Visitor
from honeyguide.failpoint import failpoint
from honeyguide.fetch.base import AddressBook
from honeyguide.frontier import Frontier, Waiting
from honeyguide.log import DEBUG, INFO, say
from honeyguide.model import Event, Host, Outcome, Page, Topic
from honeyguide.ordering.base import LinkOrder
from honeyguide.relevance.base import PageModel
from honeyguide.web import canonical, parts

Steps: TypeAlias = Iterator[Future[None] | None]
"""Work with pauses, in which connections are served; a pause may be for something that a thread does."""

AT_A_STRETCH = 0.01
"""Seconds that pages are taken in before connections are served again."""
SEED_PRIORITY = 1e6
"""Seeds go before everything else, in the order they were given."""
LONG_WAIT = 5.0
"""Seconds; that a host is to be left alone for longer is committed at once, so that no crash forgets it."""
REST = 0.25
"""Seconds after which a shard that has nothing to do, or may do nothing, looks around."""
SOON = 1.0
"""Seconds that a shard looks ahead when it says what it could ask for: two looks of those who deal pages."""
LOOKED_THROUGH = 20_000
"""Known URLs up to which a shard that can ask hosts often looks through all of them for the best."""
BEST = 64
"""URLs that a shard names as its best, at least ..."""
BEST_A_SLOT = 4
"""... and for each request that it can have under way."""
INJECTED_PRIORITY = 1e3
"""Suggested URLs go before links, unless their source says otherwise."""


class CrawlOptions(msgspec.Struct, frozen=True):
    """How the loop runs; none of it changes what a crawl of a recorded web finds."""

    concurrency: int = 32
    drain_seconds: float = 5.0
    """How long a stopping crawl waits for answers that are under way."""
    commit_pages: int = 64
    """Pages in one transaction, at most."""
    commit_seconds: float = 0.25
    """How long an answer may wait for its transaction; a crash costs no more than that."""
    checkpoint_pages: int = 1000
    follow_sitemaps: bool = False


class Crawler:
    """Runs a crawl that `job.assemble` has wired. Use it once.

    Args:
        topic: Names the seeds.
        visitor: Visits URLs.
        clock: The crawl's time.
        frontier: What waits.
        traffic: Who may be asked now.
        arrival: Takes visits in.
        order: The link order.
        sources: Discovery sources, asked as the crawl goes.
        committer: Makes things durable.
        checkpoints: Saves what was learned.
        budget: When to stop; may be changed from outside while the crawl runs.
        tally: What was spent so far.
        options: How the loop runs.
        steering: Takes requests from other processes, where there is a folder.
        retraining: Takes people's decisions in, a little before each turn.
        rejudging: Judges earlier pages again when the page model has moved its line.
        revisits: Visits known pages again, beside new ones.
        neighbours: The other shards, where the crawl is one of several. Such a crawl does not end by itself.
    """

    def __init__(
        self,
        topic: Topic,
        *,
        visitor: Visitor,
        clock: Clock,
        frontier: Frontier,
        traffic: Traffic,
        addresses: AddressBook | None = None,
        arrival: Arrival,
        order: LinkOrder,
        sources: Sequence[Source],
        committer: Committer,
        checkpoints: Checkpoints,
        budget: Budget,
        tally: Tally,
        options: CrawlOptions,
        steering: Steering | None = None,
        retraining: Retraining | None = None,
        rejudging: Rejudging | None = None,
        revisits: Revisits | None = None,
        neighbours: Neighbours | None = None,
    ) -> None:
        self._topic = topic
        self._neighbours = neighbours
        self._last_url = ""
        self._visitor = visitor
        self._clock = clock
        self._frontier = frontier
        self._traffic = traffic
        self._addresses = addresses
        self._arrival = arrival
        self._order = order
        self._sources = tuple(sources)
        self._committer = committer
        self._checkpoints = checkpoints
        self.budget = budget
        self.tally = tally
        self._options = options
        self._done: deque[Callable[[], None]] = deque()
        """What is to be done with what has come back, in the order it came."""
        self._slow: Steps | None = None
        """What the page taken in last has still to bring about."""
        self._wake = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._alarm: asyncio.TimerHandle | None = None
        """Wakes the loop, at the latest. It is kept over many turns: once too often does no harm."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._fault: BaseException | None = None
        self.trouble = ""
        """The last request that is to be tried again: whose, and what came of it."""
        self.rests_until = 0.0
        """When something may be asked for again, where nothing may for a while; else 0."""
        self._asked_low_at = -1
        self.stopping = ""
        self._at_once = False
        self._steering = steering
        self.paused = False
        self.retraining = retraining
        self._rejudging = rejudging
        self._revisits = revisits
        self._finds = True
        """Whether the budget leaves room for new pages."""

    @property
    def in_flight(self) -> int:
        """Requests and questions to sources under way."""
        return len(self._tasks)

    @property
    def waiting(self) -> int:
        """URLs in the frontier."""
        return self._frontier.waiting

    @property
    def frontier(self) -> Frontier:
        """What waits, for those who look at a crawl from outside."""
        return self._frontier

    @property
    def model(self) -> PageModel:
        """The page model, for those who look at a crawl from outside."""
        return self._arrival.model

    @property
    def order(self) -> LinkOrder:
        """The link order."""
        return self._order

    @property
    def ordering_seconds(self) -> float:
        """CPU time spent in the link order so far."""
        return self._arrival.ordering_seconds

    def stop(self, reason: str = "asked to stop") -> None:
        """Stop cleanly: no new requests, wait a little for those under way. Twice: at once."""
        self._at_once = bool(self.stopping)
        self.stopping = self.stopping or reason
        self._wake.set()

    async def run(self) -> AsyncIterator[Event]:
        """Crawl, giving each event after it is committed."""
        started = self._clock.now() - self.tally.seconds
        whole = True
        self._loop = asyncio.get_running_loop()
        self._obey()
        if self._neighbours is not None:
            self._neighbours.mailbox.wake = partial(_wake_from_afar, asyncio.get_running_loop(), self._wake)
        if self.tally.pages == 0 and self._frontier.known == 0:
            self._seed()
            self._ask_all("start", None)
        try:
            while not self.stopping:
                self._obey()
                self._exchange()
                if self.retraining is not None:
                    self.retraining.step(self._clock.now(), self._wake.set)
                if self._rejudging is not None and self._rejudging.busy:
                    self._rejudging.step(self._clock.now())
                    self._wake.set()
                self.tally.seconds = self._worked(started)
                self.stopping = self.stopping or self._spent()
                if self.stopping or not await self._turn():
                    break
                for event in self._committer.fresh():
                    yield event
            await self._drain()
        except Exception:
            # A commit that failed half way (a full disk) may have lost part of its transaction: nothing
            # more is written, and the crawl resumes from the last whole commit, as after a crash.
            whole = False
            raise
        finally:
            if self._steering is not None:
                self._steering.end()
            await self._cancel()
            if whole:
                once = self._revisits is not None and self._revisits.once
                self.stopping = self.stopping or (NOTHING_DUE if once else "nothing left to fetch")
                self.tally.seconds = self._worked(started)
                self._checkpoints.save(self.tally, last=True)
                self._committer.commit(self._clock.now())
            await self._visitor.close()
        for event in self._committer.fresh():
            yield event

    def _spent(self) -> str:
        """Why the crawl must stop now, or an empty string.

        A crawl that comes back does not stop at its last new page: it goes on with those it has.
        """
        reason = spent(self.budget, self.tally)
        if self._revisits is None:
            return reason
        self._finds = not reason and self._revisits.may_find
        hard = Budget(max_pages=None, max_bytes=self.budget.max_bytes, max_seconds=self.budget.max_seconds)
        # What is under way is waited for, so that a budget of visits is not spent on half of them.
        return spent(hard, self.tally) or ("" if self._tasks or self._done else self._revisits.spent())

    def _exchange(self) -> None:
        """Take in what other shards sent, and how many requests this one may have under way."""
        neighbours = self._neighbours
        if neighbours is None:
            return
        self._traffic.slots.count = neighbours.mailbox.slots or self._options.concurrency
        batches = neighbours.mailbox.take()
        for batch in batches:
            self._arrival.enter(batch)
        if batches:
            self._committer.entered()
            self._asked_low_at = -1

    def _stand(self) -> None:
        """Say where this shard stands, once it has asked for what it may; its best URLs when somebody asks.

        Who deals pages to shards must know what is under way, or deals them what they are spending already.
        """
        neighbours = self._neighbours
        if neighbours is None:
            return
        idle = self._is_idle(neighbours)
        before = neighbours.mailbox.standing
        best, ready, known = before.best, before.ready, before.known
        if idle or neighbours.mailbox.asked:
            neighbours.mailbox.asked = False
            best, ready = self.best_waiting()
            known = self._frontier.known - self._frontier.counts.get(Outcome.ELSEWHERE, 0)
        # Only what may become a page: counting other work would let a page too many through.
        tally, busy, used = self.tally, self._frontier.in_flight, self.tally.pages
        if self._comes_back_once is not None:
            busy = len(self._tasks) + len(self._done)
            used = max(0, self._comes_back_once.visits - busy)
        neighbours.mailbox.stand(
            Standing(
                pages=tally.pages,
                relevant=tally.relevant,
                bytes=tally.bytes,
                requests=tally.requests,
                seconds=tally.seconds,
                since_relevant=tally.since_relevant,
                waiting=self._frontier.waiting,
                in_flight=busy,
                known=known,
                spent=used,
                limit=max(neighbours.mailbox.limit or 0, used + busy),
                idle=idle,
                moves=neighbours.moves + tally.pages + tally.requests,
                best=best,
                ready=ready,
                last=self._last_url,
                paused=self.paused,
                open=True,
                moving=neighbours.moving_to,
            )
        )

    def _is_idle(self, neighbours: Neighbours) -> bool:
        """Nothing waits, nothing is under way, nothing is to be said to others or committed."""
        if self._tasks or self._done or self._committer.holds:
            return False
        if self._revisits is None:
            if self._frontier.waiting:
                return False
        elif not self._revisits.once or self._next_ready(self._clock.now()) is not None:
            return False
        return not self._committer.hurried and not neighbours.leaving and neighbours.mailbox.at_rest

    def _may_ask(self) -> bool:
        """Whether a shard's portion of the budget has room for another page; what is under way counts."""
        if self._neighbours is None:
            return True
        limit = self._neighbours.mailbox.limit
        if self._comes_back_once is not None:
            return limit is not None and self._comes_back_once.visits < limit
        return limit is not None and self.tally.pages + len(self._tasks) + len(self._done) < limit

    @property
    def _comes_back_once(self) -> Revisits | None:
        """What counts the visits of a recrawl; None in a crawl."""
        return self._revisits if self._revisits is not None and self._revisits.once else None

    async def _rest(self) -> None:
        """Commit what there is, and wait for others."""
        now = self._clock.now()
        if self._committer.due(now):
            self._committer.commit(now)
        await self._woken(REST)

    def _worked(self, started: float) -> float:
        """Seconds of crawling since `started`; resting does not count."""
        now = self._clock.now()
        return now - started - (self._steering.idle(now) if self._steering is not None else 0.0)

    def _obey(self) -> None:
        """Follow requests from outside since the last turn, and note so in the state."""
        if self._steering is None:
            return
        if not self._steering.watching:
            self._steering.start(self._wake.set)
        elif (asked := self._steering.fresh()) is None:
            return
        else:
            control, reviewed = asked
            self.budget = with_limits(self.budget, control.budget)
            if control.paused != self.paused:
                self.paused = control.paused
                self._steering.pause(self._clock.now(), paused=self.paused)
            if control.stop:
                self.stop("stopped from the portal")
            if reviewed and self.retraining is not None:
                self.retraining.ask()
        self._committer.setting(OBEYED, Obeyed(self._steering.session, self.paused, self.budget))

    def _seed(self) -> None:
        urls = ((number, canonical(text)) for number, text in enumerate(self._topic.seeds))
        self._arrival.inject_all(
            [found_outside(url, SEED_PRIORITY - number, SEED, memo={}) for number, url in urls if url]
        )

    def _inject(self, url: str, priority: float, source: str, memo: dict[str, float] | None = None) -> int:
        return self._arrival.inject(found_outside(url, priority, source, memo=memo or {}))

    async def _turn(self) -> bool:
        """Dispatch what can go, wait for something to come back, deal with it. False: nothing is left."""
        if not (self._done and self._clock.virtual):  # whose answer came first must not be a matter of time
            self._dispatch()
        self._stand()
        now = self._clock.now()
        if not self._tasks and not self._done:
            if self.paused:
                await self._pause(60.0)
                return True
            ready = self._next_ready(now)
            if self._neighbours is not None and (ready is None or not self._may_ask()):
                if ready is not None or not self._ask_low():
                    await self._rest()
                return True
            if ready is None:
                return self._ask_low()
            # Pages may be due in days; the limit on time is looked at in between.
            longest = inf if self._clock.virtual or self._revisits is None else LONG_WAIT
            self._rests(ready, now)
            await self._pause(min(ready - now, longest, self._time_left()))
            self.rests_until = 0.0
            return True
        await self._wait(now)
        if self._fault is not None:
            raise self._fault
        await self._take_in()
        if self._committer.due(self._clock.now()):
            self._checkpoints.settle()
            self._frontier.flush()
            await _others_turn()  # that was half of it
            self._committer.commit(self._clock.now(), going_on=True)
            await _others_turn()
        return True

    def _time_left(self) -> float:
        """Seconds until the limit on time is looked at again; a virtual clock may jump over it."""
        limit = self.budget.max_seconds
        return inf if limit is None or self._clock.virtual else max(0.0, limit - self.tally.seconds)

    def _rests(self, ready: float, now: float) -> None:
        """Tell people that nothing may be asked for until `ready`, and why, unless that is soon."""
        if ready - now < LONG_WAIT or self._clock.virtual:
            return
        self.rests_until = ready
        if self._revisits is None:
            say(INFO, "resting", seconds=round(ready - now), reason=self.trouble)

    # Driven from outside, on a virtual clock: for studies of several crawls in step

    async def fetch_one(self) -> bool:
        """Ask for the best URL and take in what came of it; False when none can be asked for now."""
        if self.tally.pages == 0 and self._frontier.known == 0:
            self._seed()
        now = self._clock.now()
        while (waiting := self._next(now, 0)) is not None:
            dropped = self._arrival.drop_trap(waiting, now)
            if dropped:
                self._committer.add(dropped)
                self._no_page()
                continue
            self._traffic.began(waiting, self._frontier.host(waiting.host), now)
            await self._visit(waiting)
            self._done.popleft()()
            await self._finish_slow()
            while self._rejudging is not None and self._rejudging.busy:
                self._rejudging.step(self._clock.now())
            return True
        return False

    def settle(self) -> list[Event]:
        """Commit, so that what leaves for other shards may go, and take in what came; the events since."""
        now = self._clock.now()
        self._committer.commit(now)
        self._exchange()
        if self._committer.hurried:
            self._committer.commit(now)
        return self._committer.fresh()

    def revise(self) -> None:
        """Let the order say which priorities are others now, after it was taught from outside.

        A shard that is dealt no pages would otherwise show its URLs at what they were worth long ago.
        """
        self._arrival.revise()

    def line_moved(self) -> None:
        """Take the page model's word on the pages it remembers, after it was fitted again."""
        if self._rejudging is None:
            return
        for _ in self._rejudging.line_moved(self._clock.now()):
            """All at once: others go on by what is known now."""

    def best_waiting(self) -> tuple[list[float], int]:
        """Priorities of the best URLs that could be asked for soon, and how many such URLs there are."""
        now, most = self._clock.now(), max(BEST, BEST_A_SLOT * self._options.concurrency)
        if self._comes_back_once is not None:
            return self._comes_back_once.best(now, most)
        of_host = inf if self._clock.virtual else self._traffic.pages_a_host(SOON)
        if self._frontier.known <= LOOKED_THROUGH:
            return self._frontier.best(now + SOON, most, of_host=of_host)
        best, hosts = self._frontier.best(now + SOON, most, of_host=min(1.0, of_host))
        waiting = self._frontier.waiting
        return best, int(min(waiting, hosts * max(1.0, min(of_host, waiting))))

    @property
    def last_url(self) -> str:
        """The page that was fetched last."""
        return self._last_url

    async def _take_in(self) -> None:
        """Deal with what has come, at most one transaction of it; others get their turn in between."""
        since = time.perf_counter()
        for _ in range(min(len(self._done), self._options.commit_pages)):
            self._done.popleft()()
            if self._slow is not None:
                await self._finish_slow()
            if time.perf_counter() - since > AT_A_STRETCH:
                # A crawl in virtual time has nothing under way: how often it pauses changes nothing.
                await _others_turn()
                since = time.perf_counter()

    async def _finish_slow(self) -> None:
        """Do the rest of what a page brings about before anything else, with time for connections between."""
        steps, self._slow = self._slow, None
        for written in steps or ():
            if written is None:
                await _others_turn()
            else:
                await asyncio.wait([asyncio.wrap_future(written)])

    def _dispatch(self) -> None:
        now = self._clock.now()
        while (busy := self._busy(now)) < self._traffic.slots.count and not self.paused:
            waiting = self._next(now, busy)
            if waiting is None:
                return
            dropped = self._arrival.drop_trap(waiting, now) if waiting.again is None else []
            if dropped:
                self._committer.add(dropped)
                self._no_page()
                continue
            host = self._frontier.host(waiting.host)
            if self._addresses is not None:
                address = self._addresses.address(parts(waiting.url).host)
                if not address:
                    self._traffic.looks_up(waiting, host, now)
                    self._start(self._look_up(self._addresses, waiting, host))
                    continue
                if address != host.ip:
                    self._has_address(waiting, address)  # it may have to wait for others of this address
                    continue
            say(DEBUG, "chosen", url=waiting.url, priority=waiting.priority, waiting=self._frontier.waiting)
            self._traffic.began(waiting, host, now)
            self._start(self._visit(waiting))

    def _next(self, now: float, busy: int) -> Waiting | None:
        """The next URL to ask for: a new one, or a page that is due for another visit."""
        back = self._revisits
        if back is None:
            return self._next_new(now, busy)
        if back.once and not self._may_ask():
            return None
        asked = (self._host_ready, self._address_ready)
        if back.first and (known := back.pop(now, asked)):
            return known
        waiting = self._next_new(now, busy) if self._finds and back.may_find else None
        if waiting is not None:
            back.found()
        return waiting or (None if back.first else back.pop(now, asked))

    def _next_new(self, now: float, busy: int) -> Waiting | None:
        if self._full(busy - self._traffic.slots.doubtful + len(self._done)) or not self._may_ask():
            return None
        return self._frontier.pop(now, blocked=self._host_ready, shared=self._address_ready)

    def _next_ready(self, now: float) -> float | None:
        """When something may be asked for again, not before `now`; None when nothing waits."""
        if self._revisits is None:
            return self._frontier.next_ready(now)
        finds = self._finds and self._revisits.may_find and not self._full()
        times = (self._frontier.next_ready(now) if finds else None, self._revisits.next_due(now))
        return min((time for time in times if time is not None), default=None)

    def _put_back(self, waiting: Waiting, *, tries: int | None = None) -> None:
        """A URL under way waits again."""
        if waiting.again is None:
            self._frontier.put_back(waiting, tries=tries)
        if self._revisits is not None:
            self._revisits.put_back(waiting, self._clock.now(), tries=tries or 0)

    async def _look_up(self, addresses: AddressBook, waiting: Waiting, host: Host) -> None:
        """Find the address of a host before it is asked, since others may live there, too."""
        address = await addresses.look_up(parts(waiting.url).host)
        self._traffic.looked_up(waiting)
        if address:
            self._done.append(partial(self._has_address, waiting, address))
            return
        # The request will say what is wrong.
        self._traffic.began(waiting, host, self._clock.now())
        await self._visit(waiting)

    def _has_address(self, waiting: Waiting, address: str) -> None:
        """The URL waits again, now with the others of its address."""
        host = self._frontier.host(waiting.host)
        host.ip = address
        self._frontier.touch(host)
        self._put_back(waiting)
        self._frontier.release(waiting.host)

    def _busy(self, now: float) -> int:
        """Slots that are taken."""
        return len(self._tasks) - self._traffic.slots.slow(now)

    def _full(self, more: int = 0) -> bool:
        """Whether the budget of pages is spent once `more` have come."""
        return self.budget.max_pages is not None and self.tally.pages + more >= self.budget.max_pages

    def _host_ready(self, host: Host) -> float:
        return self._traffic.host_ready(host, self._clock.now())

    def _address_ready(self, host: Host) -> float:
        return self._traffic.address_ready(host, self._clock.now())

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = (self._loop or asyncio.get_running_loop()).create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A request is over. A bug of ours in it must end the crawl, or it would wait forever."""
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._fault = self._fault or task.exception()
        self._wake.set()

    async def _visit(self, waiting: Waiting) -> None:
        failpoint("fetch.asked")
        try:
            visit = await self._visitor.visit(waiting)
        except asyncio.CancelledError:
            # Asked, and not waited for. Who takes the crawl up again at once must know that.
            host = self._frontier.host(waiting.host)
            self._traffic.abandoned(host, self._clock.now())
            self._frontier.touch(host)
            raise
        failpoint("fetch.answered")
        self._traffic.ended(waiting, visit)
        self._done.append(partial(self._arrived, waiting, visit))

    async def _ask(self, source: Source, ask: Ask) -> None:
        self._done.append(partial(self._suggested, source, await source.suggest(ask)))

    async def _wait(self, now: float) -> None:
        """Until an answer is there, another host becomes ready and a slot is free, or a commit is due."""
        if self._done:
            return
        if self._clock.virtual:
            await self._woken()
            return
        free = self._busy(now) < self._traffic.slots.count and self._may_ask()
        ready = self._next_ready(now) if free else self._traffic.slots.next_slow(now)
        waits = [] if ready is None else [max(0.001, ready - now)]
        if (left := self._time_left()) < inf:
            waits.append(max(0.001, left))
        if self._committer.holds or self._neighbours is not None:
            waits.append(self._options.commit_seconds)
        await self._woken(min(waits, default=None))

    async def _pause(self, seconds: float) -> None:
        if self._clock.virtual:
            await self._clock.sleep(seconds)
            return
        self._committer.commit(self._clock.now())
        await self._woken(max(0.001, seconds))

    async def _woken(self, seconds: float | None = None) -> None:
        """Until something happens, at most this long."""
        if seconds is not None:
            loop = self._loop or asyncio.get_running_loop()
            due = loop.time() + seconds
            if self._alarm is not None and self._alarm.when() > due:
                self._alarm.cancel()
                self._alarm = None
            if self._alarm is None:
                self._alarm = loop.call_at(due, self._ring)
        if self._wake.is_set():  # waiting for what has happened already would let nobody else run
            await asyncio.sleep(0)
        await self._wake.wait()
        self._wake.clear()

    def _ring(self) -> None:
        self._alarm = None
        self._wake.set()

    def _arrived(self, waiting: Waiting, visit: Visit) -> None:
        now = self._clock.now()
        self.tally.requests += visit.requests
        if self._host_answered(waiting, visit, now):
            return
        self.trouble = ""
        if waiting.again is not None:
            assert self._revisits is not None
            self._committer.add(self._revisits.take(waiting, visit, now))
            self._slow = self._after_listing()
            return
        pages = self.tally.pages
        events = self._arrival.take(waiting, visit, now)
        self._committer.add(events)
        if self.tally.pages > pages:
            self._last_url = waiting.url
            self._after_page(visit.page, events[-1], now)
        else:
            self._no_page()
            self._slow = self._after_listing()

    def _after_listing(self) -> Steps | None:
        """What is left to do of a sitemap."""
        rest, self._arrival.rest = self._arrival.rest, None
        return None if rest is None else _after_a_pause(rest)

    def _no_page(self) -> None:
        if self._revisits is not None:
            self._revisits.missed()

    def _host_answered(self, waiting: Waiting, visit: Visit, now: float) -> bool:
        """Update the host's record and free it. True: the URL keeps waiting, to be requested again."""
        host = self._frontier.host(waiting.host)
        retry = self._traffic.update(host, waiting, visit, now)
        self._frontier.touch(host)
        again = visit.outcome is Outcome.WAITING or (retry and not host.given_up)
        new = waiting.again is None
        again = again or (
            new and visit.page is not None and self._full()
        )  # slow, after the last of the budget
        if visit.sitemaps and self._options.follow_sitemaps:
            for url in visit.sitemaps:
                self._inject(url, INJECTED_PRIORITY, "sitemap")
        if again:
            if visit.failed:
                self.trouble = f"{waiting.host}: {visit.detail or visit.outcome.label}"
            self._put_back(waiting, tries=waiting.tries + retry)
            self._committer.keep(visit)
        if host.ready_at - now > LONG_WAIT and not self._clock.virtual:
            self._committer.hurry()
        self._frontier.release(waiting.host)
        if host.given_up:
            self._frontier.drop_host(
                waiting.host, Outcome.HOST_GIVEN_UP, f"{host.failures} failures in a row"
            )
        return again

    def _after_page(self, page: Page | None, event: Event, now: float) -> None:
        pages, every = self.tally.pages, self._order.reorder_every
        moved = self._rejudging is not None and self._arrival.line_moved
        seldom = bool(every and pages % every == 0) or pages % self._options.checkpoint_pages == 0
        if moved or seldom or self._arrival.rest is not None:
            self._slow = self._after_some_pages(page, event, now)
        else:
            self._tell_sources(page, event)

    def _after_some_pages(self, page: Page | None, event: Event, now: float) -> Steps:
        """What takes long, and comes seldom."""
        pages, every = self.tally.pages, self._order.reorder_every
        rest, self._arrival.rest = self._arrival.rest, None
        if rest is not None:
            yield from _after_a_pause(rest)
        if self._rejudging is not None and self._arrival.line_moved:
            yield from self._rejudging.line_moved(now)
        if every and pages % every == 0:
            self._committer.add(self._arrival.reorder(now))
        if pages % self._options.checkpoint_pages == 0:
            yield from self._checkpoints.begin(self.tally)
            if self._clock.virtual:  # or the disk would say which pages are learned again after a crash
                yield self._checkpoints.under_way
                self._checkpoints.settle(wait=True)
        self._tell_sources(page, event)

    def _tell_sources(self, page: Page | None, event: Event) -> None:
        if spent(self.budget, self.tally):
            return  # nothing that a source could name now would be fetched
        about = page if event.data.get("on_topic") else None
        for source in self._sources:
            for occasion in due(source, about, pages=self.tally.pages, waiting=self._frontier.waiting):
                self._question(source, occasion, about if occasion == "page" else None)

    def _ask_all(self, occasion: str, page: Page | None) -> int:
        asked = [source for source in self._sources if occasion in source.occasions]
        for source in asked:
            self._question(source, occasion, page)
        return len(asked)

    def _question(self, source: Source, occasion: str, page: Page | None) -> None:
        ask = Ask(occasion, self._topic, page, self.tally.pages, self._frontier.waiting)
        self._start(self._ask(source, ask))

    def _ask_low(self) -> bool:
        """The frontier is empty: ask the sources once per page count, else the crawl is over."""
        if self._asked_low_at == self.tally.pages or (self._revisits is not None and self._revisits.once):
            return False
        self._asked_low_at = self.tally.pages
        return self._ask_all("low", None) > 0

    def _suggested(self, source: Source, answer: Answer) -> None:
        self.tally.requests += answer.requests
        new = 0
        for suggestion in answer.suggestions:
            url = canonical(suggestion.url)
            if url is None:
                continue
            known = self._frontier.known
            priority = INJECTED_PRIORITY if suggestion.priority is None else suggestion.priority
            found = found_outside(url, priority, source.name, memo=suggestion.memo)
            self._arrival.inject(found, suggestion.links_to)
            new += self._frontier.known - known
        self._arrival.revise()  # URLs known before may be worth more now
        now = self._clock.now()
        if answer.suggestions or answer.note or answer.requests:
            self._committer.event("suggest", "", suggest_data(source.name, answer, new=new), now)
        if answer.failed:
            self._committer.event("warning", "", {"source": source.name, "note": answer.note}, now)
        if new:
            self._asked_low_at = -1

    async def _drain(self) -> None:
        """Let requests under way finish, unless told to stop at once."""
        deadline = asyncio.get_running_loop().time() + self._options.drain_seconds
        while (self._tasks or self._done) and not self._at_once and (self._revisits or not self._full()):
            await self._take_in_all()
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0 or not self._tasks:
                break
            await self._woken(left)
        await self._take_in_all()

    async def _take_in_all(self) -> None:
        while self._done:
            self._done.popleft()()
            await self._finish_slow()

    async def _cancel(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _after_a_pause(steps: Iterator[None]) -> Steps:
    yield None
    yield from steps


async def _others_turn() -> None:
    """Let all others go on that can.

    In one round of the loop it is noted that a time has come or an answer is there, in the next those are
    woken that wait for it, and in the third they run.
    """
    for _ in range(3):
        await asyncio.sleep(0)


def _wake_from_afar(loop: asyncio.AbstractEventLoop, wake: asyncio.Event) -> None:
    """Wake the crawl from another thread; one that has ended needs no waking."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(wake.set)
