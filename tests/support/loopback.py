"""Real HTTP crawls of small written webs on loopback, for tests that look from the server's side."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TypeAlias

from listening import listening

from honeyguide.collection.collection import Collection
from honeyguide.config.load import check_values
from honeyguide.config.schema import Config
from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.served import Served
from honeyguide.model import Event, Outcome
from honeyguide.web.url import canonical, url_id

Write: TypeAlias = Callable[[str], Served | None]
"""From a URL to its answer; None is 404."""

HTML = (("Content-Type", "text/html; charset=utf-8"),)


def page(*links: str, text: str = "owl") -> Served:
    """A page with these links."""
    anchors = "".join(f'<p><a href="{link}">owl</a></p>' for link in links)
    return Served(200, HTML, f"<title>{text}</title><p>{text} barn owl</p>{anchors}".encode())


def redirect(target: str, status: int = 302) -> Served:
    """A redirect."""
    return Served(status, (("Location", target),))


class Recorder:
    """A keep-alive HTTP server that notes every request head, and answers as it is told."""

    def __init__(self, write: Write | Mapping[str, Served]) -> None:
        self._write: Write = write.get if isinstance(write, Mapping) else write
        self.heads: list[bytes] = []
        self.urls: list[str] = []
        self.port = 0

    @property
    def connect_to(self) -> dict[str, str]:
        """Every name ending in `.example` is this server."""
        return {"*.example": f"127.0.0.1:{self.port}"}

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                url = self._note(head)
                answer = self._write(url) or Served(404)
                lines = [
                    f"HTTP/1.1 {answer.status} X",
                    *(f"{name}: {value}" for name, value in answer.headers),
                ]
                lines.append(f"Content-Length: {len(answer.body)}")
                writer.write("\r\n".join([*lines, "", ""]).encode() + answer.body)
                await writer.drain()

    def _note(self, head: bytes) -> str:
        self.heads.append(head)
        lines = head.decode().split("\r\n")
        host = next(line.partition(":")[2].strip() for line in lines if line.lower().startswith("host:"))
        self.urls.append(f"http://{host}{lines[0].split(' ')[1]}")
        return self.urls[-1]


@asynccontextmanager
async def recording(write: Write | Mapping[str, Served], *, port: int = 0) -> AsyncIterator[Recorder]:
    """Serve on 127.0.0.1 while the block lasts."""
    recorder = Recorder(write)
    async with listening(recorder.talk, port=port) as recorder.port:
        yield recorder


class Canary:
    """Listening sockets on this machine that nobody may connect to."""

    def __init__(self) -> None:
        first = socket.create_server(("127.0.0.1", 0))
        self.port = first.getsockname()[1]
        self._sockets = [first]
        with suppress(OSError):
            self._sockets.append(socket.create_server(("::1", self.port), family=socket.AF_INET6))
        for listener in self._sockets:
            listener.setblocking(False)

    def calls(self) -> int:
        """Connections since the last question."""
        found = 0
        for listener in self._sockets:
            with suppress(BlockingIOError):
                while True:
                    listener.accept()[0].close()
                    found += 1
        return found

    def close(self) -> None:
        """Stop listening."""
        for listener in self._sockets:
            listener.close()


def config_for(seeds: Iterable[str], connect_to: Mapping[str, str], **tables: Mapping[str, object]) -> Config:
    """A topic for tests: quick, no delays, everything else as it comes."""
    values: dict[str, dict[str, object]] = {
        "topic": {"name": "owls", "keywords": ["owl", "barn owl"]},
        "crawl": {
            "seeds": list(seeds),
            "recipe": "breadth-first",
            "max_pages": 1000,
            "max_pages_per_domain": "unlimited",
            "concurrency": 16,
            "parse_workers": 1,
        },
        "identity": {"user_agent": "honeyguide-test/0.1 (+https://example.org/)"},
        "politeness": {"delay": 0.0, "ip_delay": 0.0, "slow_factor": 0.0, "max_retries": 0},
        "limits": {"deadline": 5.0},
        "network": {"connect_to": dict(connect_to)},
    }
    for name, table in tables.items():
        values[name] = {**values.get(name, {}), **table}
    return check_values(values)


async def crawl_all(config: Config, out: Path | None) -> tuple[Crawl, list[Event]]:
    """Run a crawl to its end."""
    crawl = Crawl(config, out=out)
    return crawl, [event async for event in crawl.run()]


def outcomes(folder: Path) -> dict[str, Outcome]:
    """What became of every known URL."""
    with Collection.open(folder) as collection:
        size = collection.state.columns().size
        records = [collection.state.url_by_row(row) for row in range(1, size + 1)]
        return {record.url: record.status for record in records if record is not None}


def outcome_of(folder: Path, url: str) -> tuple[Outcome, str]:
    """What became of one URL, and why."""
    name = canonical(url)
    assert name is not None, url
    with Collection.open(folder) as collection:
        record = collection.state.url_by_row(collection.state.row_of(url_id(name)))
        assert record is not None, url
        return record.status, record.reason
