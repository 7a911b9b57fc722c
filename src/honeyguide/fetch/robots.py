"""robots.txt of an origin: fetched, kept for a day, asked often (RFC 9309).

What a status means: 2xx gives rules; 4xx (but not 429) means that there are none; 429, 5xx and silence mean
"wait": nothing may be fetched until robots.txt can be read. A host that cannot be read for a long time
(`patience`) stays closed.

References:
    RFC 9309, Robots Exclusion Protocol, 2022.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import msgspec

from honeyguide.fetch.base import Failure, Fetcher, Request, Response
from honeyguide.fetch.politeness import parse_retry_after
from honeyguide.fetch.turns import Crowded, Turns
from honeyguide.model import Outcome
from honeyguide.web.robots import KEPT_BYTES, Robots
from honeyguide.web.url import canonical

State: TypeAlias = Literal["allow-all", "rules", "wait"]
_LONG = 4096
_LONG_RULES = 32 * 1024
"""Bytes of packed rules that take half a millisecond to read again."""
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?(\d{1,9})", re.IGNORECASE)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


_CLOSED = Robots.deny_all()
_SHARED = 16 * 1024
_MOST_SHARED = 256


def _cut_short(answer: Response) -> bool:
    """Whether the rules may be missing: a rule that was lost would be broken."""
    good = 200 <= answer.status < 300
    return answer.truncated in ("time", "encoding") or (good and answer.truncated == "disconnect")


Reader: TypeAlias = Callable[[str, bytes, str], Awaitable[tuple[bytes, bytes] | None]]
"""Address, file and product token to packed rules and the lines that concern us; None: it cannot be read."""


async def _read_here(_: str, body: bytes, token: str) -> tuple[bytes, bytes] | None:
    return Robots.parse(body, token).pack(token), Robots.trimmed(body, token)


class RobotsOptions(msgspec.Struct, frozen=True):
    """Limits of the cache."""

    max_redirects: int = 5
    ttl: float = 24 * 3600.0
    """Longest time an answer is used; the server's max-age may shorten it."""
    min_ttl: float = 600.0
    """Shortest time, whatever max-age says."""
    retry_first: float = 60.0
    """Wait after the first failure; doubles with each further one."""
    retry_limit: float = 6 * 3600.0
    patience: float = 24 * 3600.0
    """Unreachable for so long: the origin counts as closed, and is tried again once a `ttl`."""
    size: int = 100_000
    """Origins kept in memory; the least recently used goes first."""
    max_bytes: int = 128 * 1024 * 1024
    """What the packed rules of the kept origins may take together."""
    awake: int = 1024
    """Origins whose rules are kept ready to be asked, too; that takes some ten times as much memory."""
    awake_bytes: int = 2 * 1024 * 1024
    """What the packed rules of those origins may take together."""


@dataclass(frozen=True, slots=True)
class RobotsAnswer:
    """What robots.txt of one origin says for this crawler."""

    origin: str
    state: State
    robots: Robots
    agent_token: str
    fetched_at: float = 0.0
    expires_at: float = 0.0
    """When to ask again; the same as `retry_at` while waiting."""
    outcome: Outcome = Outcome.FETCHED
    """What became of the request: `FETCHED`, `CLIENT_ERROR`, `SERVER_ERROR`, or the failure's outcome."""
    status: int = 0
    failures: int = 0
    failing_since: float = 0.0
    size: int = 0
    """Bytes of the packed rules."""
    requests: int = 0
    """Requests made for this answer; 0 when it came from the cache."""
    exchanges: tuple[Response, ...] = ()
    """Answers to archive, redirects included; empty when it came from the cache."""
    body: bytes = b""
    """The file, of a long one only what concerns us; empty when the answer came from the cache."""

    def allowed(self, url: str) -> bool:
        """Whether the URL may be fetched now."""
        if self.state == "wait":
            return False
        return self.state == "allow-all" or self.robots.allowed(self.agent_token, url)

    def rule(self, url: str) -> str:
        """The line that decides, for `honeyguide why`; empty when none does."""
        if self.state == "wait":
            return f"robots.txt cannot be read ({self.outcome.name.lower()})"
        return self.robots.rule(self.agent_token, url)

    @property
    def crawl_delay(self) -> float | None:
        """Seconds the site asks for between requests."""
        return self.robots.crawl_delay(self.agent_token)

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """Sitemaps the file names."""
        return self.robots.sitemaps

    @property
    def retry_at(self) -> float:
        """While waiting: when to load again. Otherwise 0."""
        return self.expires_at if self.state == "wait" else 0.0


