"""A page model and a link order for any other crawler: give it each page, get a verdict and priorities.

    guide = Guide("topic.toml")
    seen = guide.look(url, body, content_type)     # for each page that was fetched
    seen.verdict.on_topic, seen.priorities         # links worth following, by address
    guide.revised()                                # addresses whose priority has changed since

Crawlee's request queues, a list and a heap, Scrapy (`honeyguide.integrations.scrapy`): whatever orders
requests by a number can be led by it. It fetches nothing, and keeps in memory how each address was found.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from honeyguide.config.schema import Config
from honeyguide.engine.clock import WallClock
from honeyguide.errors import TopicError
from honeyguide.job.assemble import make_admission
from honeyguide.job.crawl import as_config
from honeyguide.job.examples import read_examples
from honeyguide.job.parts import blocks_of, build_parts, chosen
from honeyguide.model import Examples, Page, Topic, Verdict, Via
from honeyguide.ordering.base import RevisingOrder
from honeyguide.parse.base import ParseJob
from honeyguide.parse.html import parse_page
from honeyguide.relevance.base import verdict_on
from honeyguide.web.url import canonical, url_id

RECIPE = "scout"
"""Where the topic names none."""


class Seen(msgspec.Struct, frozen=True):
    """What a page is and where it leads."""

    url: str
    verdict: Verdict
    priorities: dict[str, float]
    """Canonical addresses of links to follow, higher first; without what scope, traps or order exclude."""
    excluded: frozenset[str]
    """Addresses of the page's links that should not be followed."""


class Guide:
    """Judges pages and ranks their links. Not for several threads at once.

    Args:
        topic: A `Topic`, a checked `Config`, or the path of a topic file. Example pages must be files: this
            fetches nothing.
        recipe: Name of a recipe with a local or revising order; by default the file's, or scout.

    Example:
        >>> guide = Guide(Topic("owls", keywords=("owl", "barn owl")), recipe="best-first")
        >>> seen = guide.look("https://example.org/", b"<p>Barn owls: an owl hunts. <a href=/owl>owl</a>")
        >>> seen.verdict.on_topic, list(seen.priorities)
        (True, ['https://example.org/owl'])
    """

    def __init__(self, topic: Topic | Config | Path | str, *, recipe: str | None = None) -> None:
        own = recipe or (RECIPE if isinstance(topic, Topic) else None)
        self.config = as_config(topic, own, {})
        examples: Examples = read_examples(self.config.as_topic(), self.config.base).examples
        if not examples.keywords and not examples.positives:
            raise TopicError("the topic has no keywords and no example files; a guide fetches no pages")
        parts = build_parts(chosen(self.config), examples, seed=self.config.crawl.random_seed)
        self.model, self.order = parts.model, parts.order
        if self.order.reorder_every is not None:
            raise TopicError(
                f"{self.config.crawl.recipe!r} orders by the whole graph; choose scout or a local order"
            )
        self._admission = make_admission(self.config, WallClock())
        self._blocks = blocks_of(self.order)
        self._via: dict[int, tuple[Via, int]] = {}
        self._urls: dict[int, str] = {}
        self._number = 0

    def judge(self, url: str, body: bytes, content_type: str = "text/html") -> Verdict | None:
        """The verdict alone, without learning from the page; None for what is not a page."""
        page = self._page(url, body, content_type)
        return verdict_on(self.model, page) if page else None

    def look(self, url: str, body: bytes, content_type: str = "text/html", asked: str = "") -> Seen | None:
        """Take a fetched page in: its verdict, and priorities of its links. None for what is not a page.

        Args:
            url: Its address.
            body: Its bytes, decompressed.
            content_type: As the server said.
            asked: The address that was asked for, where redirects led to another one.
        """
        page = self._page(url, body, content_type)
        if page is None:
            return None
        self._number += 1
        via, depth = self._via.pop(page.id, (None, 0))
        if via is None and (first := canonical(asked or url)) is not None:
            via, depth = self._via.pop(url_id(first), (None, 0))
        page = msgspec.structs.replace(page, number=self._number, via=via, depth=depth)
        verdict = verdict_on(self.model, page)
        links, refused = self._admission.split(page)
        self.order.learn(page, verdict)
        scored = {one.link: one for one in self.order.rank(page, verdict, links)}
        priorities, excluded = {}, {link.url for link, *_ in refused}
        for place, link in enumerate(links):
            one = scored.get(place)
            if one is None or one.drop:
                excluded.add(link.url)
                continue
            priorities[link.url] = one.priority
            if link.id not in self._via:
                self._via[link.id] = (
                    Via(page.id, page.url, link.anchor, link.context, one.priority, one.memo),
                    depth + 1,
                )
                self._urls[link.id] = link.url
        return Seen(page.url, verdict, priorities, frozenset(excluded))

    def allows(self, url: str) -> bool:
        """Whether scope and trap rules let an address through."""
        address = canonical(url)
        return address is not None and self._admission.refuse(address, 0) is None

    def revised(self) -> dict[str, float]:
        """Addresses that wait and have another priority now; ask after each page."""
        if not isinstance(self.order, RevisingOrder):
            return {}
        changed = self.order.revised()
        pairs: Iterable[tuple[int, float]] = zip(
            changed.ids.tolist(), changed.priorities.tolist(), strict=True
        )
        return {self._urls[known]: priority for known, priority in pairs if known in self._urls}

    def gone(self, url: str) -> None:
        """An address ended without a page: it waits no longer."""
        address = canonical(url)
        if address is not None and isinstance(self.order, RevisingOrder):
            self.order.gone(url_id(address))

    def _page(self, url: str, body: bytes, content_type: str) -> Page | None:
        address = canonical(url)
        if address is None:
            return None
        parsed = parse_page(ParseJob(address, body, content_type, blocks=self._blocks))
        return parsed if isinstance(parsed, Page) else None
