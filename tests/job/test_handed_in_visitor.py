"""A crawl whose visitor is handed in asks nobody for addresses."""

from __future__ import annotations

import asyncio
import socket

import pytest

from honeyguide.engine.clock import VirtualClock
from honeyguide.engine.visit import Visit
from honeyguide.frontier import Waiting
from honeyguide.job.crawl import Crawl
from honeyguide.model import Outcome, Page, Topic


class Handed:
    """Any URL is a page."""

    async def visit(self, waiting: Waiting) -> Visit:
        """The page of a URL."""
        page = Page(waiting.url, waiting.id, title="Owls", text="owls at night")
        return Visit(Outcome.FETCHED, page=page, requests=1, status=200)

    async def close(self) -> None:
        """Nothing to let go of."""


def test_no_address_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def note(*given: object, **_: object) -> list[object]:
        asked.append(given)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", note)

    async def crawl() -> int:
        topic = Topic("owls", keywords=("owl",), seeds=("https://nowhere.invalid/",))
        job = Crawl(topic, recipe="best-first", clock=VirtualClock(), visitor=Handed(), max_pages=1)
        return len([event async for event in job.run() if event.kind == "page"])

    assert asyncio.run(crawl()) == 1
    assert not asked