class _Kept(msgspec.Struct, frozen=True, gc=False):
    """What is kept of an answer that nobody asks: one object and its bytes, which no collection visits.

    With 100,000 origins, a collection would otherwise hold the crawl's loop up for a tenth of a second.
    """

    state: State
    packed: bytes
    """Empty where there are no rules, or where nothing is allowed."""
    fetched_at: float
    expires_at: float
    outcome: Outcome
    status: int
    failures: int
    failing_since: float

    @classmethod
    def of(cls, answer: RobotsAnswer) -> _Kept:
        """What of an answer is kept."""
        packed = answer.robots.pack(answer.agent_token) if answer.size else b""
        told = (answer.state, packed, answer.fetched_at, answer.expires_at)
        return cls(*told, answer.outcome, answer.status, answer.failures, answer.failing_since)

    def answer(self, origin: str, agent_token: str) -> RobotsAnswer:
        """The answer again, as it came from the cache."""
        if self.packed:
            robots = Robots.unpack(self.packed)
        else:
            robots = Robots.allow_all() if self.state == "allow-all" else _CLOSED
        return RobotsAnswer(
            origin,
            self.state,
            robots,
            agent_token,
            fetched_at=self.fetched_at,
            expires_at=self.expires_at,
            outcome=self.outcome,
            status=self.status,
            failures=self.failures,
            failing_since=self.failing_since,
            size=len(self.packed),
        )


