"""Visits over a fetcher: robots, fetch, decode and parse joined into one `visit`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Protocol, TypeAlias

import msgspec

from honeyguide.discovery.http import HttpAnswer
from honeyguide.engine.admission import LISTINGS
from honeyguide.engine.rendering import Renderer, taken_from
from honeyguide.engine.visit import Rendering, Visit
from honeyguide.fetch.base import Failure, Fetcher, Request, Response
from honeyguide.fetch.browser_messages import NotRendered
from honeyguide.fetch.egress import port_refusal
from honeyguide.fetch.options import MAX_BODY
from honeyguide.fetch.politeness import parse_retry_after
from honeyguide.fetch.robots import RobotsAnswer, RobotsCache
from honeyguide.fetch.room import Room
from honeyguide.fetch.turns import Turns
from honeyguide.frontier import Again, Waiting
from honeyguide.model import Host, Outcome, Page
from honeyguide.parse.base import Blocks, PackedPage, ParseFailure, ParseJob, Reading
from honeyguide.store.archive import Exchange, RenderedRecord, http_head, is_packed
from honeyguide.store.packed import Packed
from honeyguide.web import canonical
from honeyguide.web.digest import sha1_digest
from honeyguide.web.url import host_key, origin_of, parts

Recall: TypeAlias = Callable[[str], tuple[int, bytes, float] | None]
"""Status, body and time of an origin's robots.txt as an earlier session of the crawl saw it."""

