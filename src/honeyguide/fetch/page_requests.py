"""The requests that a page makes in a browser, made by our own fetcher.

Each goes by robots.txt of its host, the egress guard (in the fetcher, at every dial and every redirect), and
the limits of its page. Documents are not among them: the page itself was fetched by the crawl in its turn,
and frames are links. So the requests here need no turns at their hosts, as little as a reader's browser would
wait; but few are under way at once, and a host that says it is busy is not asked again for this page.

Scripts and style sheets are remembered for a while: all pages of an application load the same ones.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

import msgspec

from honeyguide.fetch.base import Failure, Fetcher, Headers, Request, Response
from honeyguide.fetch.browser_messages import Answer, RenderLimits, Wanted
from honeyguide.fetch.proxy import ProxyTrouble
from honeyguide.fetch.robots import RobotsAnswer
from honeyguide.web.url import canonical, origin_of

MAX_REDIRECTS: Final = 5
REMEMBERED: Final = 32 << 20
"""Bytes of scripts and style sheets that are remembered."""
REMEMBERED_FOR: Final = 600.0
"""Seconds for which they are; the server's max-age may shorten it."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_BUSY = frozenset({429, 503})
_CACHED = frozenset({"script", "stylesheet"})
_ANYWHERE = frozenset({"accept", "origin"})
_SAME_ORIGIN = frozenset({"authorization", "content-type"})
_NEVER = re.compile(r"x-(?:forwarded|real|client|original|rewrite|http-method|host|proxy)|x-.*-ip$")
_PLAIN = re.compile(r"[\x20-\x7e]{0,2000}")
_NO_STORE = re.compile(r"no-store|no-cache|private", re.IGNORECASE)
_MAX_AGE = re.compile(r"max-age\s*=\s*\"?(\d{1,9})", re.IGNORECASE)

Robots: TypeAlias = Callable[[str], Awaitable[RobotsAnswer | None]]
"""What robots.txt of an origin says, asked for if need be; None where no rules are kept."""


class Remembered:
    """Scripts and style sheets, least recently used first out.

    Args:
        clock: Seconds.
        limit: Bytes.
    """

    def __init__(self, clock: Callable[[], float], limit: int = REMEMBERED) -> None:
        self._clock = clock
        self._limit = limit
        self._kept: OrderedDict[str, tuple[float, Answer]] = OrderedDict()
        self._bytes = 0

    def get(self, url: str) -> Answer | None:
        """What the address answered lately."""
        until, answer = self._kept.get(url, (0.0, None))
        if answer is None or until <= self._clock():
            return None
        self._kept.move_to_end(url)
        return answer

    def put(self, url: str, answer: Answer, response: Response) -> None:
        """Remember an answer, if its server lets us."""
        said = response.header("cache-control")
        if answer.status != 200 or _NO_STORE.search(said) or len(answer.body) > self._limit // 4:
            return
        age = _MAX_AGE.search(said)
        self._forget(url)
        until = self._clock() + min(REMEMBERED_FOR, float(age[1]) if age else REMEMBERED_FOR)
        self._kept[url] = (until, answer)
        self._bytes += len(answer.body)
        while self._bytes > self._limit:
            self._forget(next(iter(self._kept)))

    def _forget(self, url: str) -> None:
        kept = self._kept.pop(url, None)
        self._bytes -= len(kept[1].body) if kept else 0


class PageRequests:
    """The requests of one page.

    Args:
        page: Its address.
        fetcher: Makes them.
        robots: Finds the rules of an origin.
        limits: Of the page.
        remembered: Shared by all pages.
        denied: Whether an address is never to be asked (`deny_domains` and `exclude` in `[scope]`).
    """

    def __init__(
        self,
        page: str,
        *,
        fetcher: Fetcher,
        robots: Robots,
        limits: RenderLimits,
        remembered: Remembered,
        denied: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._origin = origin_of(page)
        self._fetcher = fetcher
        self._robots = robots
        self._limits = limits
        self._remembered = remembered
        self._denied = denied
        self._busy: set[str] = set()
        self.requests = 0
        """Requests on the wire."""
        self.bytes = 0
        """What they brought."""

    async def answer(self, wanted: Wanted) -> Answer:
        """What a request gets. Never raises for what the web does, nor for what a proxy does."""
        try:
            return await self._asked(wanted)
        except ProxyTrouble as trouble:  # the crawl's next request ends it; the page is read as it is
            return Answer(wanted.number, refused=str(trouble))

    async def _asked(self, wanted: Wanted) -> Answer:
        url = wanted.url.partition("#")[0]
        kept = self._remembered.get(url) if wanted.kind in _CACHED else None
        if kept is not None:
            return msgspec.structs.replace(kept, number=wanted.number)
        for _ in range(MAX_REDIRECTS + 1):
            refused = await self._refused(url)
            if refused:
                return Answer(wanted.number, refused=refused)
            result = await self._fetch(url, wanted.headers)
            if isinstance(result, Failure):
                return Answer(wanted.number, refused=f"{result.outcome.name.lower()}: {result.detail}")
            if result.status in _BUSY:
                self._busy.add(_origin(url))
            target = canonical(result.header("location"), url) if result.status in _REDIRECTS else None
            if target is None:
                return self._answered(wanted, result)
            url = target
        return Answer(wanted.number, refused=f"more than {MAX_REDIRECTS} redirects")

    async def _refused(self, url: str) -> str:
        """Why an address may not be asked; empty when it may."""
        plain = canonical(url)
        if plain is None:
            return "not an address of the web"
        origin = origin_of(plain)
        if self.requests >= self._limits.requests or self.bytes >= self._limits.bytes:
            return "the page has had its share"
        if self._denied(plain):
            return "out of scope"
        if origin in self._busy:
            return "the host is busy"
        rules = await self._robots(origin)
        if rules is not None and not (rules.allowed(url) and rules.allowed(plain)):
            return "robots.txt"
        return ""

    async def _fetch(self, url: str, headers: Headers) -> Response | Failure:
        self.requests += 1
        left = max(1, self._limits.bytes - self.bytes)
        request = Request(
            url,
            purpose="render",
            max_bytes=left,
            headers=_passed_on(headers, same=_origin(url) == self._origin),
        )
        result = await self._fetcher.fetch(request)
        if isinstance(result, Response):
            self.bytes += len(result.body)
        return result

    def _answered(self, wanted: Wanted, response: Response) -> Answer:
        if response.truncated:
            return Answer(wanted.number, refused=f"the answer is cut ({response.truncated})")
        answer = Answer(wanted.number, response.status, response.headers, response.body)
        if wanted.kind in _CACHED:
            self._remembered.put(wanted.url.partition("#")[0], answer, response)
        return answer


def _origin(url: str) -> str:
    return origin_of(canonical(url) or url)


def _passed_on(headers: Headers, *, same: bool) -> Headers:
    """Of what a page's script sets, what a server may be told. No cookies; nothing that speaks for a proxy.

    Other origins get only what needs no leave of theirs: Playwright answers the browser's question for it.
    """
    kept = []
    for name, value in headers:
        low = name.lower()
        own = same and (low in _SAME_ORIGIN or (low.startswith("x-") and not _NEVER.match(low)))
        if (own or low in _ANYWHERE) and _PLAIN.fullmatch(value):
            kept.append((name, value))
    return tuple(kept[:32])
