"""A small written web whose pages change between two crawls, with validators, on real HTTP."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from loopback import HTML, Recorder, config_for, recording

from honeyguide.config.schema import Config
from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.served import Served
from honeyguide.model import Event

SITE = "http://a.example"


def words(text: str, links: Iterable[str] = (), *, head: str = "") -> bytes:
    """A page about owls that says something."""
    anchors = "".join(f'<p><a href="{link}">barn owl {link}</a></p>' for link in links)
    body = f"<body><p>{text} barn owl</p>{anchors}</body>"
    return f"<html><head><title>owl</title>{head}</head>{body}</html>".encode()


class ChangingWeb:
    """Pages by path; answers 304 where the validators say so."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes | Served] = {}
        self.without_validators: set[str] = set()
        self.server: Recorder | None = None
        self.answers: list[tuple[str, int]] = []
        """Path and status of every answer, robots.txt apart."""

    def get(self, url: str) -> Served:
        """The answer to the request that has just come."""
        path = url.removeprefix(SITE) or "/"
        answer = self._answer(path)
        if path != "/robots.txt":
            self.answers.append((path, answer.status))
        return answer

    def _answer(self, path: str) -> Served:
        held = self.pages.get(path)
        if held is None:
            return Served(404, HTML, b"<p>not here</p>")
        if isinstance(held, Served):
            return held
        if path in self.without_validators:
            return Served(200, HTML, held)
        etag = f'"{hashlib.sha1(held, usedforsecurity=False).hexdigest()[:12]}"'
        assert self.server is not None
        if f"if-none-match: {etag}".encode() in self.server.heads[-1].lower():
            return Served(304, (("ETag", etag),))
        return Served(200, (*HTML, ("ETag", etag)), held)

    def asked(self) -> list[tuple[str, int]]:
        """Answers since the last question."""
        found, self.answers = self.answers, []
        return found


@asynccontextmanager
async def serving(web: ChangingWeb) -> AsyncIterator[Recorder]:
    """Serve it while the block lasts."""
    async with recording(web.get) as server:
        web.server = server
        yield server


def topic(server: Recorder, **tables: dict[str, object]) -> Config:
    """A topic of it."""
    return config_for([f"{SITE}/"], server.connect_to, **tables)


async def come_back(config: Config, out: Path, **asked: object) -> tuple[Crawl, list[Event]]:
    """Recrawl to the end."""
    crawl = Crawl(config, out=out)
    return crawl, [event async for event in crawl.recrawl(**asked)]  # type: ignore[arg-type]