REDIRECTS = frozenset({301, 302, 303, 307, 308})
HOST_FAILURES = frozenset(
    {Outcome.TIMEOUT, Outcome.DNS, Outcome.CONNECTION, Outcome.TLS, Outcome.SERVER_ERROR}
)
_LOCATION = re.compile(rb"\nlocation[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE)
EGRESS_DETAIL = "its address is not public; --allow-net, or allow_net in [network], opens private networks"


class Parser(Protocol):
    """What `LiveVisitor` needs of a parse pool."""

    async def parse(self, job: ParseJob) -> Page | ParseFailure:
        """The page, or why there is none."""
        ...

    async def listing(self, url: str, body: bytes) -> Reading | ParseFailure:
        """What a sitemap or feed names."""
        ...

    async def close(self) -> None:
        """End its processes."""
        ...


class Packer(Protocol):
    """What parses pages and packs their answers for the archive in one go."""

    async def parse_and_pack(self, job: ParseJob) -> Page | PackedPage | ParseFailure:
        """The page, with its answer packed where that can be done, or why there is none."""
        ...


class VisitOptions(msgspec.Struct, frozen=True):
    """What a visit asks of the parser and of the server."""

    blocks: Blocks = False
    main_text: bool = True
    max_bytes: int = MAX_BODY
    large_bytes: int = MAX_BODY
    """What bodies of more than 256 KiB may take together, from their arrival until they are parsed."""


class LiveVisitor:
    """Visits URLs over a `Fetcher`: real HTTP, or a generated web in process."""

    def __init__(
        self,
        fetcher: Fetcher,
        parser: Parser,
        *,
        robots: RobotsCache | None,
        options: VisitOptions,
        recall: Recall | None = None,
        turns: Turns | None = None,
        renderer: Renderer | None = None,
        packer: Packer | None = None,
    ) -> None:
        self._turns = turns
        self._packer = packer
        self._renderer = renderer
        self._fetcher = fetcher
        self._parser = parser
        self._robots = robots
        self._options = options
        self._recall = recall
        self._room = Room(options.large_bytes)

    async def visit(self, waiting: Waiting) -> Visit:
        """Load robots.txt if need be (that is this visit's request), else fetch and parse."""
        delay: float | None = None
        if self._robots is not None:
            origin = origin_of(waiting.url)
            answer = await self._robots.known(origin) or await self._remembered(origin)
            if answer is None:
                return await self._load_robots(origin)
            refused = _refused(answer, waiting.url)
            if refused is not None:
                return refused
            delay = answer.crawl_delay
            if self._turns is not None:
                self._turns.asks_for(host_key(waiting.url), delay)
        hold = self._room.hold()
        try:
            headers = _conditions(waiting.again) if waiting.again is not None else ()
            request = Request(waiting.url, max_bytes=self._options.max_bytes, headers=headers, hold=hold)
            async with self._turns.handed_out(waiting.url) if self._turns else nullcontext():
                result = await self._fetcher.fetch(request)
            if isinstance(result, Failure):
                return _failed(result, delay)
            return await self._answered(result, delay, waiting)
        finally:
            hold.give_back()

    def recall_delays(self, hosts: Iterable[Host]) -> None:
        """Take up what hosts asked for in earlier sessions."""
        for host in hosts:
            if self._turns is not None:
                self._turns.asks_for(host.name, host.crawl_delay, ready_at=host.ready_at)

    def sitemaps_of(self, url: str) -> tuple[str, ...]:
        """Sitemaps that robots.txt of an address's host names, where it is known."""
        origin = origin_of(url)
        known = self._robots.peek(origin) if self._robots is not None else None
        return _sitemaps(known.sitemaps, origin) if known is not None else ()

    async def close(self) -> None:
        """Close connections, browsers and parse workers."""
        if self._renderer is not None:
            await self._renderer.close()
        await self._fetcher.close()
        await self._parser.close()

    async def _remembered(self, origin: str) -> RobotsAnswer | None:
        stored = self._recall(origin) if self._recall is not None else None
        if stored is None or self._robots is None:
            return None
        return await self._robots.restore(origin, *stored)

    async def _load_robots(self, origin: str) -> Visit:
        """Ask for robots.txt; a host that cannot even give that has failed the URL's request."""
        assert self._robots is not None
        answer = await self._robots.load(origin)
        if self._turns is not None:
            # At once, not with the first page: others may be about to ask the host, sent there by redirects.
            self._turns.asks_for(host_key(f"{origin}/"), answer.crawl_delay)
        last = answer.exchanges[-1] if answer.exchanges else None
        waits = answer.state == "wait"
        refused = answer.outcome is Outcome.EGRESS
        unreachable = waits and answer.outcome not in (Outcome.SERVER_ERROR, Outcome.WAITING)
        told = answer.outcome.phrase if waits else answer.state
        return Visit(
            answer.outcome if unreachable or refused else Outcome.WAITING,
            detail=_not_public(f"{origin}/") if refused else f"robots.txt: {told}",
            exchanges=tuple(as_exchange(one) for one in answer.exchanges),
            requests=answer.requests - refused,
            seconds=last.seconds if last else 0.0,
            status=0 if last is None or unreachable else answer.status or last.status,
            ip=last.ip if last else "",
            not_before=answer.retry_at if waits else None,
            failed=waits and answer.outcome is not Outcome.WAITING,
            # An origin that is closed because robots.txt could not be read is not remembered as an answer.
            robots_origin=origin if last and not waits and not answer.failures else "",
            robots_body=answer.body,
            crawl_delay=answer.crawl_delay,
            sitemaps=_sitemaps(answer.sitemaps, origin),
        )

    async def _answered(self, response: Response, delay: float | None, waiting: Waiting) -> Visit:
        visit = Visit(
            Outcome.FETCHED,
            exchanges=(as_exchange(response),),
            requests=1,
            seconds=response.seconds,
            status=response.status,
            ip=response.ip,
            retry_after=_retry_after(response),
            crawl_delay=delay,
        )
        change = msgspec.structs.replace
        if response.status != 200 or is_unchanged(visit, waiting.again):
            return _no_page(visit, response, waiting.again)
        if response.truncated == "length":
            return change(visit, outcome=Outcome.TOO_LARGE, detail="body is over the limit")
        if waiting.source in LISTINGS:
            read = await self._parser.listing(response.url, response.body)
            if isinstance(read, ParseFailure):
                return change(visit, outcome=read.outcome, detail=read.detail)
            named = f"names {len(read.urls) + len(read.indexes)} URLs"
            return change(
                visit,
                outcome=Outcome.LISTING,
                listing=read.urls,
                dates=read.dates,
                indexes=read.indexes,
                detail=named,
            )
        parsed, packed = await self._parsed(response, visit.exchanges[0].digest)
        if isinstance(parsed, ParseFailure):
            return change(visit, outcome=parsed.outcome, detail=parsed.detail)
        if packed is None:
            visit = change(visit, page=parsed)
        else:
            visit = change(visit, page=parsed, exchanges=(change(visit.exchanges[0], packed=packed),))
        reason = self._renderer.reason(parsed) if self._renderer is not None else ""
        return await self._rendered(visit, response, parsed, reason) if reason else visit

    async def _parsed(self, response: Response, digest: str) -> tuple[Page | ParseFailure, Packed | None]:
        """The page of an answer, and the answer as the archive takes it, where it was packed on the way."""
        # A payload that arrived compressed is not what the worker gets, and has nothing to be packed.
        if self._packer is None or response.payload is not response.body or is_packed(response.response_head):
            return await self._parser.parse(self._job(response, digest)), None
        head = http_head(response.response_head)
        found = await self._packer.parse_and_pack(self._job(response, digest, head))
        return (found.page, found.packed) if isinstance(found, PackedPage) else (found, None)

    async def _rendered(self, visit: Visit, response: Response, received: Page, reason: str) -> Visit:
        """The visit with the page as a browser shows it, or with why there is no such page."""
        assert self._renderer is not None
        change = msgspec.structs.replace
        others: list[Exchange] = []

        async def rules(origin: str) -> RobotsAnswer | None:
            if self._robots is None:
                return None
            known = self._robots.peek(origin) or await self._remembered(origin)
            answer = known or await self._robots.load(origin)
            others.extend(as_exchange(one) for one in answer.exchanges)
            return answer

        made = await self._renderer.render(response, rules)
        visit = change(
            visit,
            requests=visit.requests + made.requests + len(others),
            exchanges=(*others, *visit.exchanges),
        )
        result = made.result
        if isinstance(result, NotRendered):
            return change(visit, rendering=Rendering(reason, failed=result.reason))
        parsed = await self._parser.parse(
            change(self._job(response, ""), body=result.html, content_type="text/html; charset=utf-8")
        )
        if isinstance(parsed, ParseFailure):
            return change(
                visit, rendering=Rendering(reason, failed=f"{parsed.outcome.label}: {parsed.detail}")
            )
        needs = self._renderer.learn(received, parsed)
        if len(parsed.text) < len(received.text) and len(parsed.links) <= len(received.links):
            return change(visit, rendering=Rendering(reason, failed="its scripts took text away"))
        page = change(taken_from(received, parsed), bytes=received.bytes + made.bytes)
        own = visit.exchanges[-1]
        own = change(own, rendered=RenderedRecord(result.html, at=own.at + response.seconds))
        return change(
            visit,
            page=page,
            exchanges=(*visit.exchanges[:-1], own),
            rendering=Rendering(reason, software=result.software, host_needs_it=needs),
        )

    def _job(self, response: Response, digest: str, head: bytes = b"") -> ParseJob:
        return ParseJob(
            url=response.url,
            body=response.body,
            content_type=response.header("content-type"),
            robots_tags=tuple(value for key, value in response.headers if key.lower() == "x-robots-tag"),
            blocks=self._options.blocks,
            main_text=self._options.main_text,
            digest=digest,
            head=head,
        )


def _conditions(again: Again) -> tuple[tuple[str, str], ...]:
    """Headers that ask for a page only if it has changed (RFC 9110, section 13)."""
    pairs = (("If-None-Match", again.etag), ("If-Modified-Since", again.modified))
    return tuple((name, value) for name, value in pairs if value)


def is_unchanged(visit: Visit, again: Again | None) -> bool:
    """Whether an answer says, or shows, that a known page is as it was."""
    if again is None:
        return False
    own = visit.exchanges[-1]
    asked = bool(again.etag or again.modified)
    return (visit.status == 304 and asked) or (
        visit.status == 200 and not own.truncated and bool(again.digest) and own.digest == again.digest
    )


def _sitemaps(named: Iterable[str], origin: str) -> tuple[str, ...]:
    """Addresses of the sitemaps that robots.txt names: owners write anything there, also relative ones."""
    urls = (canonical(one, f"{origin}/robots.txt") for one in named)
    return tuple(dict.fromkeys(filter(None, urls)))


def _not_public(url: str) -> str:
    """Why an address is not asked."""
    return port_refusal(parts(url).port) or EGRESS_DETAIL


def _refused(answer: RobotsAnswer, url: str) -> Visit | None:
    """What a known robots.txt has against a URL."""
    if answer.outcome == Outcome.EGRESS:
        return Visit(Outcome.EGRESS, detail=_not_public(url))
    if answer.state == "wait":
        return Visit(Outcome.WAITING, detail="robots.txt is unreachable", not_before=answer.retry_at)
    if not answer.allowed(url):
        return Visit(Outcome.ROBOTS, detail=answer.rule(url))
    return None


def _failed(failure: Failure, delay: float | None) -> Visit:
    return Visit(
        failure.outcome,
        detail=failure.detail,
        requests=0 if failure.outcome is Outcome.EGRESS else 1,
        seconds=failure.seconds,
        ip=failure.ip,
        failed=failure.outcome in HOST_FAILURES,
        crawl_delay=delay,
    )


def _location(response: Response) -> str:
    """The target of a redirect. Bytes beyond ASCII are escaped as they came, whatever they were written in.

    As browsers do: a server that names its files in Latin-1 knows them by these bytes.
    """
    said = response.header("location")
    raw = None if said.isascii() else _LOCATION.search(response.response_head)
    if raw is None:
        return said
    return "".join(chr(byte) if byte < 0x80 else f"%{byte:02X}" for byte in raw[1])


def _no_page(visit: Visit, response: Response, again: Again | None) -> Visit:
    """An answer that brings no page: the same as before, a redirect or an error."""
    change = msgspec.structs.replace
    if is_unchanged(visit, again):
        return change(visit, unchanged=True)
    status = response.status
    if status in REDIRECTS:
        location = _location(response)
        target = canonical(location, response.url) if location else None
        if target is None:
            return change(visit, outcome=Outcome.BAD_REDIRECT, detail=f"redirect to {location[:200]!r}")
        return change(visit, outcome=Outcome.REDIRECTED, redirect=target, detail=f"{status} to {target}")
    if status == 429 or status >= 500:
        return change(visit, outcome=Outcome.SERVER_ERROR, detail=f"HTTP {status}", failed=True)
    return change(visit, outcome=Outcome.CLIENT_ERROR, detail=f"HTTP {status}")


def as_exchange(response: Response) -> Exchange:
    """A response as the archive takes it."""
    return Exchange(
        url=response.url,
        at=response.started_at,
        ip=response.ip,
        request_head=response.request_head,
        response_head=response.response_head,
        payload=response.payload,
        # What could not be decoded is archived whole, as it was received.
        truncated="" if response.truncated == "encoding" else response.truncated,
        digest=sha1_digest(response.payload),
    )


def _retry_after(response: Response) -> float | None:
    value = response.header("retry-after")
    return parse_retry_after(value, response.started_at) if value else None


class ServiceHttp:
    """Questions to web services go over the same fetcher as pages, so the same limits hold for them.

    robots.txt is for crawlers and does not apply to an interface that its operator offers to programs.
    """

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    async def get(
        self, url: str, *, headers: tuple[tuple[str, str], ...] = (), max_bytes: int = 4 << 20
    ) -> HttpAnswer:
        """The answer to one GET; redirects are not followed."""
        result = await self._fetcher.fetch(
            Request(url, purpose="discovery", max_bytes=max_bytes, headers=headers)
        )
        if isinstance(result, Failure):
            return HttpAnswer(
                problem=f"{result.outcome.name.lower()}: {result.detail}", seconds=result.seconds
            )
        return HttpAnswer(
            status=result.status,
            body=result.body,
            problem=f"the answer is cut ({result.truncated})" if result.truncated else "",
            retry_after=_retry_after(result),
            seconds=result.seconds,
        )
