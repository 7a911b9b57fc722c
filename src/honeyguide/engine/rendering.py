"""Which pages are rendered in a browser, and what the crawl learns from it.

A page is rendered when its HTML is the shell of an application (`parse/shell.py`), or when its host turned
out to need it: two pages of the host gained much by it, and so did half of those that were tried. Where three
pages of a host gained nothing, its shells are left as they are. The page as received and the requests of its
scripts are the crawl's own (`fetch/page_requests.py`); a page that cannot be rendered is taken as it came.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Final, Literal, TypeAlias

import msgspec

from honeyguide.fetch.base import Fetcher, Response
from honeyguide.fetch.browser import BrowserPool
from honeyguide.fetch.browser_messages import NotRendered, Rendered, RenderJob, RenderLimits
from honeyguide.fetch.page_requests import PageRequests, Remembered, Robots
from honeyguide.model import Page
from honeyguide.parse.html import HTML_TYPES
from honeyguide.web.url import host_key

Mode: TypeAlias = Literal["never", "auto", "always"]

MOST_HOSTS: Final = 10_000
"""Hosts that are remembered; the one met longest ago goes first."""
PROOF: Final = 2
"""Pages that must gain before a host counts as one that needs a browser."""
PATIENCE: Final = 3
"""Pages that may gain nothing before a host's shells are left alone."""
GAIN: Final = 200
"""Characters that rendering must add, beside doubling the text."""
LINKS: Final = 5
"""Or links that it must add."""


class HostNeeds:
    """What rendering brought at each host.

    Args:
        needing: Hosts that are known to need a browser, from an earlier session.
        size: Hosts remembered.

    Example:
        >>> needs = HostNeeds()
        >>> needs.tried("a.example", gained=True), needs.tried("a.example", gained=True)
        (False, True)
    """

    def __init__(self, needing: Iterable[str] = (), *, size: int = MOST_HOSTS) -> None:
        self._size = size
        self._hosts: OrderedDict[str, tuple[int, int]] = OrderedDict()
        for host in needing:
            self._hosts[host] = (PROOF, PROOF)

    def tried(self, host: str, *, gained: bool) -> bool:
        """Note a rendered page; whether its host needs a browser, as far as one can tell now."""
        tries, gains = self._hosts.pop(host, (0, 0))
        self._hosts[host] = (tries + 1, gains + gained)
        if len(self._hosts) > self._size:
            self._hosts.popitem(last=False)
        return self.needs(host)

    def needs(self, host: str) -> bool:
        """Whether pages of a host are to be rendered, shells or not."""
        tries, gains = self._hosts.get(host, (0, 0))
        return gains >= PROOF and 2 * gains >= tries

    def in_vain(self, host: str) -> bool:
        """Whether rendering brought nothing at a host."""
        tries, gains = self._hosts.get(host, (0, 0))
        return tries >= PATIENCE and not gains


class RenderedPage(msgspec.Struct, frozen=True):
    """What a browser made of a page, before it is parsed."""

    result: Rendered | NotRendered
    requests: int
    bytes: int


class Renderer:
    """Renders the pages that need it.

    Args:
        pool: Browsers.
        mode: `auto` or `always`.
        fetcher: Makes the requests of pages.
        limits: What one page may take.
        clock: Seconds.
        denied: Whether an address is never to be asked.
        needing: Hosts that are known to need a browser.
    """

    def __init__(
        self,
        pool: BrowserPool,
        *,
        mode: Mode,
        fetcher: Fetcher,
        limits: RenderLimits,
        clock: Callable[[], float],
        denied: Callable[[str], bool] = lambda _: False,
        needing: Iterable[str] = (),
    ) -> None:
        self._pool = pool
        self._mode = mode
        self._fetcher = fetcher
        self._limits = limits
        self._denied = denied
        self._remembered = Remembered(clock)
        self.hosts = HostNeeds(needing)

    def reason(self, page: Page) -> str:
        """Why a page is to be rendered; empty when it is not."""
        if page.content_type not in HTML_TYPES:
            return ""
        if self._mode == "always":
            return "every page is (render = always)"
        host = host_key(page.url)
        if page.shell:
            return "" if self.hosts.in_vain(host) else f"its HTML is a shell: {page.shell}"
        return "other pages of its host need it" if self.hosts.needs(host) else ""

    async def render(self, response: Response, robots: Robots) -> RenderedPage:
        """Render an answer.

        Args:
            response: The page as received.
            robots: Finds the rules of an origin.
        """
        requests = PageRequests(
            response.url,
            fetcher=self._fetcher,
            robots=robots,
            limits=self._limits,
            remembered=self._remembered,
            denied=self._denied,
        )
        job = RenderJob(response.url, response.body, response.headers, self._limits)
        result = await self._pool.render(job, requests.answer)
        return RenderedPage(result, requests.requests, requests.bytes)

    def learn(self, before: Page, after: Page) -> bool:
        """Compare a page with its rendered self; whether its host needs a browser."""
        return self.hosts.tried(host_key(before.url), gained=gained(before, after))

    async def close(self) -> None:
        """End the browsers."""
        await self._pool.close()


def gained(before: Page, after: Page) -> bool:
    """Whether rendering brought a page much."""
    text = len(after.text) >= 2 * len(before.text) + GAIN
    return text or len(after.links) >= len(before.links) + LINKS


def taken_from(before: Page, after: Page) -> Page:
    """The rendered page, with what counts of the page as received.

    What the server asks of crawlers holds, whatever scripts do to it. A canonical address that stood in the
    shell already is the application's, the same for all its pages.
    """
    canonical = "" if before.shell and after.canonical == before.canonical else after.canonical
    return msgspec.structs.replace(
        after,
        noindex=before.noindex or after.noindex,
        nofollow=before.nofollow or after.nofollow,
        canonical=canonical,
        shell=before.shell,
    )