class RobotsCache:
    """Answers for many origins.

    Args:
        fetcher: Fetches robots.txt; every redirect hop goes through it, so the egress guard sees each.
        agent_token: The product token rules are looked up by.
        clock: The crawl's clock, in seconds since the epoch.
        options: Limits.
        reader: Reads long files elsewhere: packed rules and the lines that concern us, or None where the file
            cannot be read. Half a megabyte takes a tenth of a second, which the crawl's loop does not have.
        turns: Who may be asked when. Redirects lead to hosts that the frontier has not handed out.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        agent_token: str,
        *,
        clock: Callable[[], float],
        options: RobotsOptions | None = None,
        reader: Reader | None = None,
        turns: Turns | None = None,
    ) -> None:
        self._fetcher = fetcher
        self._token = agent_token
        self._clock = clock
        self._options = options or RobotsOptions()
        self._reader = reader or _read_here
        self._turns = turns
        self._awake: OrderedDict[str, RobotsAnswer] = OrderedDict()
        self._awake_bytes = 0
        self._waking = asyncio.Lock()
        self._answers: OrderedDict[str, _Kept] = OrderedDict()
        self._bytes = 0
        self._elsewhere: OrderedDict[str, tuple[float, Response | Failure]] = OrderedDict()
        """Answers that redirects led to, until when: many sites of one owner share one file."""
        self._locks: dict[str, asyncio.Lock] = {}
        self._wanted: Counter[str] = Counter()

    def peek(self, origin: str) -> RobotsAnswer | None:
        """The answer for an origin when it is known and fresh."""
        kept = self._answers.get(origin)
        if kept is None or kept.expires_at <= self._clock():
            return None
        self._answers.move_to_end(origin)
        answer = self._awake.get(origin) or kept.answer(origin, self._token)
        self._wake(answer)
        return answer

    async def known(self, origin: str) -> RobotsAnswer | None:
        """The same, with time for others behind each long file that has to be read again."""
        kept = self._answers.get(origin)
        if kept is None or len(kept.packed) < _LONG_RULES or origin in self._awake:
            return self.peek(origin)
        async with self._waking:
            answer = self.peek(origin)
            for _ in range(3):  # until those have run whose time has come
                await asyncio.sleep(0)
        return answer

    async def load(self, origin: str) -> RobotsAnswer:
        """The answer for an origin (`https://example.org`), fetched when there is no fresh one."""
        async with self._alone(origin):
            return self.peek(origin) or await self._fetch(origin)

    @asynccontextmanager
    async def _alone(self, key: str) -> AsyncIterator[None]:
        """One at a time for each origin, and for each URL that redirects lead to."""
        lock = self._locks.setdefault(key, asyncio.Lock())
        self._wanted[key] += 1
        try:
            async with lock:
                yield
        finally:
            self._wanted[key] -= 1
            if not self._wanted[key]:
                del self._wanted[key], self._locks[key]

    async def restore(self, origin: str, status: int, body: bytes, fetched_at: float) -> RobotsAnswer | None:
        """Take an archived answer back, so that a resumed crawl need not ask again.

        Returns None, and remembers nothing, when it is too old or was no usable answer.
        """
        fetched_at = min(fetched_at, self._clock())  # the clock may have been ahead
        expires_at = fetched_at + self._options.ttl
        if not 200 <= status < 500 or status == 429 or expires_at <= self._clock():
            return None
        answer, _ = await self._read(origin, status, body)
        if answer is None:
            return None
        return self._keep(replace(answer, fetched_at=fetched_at, expires_at=expires_at))

    async def _fetch(self, origin: str) -> RobotsAnswer:
        asked: list[Response | Failure] = []
        body = b""
        result = await self._follow(f"{origin}/robots.txt", asked)
        now = self._clock()
        if isinstance(result, Crowded):
            answer = RobotsAnswer(
                origin, "wait", _CLOSED, self._token, expires_at=result.until, outcome=Outcome.WAITING
            )
        elif isinstance(result, Failure):
            answer = self._unreachable(origin, result.outcome, now=now, retry_after=None)
        elif result.status == 429 or result.status >= 500 or _cut_short(result):
            later = parse_retry_after(result.header("Retry-After"), now)
            answer = self._unreachable(origin, Outcome.SERVER_ERROR, now=now, retry_after=later)
        else:
            read, body = await self._read(origin, result.status, result.body)
            ttl = self._ttl(result.header("Cache-Control"))
            if read is None:
                answer = self._unreachable(origin, Outcome.SERVER_ERROR, now=now, retry_after=None)
            else:
                answer = replace(read, fetched_at=now, expires_at=now + ttl)
        kept = self._keep(answer)
        exchanges = tuple(one for one in asked if isinstance(one, Response))
        return replace(kept, requests=len(asked), exchanges=exchanges, body=body)

    async def _follow(self, url: str, asked: list[Response | Failure]) -> Response | Failure | Crowded:
        """Fetch, following redirects: the last answer. What it took is added to `asked`."""
        first = url
        async with self._turns.handed_out(url) if self._turns else nullcontext():
            result = await self._ask(url, asked)
        for _ in range(self._options.max_redirects):
            if isinstance(result, Failure):
                return result
            location = result.header("Location") if result.status in _REDIRECTS else ""
            target = canonical(location, url) if location else None
            if target is None:
                return result
            url = target
            async with self._alone(url):
                try:
                    result = self._known(url) or await self._ask_elsewhere(url, first, asked)
                except Crowded as crowded:
                    return crowded
        return result

    async def _ask(self, url: str, asked: list[Response | Failure]) -> Response | Failure:
        # One byte more than the parser keeps tells it that the file goes on.
        result = await self._fetcher.fetch(Request(url, purpose="robots", max_bytes=KEPT_BYTES + 1))
        asked.append(result)
        return result

    async def _ask_elsewhere(
        self, url: str, first: str, asked: list[Response | Failure]
    ) -> Response | Failure:
        async with self._turns.elsewhere(url, instead_of=first) if self._turns else nullcontext():
            result = await self._ask(url, asked)
        good = isinstance(result, Response) and result.status < 500 and not result.truncated
        if isinstance(result, Failure) or len(result.body) <= _SHARED:
            # What failed is shared as well, but not for long.
            ttl = self._options.min_ttl if good else self._options.retry_first
            self._elsewhere[url] = (self._clock() + ttl, result)
            while len(self._elsewhere) > _MOST_SHARED:
                self._elsewhere.popitem(last=False)
        return result

    def _known(self, url: str) -> Response | Failure | None:
        until, result = self._elsewhere.get(url, (0.0, None))
        return result if until > self._clock() else None

    async def _read(self, origin: str, status: int, body: bytes) -> tuple[RobotsAnswer | None, bytes]:
        """A usable status: rules with 2xx, none with 4xx and with redirects that lead nowhere.

        None where the rules cannot be read; and what of the file is worth keeping.
        """
        if not 200 <= status < 300:
            none = Robots.allow_all()
            outcome = Outcome.CLIENT_ERROR
            return RobotsAnswer(origin, "allow-all", none, self._token, outcome=outcome, status=status), body
        if len(body) > _LONG:
            found = await self._reader(f"{origin}/robots.txt", body, self._token)
            if found is None:
                return None, b""
            packed, body = found
        else:
            packed = Robots.parse(body, self._token).pack(self._token)
        robots = Robots.unpack(packed)
        return RobotsAnswer(origin, "rules", robots, self._token, status=status, size=len(packed)), body

    def _unreachable(
        self, origin: str, outcome: Outcome, *, now: float, retry_after: float | None
    ) -> RobotsAnswer:
        before = self._answers.get(origin)
        failures = before.failures + 1 if before else 1
        since = before.failing_since if before and before.failures else now
        closed = outcome is Outcome.EGRESS or now - since >= self._options.patience
        wait = min(self._options.retry_limit, self._options.retry_first * 2.0 ** min(failures - 1, 30))
        wait = self._options.ttl if closed else max(wait, retry_after or 0.0)
        return RobotsAnswer(
            origin,
            "rules" if closed else "wait",
            _CLOSED,
            self._token,
            fetched_at=now,
            expires_at=now + wait,
            outcome=outcome,
            failures=failures,
            failing_since=since,
        )

    def _ttl(self, cache_control: str) -> float:
        match = _MAX_AGE.search(cache_control)
        asked = float(match[1]) if match else self._options.ttl
        return min(self._options.ttl, max(self._options.min_ttl, asked))

    def _keep(self, answer: RobotsAnswer) -> RobotsAnswer:
        self._forget(answer.origin)
        self._bytes += answer.size
        self._answers[answer.origin] = _Kept.of(answer)
        while len(self._answers) > self._options.size or (
            self._bytes > self._options.max_bytes and len(self._answers) > 1
        ):
            self._forget(next(iter(self._answers)))
        self._wake(answer)
        return answer

    def _forget(self, origin: str) -> None:
        before = self._answers.pop(origin, None)
        self._bytes -= len(before.packed) if before else 0
        asleep = self._awake.pop(origin, None)
        self._awake_bytes -= asleep.size if asleep else 0

    def _wake(self, answer: RobotsAnswer) -> None:
        """Keep an answer ready to be asked, and let the least recently used ones rest."""
        if answer.origin in self._awake:
            self._awake.move_to_end(answer.origin)
            return
        self._awake[answer.origin] = answer
        self._awake_bytes += answer.size
        while len(self._awake) > self._options.awake or (
            self._awake_bytes > self._options.awake_bytes and len(self._awake) > 1
        ):
            _, resting = self._awake.popitem(last=False)
            self._awake_bytes -= resting.size
