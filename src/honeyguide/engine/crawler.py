"""The crawl loop: pop, visit, arrive, commit, until a stop rule says so."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Sequence

from honeyguide.discovery.base import Answer, Ask, Source
from honeyguide.engine.admission import found_outside
from honeyguide.engine.arrival import Arrival
from honeyguide.engine.budget import Budget, Tally, spent
from honeyguide.engine.checkpoint import Checkpoints
from honeyguide.engine.clock import Clock
from honeyguide.engine.committer import Committer
from honeyguide.engine.control import OBEYED, Obeyed, Steering, with_limits
from honeyguide.engine.options import INJECTED_PRIORITY, SEED_PRIORITY, CrawlOptions
from honeyguide.engine.retraining import Retraining
from honeyguide.engine.set_up import due, suggest_data
from honeyguide.engine.settle import settle
from honeyguide.engine.slots import LATER, Slots, affordable, is_doubtful
from honeyguide.engine.web import Visit, Web
from honeyguide.failpoint import failpoint
from honeyguide.fetch.politeness import IpGate, PolitenessPolicy
from honeyguide.frontier import Frontier, Waiting
from honeyguide.model import Event, Host, Outcome, Page, Topic
from honeyguide.ordering.base import LinkOrder
from honeyguide.relevance.base import PageModel
from honeyguide.web import canonical


class Crawler:
    """Runs a crawl that `config.build` has wired. Use it once."""

    def __init__(
        self,
        topic: Topic,
        *,
        web: Web,
        clock: Clock,
        frontier: Frontier,
        arrival: Arrival,
        order: LinkOrder,
        sources: Sequence[Source],
        committer: Committer,
        checkpoints: Checkpoints,
        budget: Budget,
        tally: Tally,
        policy: PolitenessPolicy,
        options: CrawlOptions,
        steering: Steering | None = None,
    ) -> None:
        self._topic = topic
        self._web = web
        self._clock = clock
        self._frontier = frontier
        self._arrival = arrival
        self._order = order
        self._sources = tuple(sources)
        self._committer = committer
        self._checkpoints = checkpoints
        self.budget = budget
        self.tally = tally
        self._policy = policy
        self._options = options
        self._gate = IpGate(policy)
        slow = 0 if clock.virtual else affordable(options.concurrency)
        self._slots = Slots(options.concurrency, slow_limit=slow)
        self._done: deque[tuple[Waiting, Visit] | tuple[Source, Answer]] = deque()
        self._wake = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._fault: BaseException | None = None
        self._asked_low_at = -1
        self.stopping = ""
        self._at_once = False
        self._steering = steering
        self.paused = False
        self.retraining: Retraining | None = None
        """Takes people's decisions in, a little before each turn (see `engine.control`)."""

    @property
    def in_flight(self) -> int:
        """Requests and questions to sources under way."""
        return len(self._tasks)

    @property
    def waiting(self) -> int:
        """URLs in the frontier."""
        return self._frontier.waiting

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
        self._obey()
        if self.tally.pages == 0 and self._frontier.known == 0:
            self._seed()
            self._ask_all("start", None)
        try:
            while not self.stopping:
                self._obey()
                if self.retraining is not None:
                    self.retraining.step(self._clock.now(), self._wake.set)
                self.tally.seconds = self._worked(started)
                self.stopping = self.stopping or spent(self.budget, self.tally)
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
                self.stopping = self.stopping or "nothing left to fetch"
                self.tally.seconds = self._worked(started)
                self._checkpoints.save(self.tally, last=True)
                self._committer.commit(self._clock.now())
            await self._web.close()
        for event in self._committer.fresh():
            yield event

    def _worked(self, started: float) -> float:
        """Seconds of crawling since `started`; resting does not count."""
        now = self._clock.now()
        return now - started - (self._steering.idle(now) if self._steering is not None else 0.0)

    def _obey(self) -> None:
        """Do what was asked from outside since the last turn, and say so in the state."""
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
        for number, text in enumerate(self._topic.seeds):
            url = canonical(text)
            if url:
                self._inject(url, SEED_PRIORITY - number, "seed")

    def _inject(self, url: str, priority: float, source: str, memo: dict[str, float] | None = None) -> int:
        return self._arrival.inject(found_outside(url, priority, source, memo=memo or {}))

    async def _turn(self) -> bool:
        """Dispatch what can go, wait for something to come back, deal with it. False: nothing is left."""
        self._dispatch()
        now = self._clock.now()
        if not self._tasks and not self._done:
            if self.paused:
                await self._pause(60.0)
                return True
            ready = self._frontier.next_ready(now)
            if ready is None:
                return self._ask_low()
            await self._pause(ready - now)
            return True
        await self._wait(now)
        if self._fault is not None:
            raise self._fault
        taken = 0
        while self._done and taken < self._options.commit_pages:
            taken += 1
            self._take(self._done.popleft())
        if self._committer.due(self._clock.now()):
            self._committer.commit(self._clock.now())
        return True

    def _dispatch(self) -> None:
        now = self._clock.now()
        while (busy := self._busy(now)) < self._options.concurrency and not self.paused:
            if self._full(busy - self._slots.doubtful + len(self._done)):
                return
            waiting = self._frontier.pop(now, blocked=self._blocked, shared=self._address_ready)
            if waiting is None:
                return
            dropped = self._arrival.drop_trap(waiting, now)
            if dropped:
                self._committer.add(dropped)
                continue
            host = self._frontier.host(waiting.host)
            self._gate.took(host.name, host.ip, now)
            self._slots.took(waiting.row, now, doubtful=is_doubtful(host))
            self._start(self._visit(waiting))

    def _busy(self, now: float) -> int:
        """Slots that are taken."""
        return len(self._tasks) - self._slots.slow(now)

    def _full(self, more: int = 0) -> bool:
        """Whether the budget of pages is spent once `more` have come."""
        return self.budget.max_pages is not None and self.tally.pages + more >= self.budget.max_pages

    def _blocked(self, host: Host) -> float:
        return self._clock.now() + LATER if is_doubtful(host) and not self._slots.room_for_doubtful else 0.0

    def _address_ready(self, host: Host) -> float:
        # Where it is full: look again soon, since nobody can say when a request will end.
        return min(self._gate.ready_at(host.ip), self._clock.now() + max(0.02, self._policy.ip_delay))

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A request is over. A fault of ours in it must end the crawl, not be waited for for ever."""
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._fault = self._fault or task.exception()
        self._wake.set()

    async def _visit(self, waiting: Waiting) -> None:
        failpoint("fetch.asked")
        visit = await self._web.visit(waiting)
        failpoint("fetch.answered")
        self._slots.gave_back(waiting.row, visit.seconds, answered=visit.status > 0 and not visit.failed)
        self._done.append((waiting, visit))

    async def _ask(self, source: Source, ask: Ask) -> None:
        self._done.append((source, await source.suggest(ask)))

    async def _wait(self, now: float) -> None:
        """Until an answer is there, or until another host becomes ready and a slot is free."""
        if self._done:
            return
        timer = None
        if not self._clock.virtual:
            free = self._busy(now) < self._options.concurrency
            ready = self._frontier.next_ready(now) if free else self._slots.next_slow(now)
            if ready is not None:
                timer = asyncio.get_running_loop().call_later(max(0.001, ready - now), self._wake.set)
        if self._committer.holds and not self._clock.virtual:
            late = asyncio.get_running_loop().call_later(self._options.commit_seconds, self._wake.set)
            await self._wake.wait()
            late.cancel()
        await self._wake.wait()
        self._wake.clear()
        if timer is not None:
            timer.cancel()

    async def _pause(self, seconds: float) -> None:
        if self._clock.virtual:
            await self._clock.sleep(seconds)
            return
        self._committer.commit(self._clock.now())
        await self._woken(max(0.001, seconds))

    async def _woken(self, seconds: float) -> None:
        """Until something happens, at most so long."""
        timer = asyncio.get_running_loop().call_later(seconds, self._wake.set)
        await self._wake.wait()
        self._wake.clear()
        timer.cancel()

    def _take(self, done: tuple[Waiting, Visit] | tuple[Source, Answer]) -> None:
        first, second = done
        if isinstance(second, Answer):
            self._suggested(first, second)  # type: ignore[arg-type]
            return
        assert isinstance(first, Waiting)
        self._arrived(first, second)

    def _arrived(self, waiting: Waiting, visit: Visit) -> None:
        now = self._clock.now()
        self.tally.requests += visit.requests
        if self._settle_host(waiting, visit, now):
            return
        pages = self.tally.pages
        events = self._arrival.take(waiting, visit, now)
        self._committer.add(events)
        if self.tally.pages > pages:
            self._after_page(visit.page, waiting, events[-1], now)

    def _settle_host(self, waiting: Waiting, visit: Visit, now: float) -> bool:
        """Update the host's record and free it. True: the URL waits on, to be asked again."""
        host = self._frontier.host(waiting.host)
        self._gate.gave_back(host.name)
        retry = settle(host, visit, self._policy, tries=waiting.tries, now=now)
        self._frontier.touch(host)
        again = visit.outcome is Outcome.WAITING or (retry and not host.given_up)
        again = again or (visit.page is not None and self._full())  # a slow one, after the last of the budget
        if visit.sitemaps and self._options.follow_sitemaps:
            for url in visit.sitemaps:
                self._inject(url, INJECTED_PRIORITY, "sitemap")
        if again:
            self._frontier.put_back(waiting, tries=waiting.tries + retry)
            self._committer.keep(visit)
        self._frontier.release(waiting.host)
        if host.given_up:
            self._frontier.drop_host(
                waiting.host, Outcome.HOST_GIVEN_UP, f"{host.failures} failures in a row"
            )
        return again

    def _after_page(self, page: Page | None, waiting: Waiting, event: Event, now: float) -> None:
        every = self._order.reorder_every
        if every and self.tally.pages % every == 0:
            self._committer.add(self._arrival.reorder(now))
        if self._checkpoints.due(self.tally.pages):
            self._checkpoints.save(self.tally)
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
        if self._asked_low_at == self.tally.pages:
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
            self._inject(url, priority, source.name, suggestion.memo)
            new += self._frontier.known - known
        now = self._clock.now()
        if answer.suggestions or answer.note or answer.requests:
            self._committer.event("suggest", "", suggest_data(source.name, answer, new=new), now)
        if answer.failed:
            self._committer.event("warning", "", {"source": source.name, "note": answer.note}, now)
        if new:
            self._asked_low_at = -1

    async def _drain(self) -> None:
        """Let requests under way come home, unless told to stop at once."""
        deadline = asyncio.get_running_loop().time() + self._options.drain_seconds
        while (self._tasks or self._done) and not self._at_once and not self._full():
            while self._done:
                self._take(self._done.popleft())
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0 or not self._tasks:
                break
            await self._woken(left)
        while self._done:
            self._take(self._done.popleft())

    async def _cancel(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
