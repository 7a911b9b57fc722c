"""A network of many hosts in virtual time: every failure is drawn from a seed, every promise is checked.

The crawl is the real one, with its real concurrency; only the clock, the sockets and the parse processes are
not. The event loop jumps to the next timer instead of waiting, so hours of politeness take seconds. Nothing
is drawn from a clock or a race: an equal seed gives an equal run.
"""

from __future__ import annotations

import asyncio
import random
import selectors
from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec

from honeyguide.fetch.base import Failure, Request, Response
from honeyguide.model import Outcome
from honeyguide.web.url import host_key, parts

EPOCH = 1_790_000_000.0
SLACK = 1e-6


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time passes only when nothing is left to do."""

    def __init__(self) -> None:
        self.now = 0.0
        super().__init__(_Jumping(self))

    def time(self) -> float:
        return self.now


class _Jumping(selectors.DefaultSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0 if timeout is not None else None)
        if not ready and timeout:
            self._loop.now += timeout
        return ready


class LoopClock:
    """The crawl's clock: that of the loop, going on across the loops of several sessions."""

    virtual = False

    def __init__(self) -> None:
        self.begin = EPOCH

    def now(self) -> float:
        return self.begin + asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def advance(self, seconds: float) -> None:
        """Time passes by itself."""


class Habits(msgspec.Struct, frozen=True):
    """How a host behaves, drawn once."""

    addresses: tuple[str, ...]
    """Over time: the name's address changes every `moves` seconds."""
    moves: float
    broken_ipv6: bool
    """The first address never answers; another one is dialled after a while."""
    resets: float
    """Share of requests that are reset."""
    hangs: float
    """Share of requests that never end."""
    errors: float
    """Share of requests answered with 503, half of them with Retry-After."""
    slow_start: float
    """Seconds that the first answer takes; each further one takes half."""
    robots: str
    """`plain`, `delay`, `gone`, `failing` (for a while), `moved` (to a shared host) or `closed`."""
    dies_at: float
    """Seconds from the beginning after which it never answers again."""


class Promises(msgspec.Struct):
    """The delays that must hold."""

    delay: float
    ip_delay: float
    ip_at_once: int
    crawl_delay: float = 9.0
    retry_after: float = 40.0


