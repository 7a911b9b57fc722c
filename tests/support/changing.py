"""A small written web whose pages change between two crawls, with validators, on real HTTP."""

from __future__ import annotations

import hashlib
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from loopback import HTML, Recorder, config_for, crawl_all, recording

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


def topic(server: Recorder, **tables: Mapping[str, object]) -> Config:
    """A topic of it."""
    return config_for([f"{SITE}/"], server.connect_to, **tables)


async def come_back(config: Config, out: Path, **asked: object) -> tuple[Crawl, list[Event]]:
    """Recrawl to the end."""
    crawl = Crawl(config, out=out)
    return crawl, [event async for event in crawl.recrawl(**asked)]  # type: ignore[arg-type]


class Story:
    """A collection that was crawled, then visited again twice after changes."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.first = self.second = 0.0
        """Moments after the first crawl and after the first recrawl."""

    async def happen(self) -> None:
        """Let it happen."""
        web = ChangingWeb()
        web.pages = {
            "/": words("list", ["/text", "/gone", "/late", "/same"]),
            "/text": words("Pellets were here. They stay. "),
            "/gone": words("Ural owls. "),
            "/late": b"<title>bricks</title><p>Walls and mortar, cement and sand.</p>",
            "/same": words("Snowy owls. "),
        }
        async with serving(web) as server:
            config = topic(server)
            await crawl_all(config, self.out)
            self.first = time.time()
            web.pages["/text"] = words("Feathers came. They stay. ")
            web.pages["/late"] = words("Now all about owls: barn owl, tawny owl. ")
            web.pages["/"] = words("list", ["/text", "/gone", "/late", "/same", "/new"])
            web.pages["/new"] = words("Burrowing owls. ")
            del web.pages["/gone"]
            await come_back(config, self.out, all_pages=True)
            self.second = time.time()
            web.pages["/text"] = words("Claws at last. They stay. ")
            await come_back(config, self.out)
