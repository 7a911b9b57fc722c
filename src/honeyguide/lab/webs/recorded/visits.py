"""A recorded web as the engine visits it: no network, and no cost on the clock."""

from __future__ import annotations

from honeyguide.engine.visit import Visit
from honeyguide.frontier import Waiting
from honeyguide.lab.webs.recorded.catalogue import REDIRECTS
from honeyguide.lab.webs.recorded.pages import with_links
from honeyguide.lab.webs.recorded.web import Recorded
from honeyguide.model import Outcome, Page, UrlId
from honeyguide.parse.base import Blocks, ParseFailure
from honeyguide.web import url_id


class RecordedVisits:
    """Answers every URL from the recording: the engine's `Web`.

    A recorded page is `FETCHED`, an alias of one is `REDIRECTED` to it, recorded redirects and errors
    are answered as they were, and everything else is a `CLIENT_ERROR` (404).

    From the first visit until `close`, the recording is sealed: pages that were not visited raise
    `LookAhead` for whoever else asks.

    Args:
        recorded: The web.
        site: Only pages of this site are there.
        closed: Leave out links that lead out of the recording. What they led to is unknown, so a request
            for them says nothing about an order. False keeps them, and each costs a request.
        blocks: Whether pages have content blocks (`order.needs_blocks`).
        cached: False parses each page when it is visited, as a live crawl does.
    """

    def __init__(
        self,
        recorded: Recorded,
        *,
        site: str | None = None,
        closed: bool = True,
        blocks: Blocks = False,
        cached: bool = True,
    ) -> None:
        self.recorded = recorded if site is None else recorded.subset(site=site)
        self.fetched: set[UrlId] = set()
        """Fingerprints of the pages visited so far."""
        self._archive = recorded.archive
        self._closed = closed
        self._blocks = blocks
        self._store = self._archive.store(blocks=blocks) if cached else None
        self._ids = frozenset(map(url_id, self.recorded.urls))
        self._sealed = False

    async def visit(self, waiting: Waiting) -> Visit:
        """One answer, at once."""
        if not self._sealed:
            self._sealed = True
            self._archive.seal.close(self, self.fetched)
        url = waiting.url
        if url in self.recorded:
            return self._page(url)
        target = self.recorded.resolve(url) if url not in self._archive.records else None
        if target is not None:
            return Visit(
                Outcome.REDIRECTED, redirect=target, detail=f"301 to {target}", requests=1, status=301
            )
        return self._other(url)

    async def close(self) -> None:
        """The replay is over; the recording can be read again."""
        self._archive.seal.open(self)

    def page(self, url: UrlId | str) -> Page | None:
        """A page that was visited already. LookAhead for any other."""
        return self.recorded.page(url, blocks=self._blocks)

    def _page(self, url: str) -> Visit:
        number = url_id(url)
        parsed: Page | ParseFailure | None
        if self._store is None:
            parsed = self._archive.parse(url, blocks=self._blocks)
        else:
            parsed = self._store.page(number) or self._store.index.failures.get(url)
        self.fetched.add(number)
        if isinstance(parsed, Page):
            if self._closed:
                parsed = self._kept(parsed)
            return Visit(Outcome.FETCHED, parsed, requests=1, status=200)
        failure = parsed or ParseFailure(Outcome.PARSE_FAILED, "not in the cache")
        return Visit(failure.outcome, detail=failure.detail, requests=1, status=200)

    def _kept(self, page: Page) -> Page:
        ids = self._ids
        if all(link.id in ids for link in page.links):
            return page
        return with_links(page, [link if link.id in ids else None for link in page.links])

    def _other(self, url: str) -> Visit:
        """What is recorded of a URL that is not a page of this part of the web."""
        record = self._archive.records.get(url)
        if record is None or url in self._archive.catalogue.sites:
            return Visit(Outcome.CLIENT_ERROR, detail="HTTP 404 (not recorded)", requests=1, status=404)
        status = record.status
        if status in REDIRECTS and record.location:
            detail = f"{status} to {record.location}"
            return Visit(
                Outcome.REDIRECTED, redirect=record.location, detail=detail, requests=1, status=status
            )
        if status == 200:
            return Visit(Outcome.NOT_A_PAGE, detail=f"content type {record.media!r}", requests=1, status=200)
        # A recorded failure lasts: `failed` would make the engine ask again.
        outcome = Outcome.SERVER_ERROR if status >= 500 or status == 429 else Outcome.CLIENT_ERROR
        return Visit(outcome, detail=f"HTTP {status}", requests=1, status=status)