class Network:
    """Hosts `h0.example`, `h1.example`, ... and their pages; a fetcher that keeps account of all requests."""

    def __init__(self, seed: int, *, hosts: int, pages: int, promises: Promises) -> None:
        self.hosts = hosts
        self.pages = pages
        self.promises = promises
        self.seed = seed
        self.clock = LoopClock()
        self._habits = {f"h{n}.example": self._draw(n) for n in range(hosts)}
        self._habits["shared.example"] = Habits(
            ("192.0.2.250",), 1e12, False, 0.0, 0.0, 0.0, 0.1, "gone", 1e12
        )
        self._asked: Counter[str] = Counter()
        self._now_at_host: Counter[str] = Counter()
        self._now_at_address: Counter[str] = Counter()
        self._silent_until: dict[str, tuple[float, str]] = {}
        self._last_at_address: dict[str, float] = {}
        self._delays: dict[str, float] = {}
        self._resolved: dict[str, tuple[float, str]] = {}
        self.answered: Counter[str] = Counter()
        """200 answers by URL, robots.txt left out."""
        self.requests = 0
        self.broken: list[str] = []
        """Promises that were not kept."""
        self.deaths = 0

    def _draw(self, number: int) -> Habits:
        draw = random.Random(f"{self.seed} {number}")
        count = max(2, self.hosts // 6)
        where = [f"198.51.{n // 250}.{n % 250 + 1}" for n in (draw.randrange(count), draw.randrange(count))]
        moving = draw.random() < 0.1
        robots = draw.choices(
            ("plain", "delay", "gone", "failing", "moved", "closed"), (50, 15, 15, 8, 10, 2)
        )[0]
        return Habits(
            addresses=tuple(where) if moving else (where[0],),
            moves=draw.uniform(50, 1000) if moving else 1e12,
            broken_ipv6=draw.random() < 0.05,
            resets=draw.choice((0.0, 0.0, 0.0, 0.05, 0.3)),
            hangs=draw.choice((0.0, 0.0, 0.0, 0.02, 0.1)),
            errors=draw.choice((0.0, 0.0, 0.05, 0.2)),
            slow_start=draw.choice((0.05, 0.2, 1.0, 20.0)),
            robots=robots,
            dies_at=draw.uniform(10, 500) if draw.random() < 0.05 else 1e12,
        )

    # As the crawl sees it: a fetcher.

    async def look_up(self, host: str) -> str:
        await asyncio.sleep(0.01)
        if host not in self._habits:
            return ""
        self._resolved[host] = (self.clock.now() + 300.0, self._address(host))
        return self._resolved[host][1]

    def address(self, host: str) -> str:
        until, found = self._resolved.get(host, (0.0, ""))
        return found if until > self.clock.now() else ""

    def _address(self, host: str) -> str:
        habits = self._habits[host]
        turn = int((self.clock.now() - EPOCH) / habits.moves)
        return habits.addresses[turn % len(habits.addresses)]

    async def close(self) -> None:
        """Nothing is held."""

    async def fetch(self, request: Request) -> Response | Failure:
        host = host_key(request.url)
        self.requests += 1
        if host not in self._habits:
            await asyncio.sleep(0.05)
            return self._failed(request, Outcome.DNS, "")
        address = self.address(host) or await self.look_up(host)
        self._begin(request.url, host, address)
        began = self.clock.now()
        try:
            result = await self._answer(request, host, address)
        finally:
            self._end(host, address)
        seconds = self.clock.now() - began
        if isinstance(result, Response):
            self._note_wishes(request, host, result)
            if result.status == 200 and request.purpose == "page":
                self.answered[request.url] += 1
        return msgspec.structs.replace(result, seconds=seconds, started_at=began)

    async def _answer(self, request: Request, host: str, address: str) -> Response | Failure:
        habits = self._habits[host]
        self._asked[host] += 1
        draw = random.Random(f"{self.seed} {request.url} {self._asked[host]}")
        if habits.broken_ipv6:
            await asyncio.sleep(0.3)
        if self.clock.now() - EPOCH > habits.dies_at or draw.random() < habits.hangs:
            await asyncio.sleep(30.0)
            return self._failed(request, Outcome.TIMEOUT, address)
        await asyncio.sleep(habits.slow_start / 2 ** min(self._asked[host], 10) + draw.uniform(0.01, 0.3))
        if draw.random() < habits.resets:
            return self._failed(request, Outcome.CONNECTION, address)
        if request.purpose == "robots":
            return self._robots(request, host, address)
        if draw.random() < habits.errors:
            after = (("Retry-After", str(int(self.promises.retry_after))),) if draw.random() < 0.5 else ()
            return self._response(request, 503, address, headers=after)
        return self._page(request, host, address)

    def _robots(self, request: Request, host: str, address: str) -> Response:
        match self._habits[host].robots:
            case "gone":
                return self._response(request, 404, address)
            case "closed":
                return self._response(request, 200, address, b"User-agent: *\nDisallow: /\n")
            case "failing" if self._asked[host] < 3:
                return self._response(request, 500, address)
            case "delay":
                text = f"User-agent: *\nCrawl-delay: {self.promises.crawl_delay}\n"
                return self._response(request, 200, address, text.encode())
            case "moved":
                where = (("Location", f"http://shared.example/{host}"),)
                return self._response(request, 301, address, headers=where)
        return self._response(request, 200, address, b"User-agent: *\nDisallow: /private\n")

    def _page(self, request: Request, host: str, address: str) -> Response:
        number = int(host[1:].partition(".")[0]) if host[0] == "h" else 0
        page = int(parts(request.url).path.strip("/") or 0)
        own = [f"/{n}" for n in (page * 2 + 1, page * 2 + 2, (page - 1) // 2) if 0 <= n < self.pages]
        others = [f"http://h{(number * 3 + page * 5 + n) % self.hosts}.example/" for n in range(1, 4)]
        if page % 7 == 3:
            others.append(f"http://nowhere-{number}-{page}.example/")
        links = "".join(f'<a href="{link}">owl</a> ' for link in (*own, *others))
        words = random.Random(f"{host} {page}").sample(range(10_000), 30)
        text = f"<title>owl {number} {page}</title><p>owl {' '.join(map(str, words))}</p>{links}"
        return self._response(request, 200, address, text.encode(), headers=(("Content-Type", "text/html"),))

    @staticmethod
    def _response(
        request: Request, status: int, address: str, body: bytes = b"", headers: Any = ()
    ) -> Response:
        head = f"HTTP/1.1 {status} X\r\n\r\n".encode()
        return Response(request.url, status, headers, body, body, ip=address, response_head=head)

    @staticmethod
    def _failed(request: Request, outcome: Outcome, address: str) -> Failure:
        return Failure(request.url, outcome, outcome.name.lower(), ip=address)

    # What was promised.

    def _begin(self, url: str, host: str, address: str) -> None:
        now = self.clock.now()
        until, why = self._silent_until.get(host, (0.0, ""))
        if self._now_at_host[host]:
            self.broken.append(f"{now:.2f} {url}: two at once at the host")
        if now < until - SLACK:
            self.broken.append(f"{now:.2f} {url}: {until - now:.3f} s too early ({why})")
        if self._now_at_address[address] >= self.promises.ip_at_once:
            self.broken.append(f"{now:.2f} {url}: too many at once at {address}")
        last = self._last_at_address.get(address, 0.0)
        if now < last + self.promises.ip_delay - SLACK:
            self.broken.append(f"{now:.2f} {url}: {now - last:.3f} s after another one at {address}")
        self._now_at_host[host] += 1
        self._now_at_address[address] += 1
        self._last_at_address[address] = now

    def _end(self, host: str, address: str) -> None:
        now = self.clock.now()
        self._now_at_host[host] -= 1
        self._now_at_address[address] -= 1
        delay = max(self.promises.delay, self._delays.get(host, 0.0))
        self._silent_until[host] = (now + delay, "delay")

    def _note_wishes(self, request: Request, host: str, response: Response) -> None:
        now = self.clock.now()
        if request.purpose == "robots" and b"Crawl-delay" in response.body:
            self._delays[host] = self.promises.crawl_delay
            self._silent_until[host] = (now + self.promises.crawl_delay, "Crawl-delay")
        if response.header("Retry-After"):
            self._silent_until[host] = (now + self.promises.retry_after, "Retry-After")

    def died(self) -> None:
        """The crawl's process was killed: what it had under way has ended for the servers, too."""
        self.deaths += 1
        for host in +self._now_at_host:
            self._silent_until[host] = max(
                self._silent_until.get(host, (0.0, "")), (self.clock.begin + self.promises.delay, "delay")
            )
        self._now_at_host.clear()
        self._now_at_address.clear()


def run_virtually(work: Callable[[], Any], clock: LoopClock) -> Any:
    """Run a coroutine function in virtual time; the clock goes on from there."""
    loop = VirtualLoop()
    try:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            return runner.run(work())
    finally:
        clock.begin += loop.now
