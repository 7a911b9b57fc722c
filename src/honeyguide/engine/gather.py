"""Fetching example pages before the crawl: the user gave URLs, a page model wants their text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from honeyguide.engine.clock import Clock
from honeyguide.engine.web import Visit, Web
from honeyguide.frontier import Waiting
from honeyguide.model import Document, Outcome, Page
from honeyguide.web import canonical, host_key, url_id

MOST_STEPS = 12
"""Requests for one example at most: robots.txt, redirects with their own robots.txt, the page."""


class Gathered(msgspec.Struct, frozen=True):
    """What became of the example URLs."""

    documents: dict[str, Document]
    """By the URL that was asked for."""
    missed: tuple[tuple[str, str], ...]
    """URL and reason of each example that gave no page."""


async def gather(
    web: Web,
    urls: Sequence[str],
    clock: Clock,
    *,
    delay: float,
    last: dict[str, float] | None = None,
    remember: Callable[[Visit], None] | None = None,
) -> Gathered:
    """Fetch each URL once, one after the other, with the politeness of a crawl.

    `last` says when each host was asked last, for callers that gather more than once. `remember` is given
    every answer, so that a robots.txt that was read here need not be asked for again.
    """
    documents: dict[str, Document] = {}
    missed: list[tuple[str, str]] = []
    last = {} if last is None else last
    for text in dict.fromkeys(urls):
        url = canonical(text)
        if url is None:
            missed.append((text, "not a web address"))
            continue
        outcome = await _follow(web, url, clock, delay, last=last, remember=remember)
        if isinstance(outcome, Page):
            documents[text] = as_document(outcome)
        else:
            missed.append((text, outcome))
    return Gathered(documents, tuple(missed))


def as_document(page: Page) -> Document:
    """A page as an example: its main text where there is one."""
    return Document(text=page.content, title=page.title, url=page.url, language=page.language)


async def fetch_page(web: Web, url: str, clock: Clock) -> Page | str:
    """One page past robots.txt and redirects, or the reason why there is none."""
    address = canonical(url)
    return (
        "not a web address"
        if address is None
        else await _follow(web, address, clock, 0.0, last={}, remember=None)
    )


async def _follow(
    web: Web,
    url: str,
    clock: Clock,
    delay: float,
    *,
    last: dict[str, float],
    remember: Callable[[Visit], None] | None,
) -> Page | str:
    for _ in range(MOST_STEPS):
        host = host_key(url)
        await clock.sleep(max(0.0, last.get(host, 0.0) + delay - clock.now()))
        visit = await web.visit(_waiting(url, host))
        last[host] = clock.now()
        if remember is not None:
            remember(visit)
        if visit.page is not None:
            return visit.page
        if visit.outcome is Outcome.REDIRECTED:
            url = visit.redirect
        elif visit.outcome is not Outcome.WAITING or visit.not_before is not None:
            return _reason(visit)
    return "too many redirects"


def _reason(visit: Visit) -> str:
    return visit.detail or visit.outcome.name.lower()


def _waiting(url: str, host: str) -> Waiting:
    return Waiting(
        row=0, url=url, id=url_id(url), host=host, priority=0.0, depth=0, redirects=0, tries=0, parent=0,
        parent_url="", source="example", anchor="", context="", memo={},
    )  # fmt: skip
