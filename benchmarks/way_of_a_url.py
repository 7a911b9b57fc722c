"""How many files a URL's way crosses from the queue to the commit, and how many a crawl's set-up.

    python benchmarks/way_of_a_url.py [--list]

Crawls a dozen pages of a small site over HTTP (best-first, archive and index on, parsing in this process) and
notes every file of the package in which a function runs: from `Crawl(...)` to the first pop, and from the pop
of one page to its commit. Record types: structs, data classes and named tuples first seen there.
"""

from __future__ import annotations

import asyncio
import dataclasses
import http.server
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

import honeyguide
from honeyguide.config.load import check_values
from honeyguide.engine.clock import VirtualClock
from honeyguide.engine.committer import Committer
from honeyguide.frontier.frontier import Frontier
from honeyguide.job.crawl import Crawl

ROOT = str(Path(honeyguide.__file__).parent)
FOLLOWED = 6
"""The page whose way is followed: by then, robots.txt is known and everything has been used once."""


class Site(http.server.BaseHTTPRequestHandler):
    """Pages /0, /1, ... that link to the next five."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/robots.txt":
            body, kind = b"User-agent: *\nDisallow: /private\n", "text/plain"
        else:
            number = int(self.path.strip("/"))
            links = "".join(
                f'<li><a href="/{n}">owl page {n}</a></li>' for n in range(number + 1, number + 6)
            )
            text = f"The barn owl {number} hunts at night. " + f"word{number} " * 40
            page = f"<title>Owl {number}</title><p>{text}</p><ul>{links}</ul>"
            body, kind = page.encode(), "text/html; charset=utf-8"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Quiet."""


class Trace:
    """Files and record types by phase: `set-up`, `idle`, `way`."""

    def __init__(self) -> None:
        self.phase = "set-up"
        self.files: dict[str, set[str]] = {"set-up": set(), "idle": set(), "way": set()}
        self.records: dict[str, set[str]] = {"set-up": set(), "idle": set(), "way": set()}
        self._held: dict[int, object] = {}
        self._pops = 0

    def profile(self, frame: FrameType, event: str, value: object) -> None:
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(ROOT):
            return
        if code.co_name == "<module>":
            return
        self.files[self.phase].add(code.co_filename[len(ROOT) + 1 :])
        for one in (*frame.f_locals.values(), *((value,) if event == "return" else ())):
            self._look(one)

    def _look(self, value: object, depth: int = 0) -> None:
        kind = type(value)
        if kind.__module__.startswith("honeyguide") and is_record(kind):
            if id(value) not in self._held:
                self._held[id(value)] = value  # kept, so that its identity is not used again
                self.records[self.phase].add(f"{kind.__module__}.{kind.__qualname__}")
        elif isinstance(value, tuple | list) and depth < 2:
            for one in value[:3]:
                self._look(one, depth + 1)

    def popping(self, pop: Callable[..., Any]) -> Callable[..., Any]:
        def traced(frontier: Frontier, now: float, **given: Any) -> Any:
            if threading.current_thread() is threading.main_thread():
                if self.phase == "set-up":
                    self.phase = "idle"
                if self._pops == FOLLOWED:
                    self.phase = "way"
                found = pop(frontier, now, **given)
                self._pops += found is not None
                return found
            return pop(frontier, now, **given)

        return traced

    def committing(self, commit: Callable[..., Any]) -> Callable[..., Any]:
        def traced(committer: Committer, now: float) -> None:
            commit(committer, now)
            if self.phase == "way":
                self.phase = "idle"
                self._pops = FOLLOWED + 1

        return traced


def is_record(kind: type) -> bool:
    named = issubclass(kind, tuple) and hasattr(kind, "_fields")
    return issubclass(kind, msgspec.Struct) or dataclasses.is_dataclass(kind) or named


async def crawl(port: int, out: Path) -> None:
    config = check_values(
        {
            "topic": {"name": "owls", "keywords": ["owl", "barn owl"]},
            "crawl": {"seeds": [f"http://127.0.0.1:{port}/0"], "max_pages": 12, "recipe": "best-first"},
            "network": {"allow_net": ["127.0.0.0/8"]},
            "politeness": {"delay": 0.0},
        }
    )
    async for _ in Crawl(config, out=out, clock=VirtualClock()).run():
        pass


def main() -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    trace = Trace()
    Frontier.pop = trace.popping(Frontier.pop)  # type: ignore[method-assign]
    Committer.commit = trace.committing(Committer.commit)  # type: ignore[method-assign]
    Committer.due = lambda *_: True  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        threading.setprofile(trace.profile)
        sys.setprofile(trace.profile)
        asyncio.run(crawl(server.server_address[1], Path(folder) / "owls"))
        sys.setprofile(None)
        threading.setprofile(None)
    server.shutdown()
    for phase, title in (("set-up", "set-up of a crawl"), ("way", "queue to commit, one page")):
        print(f"{title}: {len(trace.files[phase])} files, {len(trace.records[phase])} record types")
        if "--list" in sys.argv:
            print(*(f"  {name}" for name in sorted(trace.files[phase])), sep="\n")
            print(*(f"  {name}" for name in sorted(trace.records[phase])), sep="\n")


if __name__ == "__main__":
    main()
