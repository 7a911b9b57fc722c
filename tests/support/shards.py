"""A written web of many hosts for crawls by shards, and what must hold of their folders."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from consistency import check_consistent
from loopback import HTML, Recorder, Write, config_for, page, recording, redirect

from honeyguide.cluster.assignment import Assignment
from honeyguide.collection.collection import Collection
from honeyguide.config.schema import Config
from honeyguide.lab.webs.served import Served
from honeyguide.model import Outcome
from honeyguide.store.shards import load, shard_folder

HOSTS = 12
PAGES = 8


def host(number: int) -> str:
    """A host of the web, each of a domain of its own."""
    return f"http://site{number % HOSTS}.example"


def write(url: str) -> Served | None:
    """Pages that link across hosts, with redirects, dead links and links that are not to be followed."""
    name, _, path = url.removeprefix("http://site").partition(".example")
    if not name.isdigit() or not 0 <= int(name) < HOSTS:
        return None
    number = int(name)
    if path == "/moved":
        return redirect(f"{host(number + 5)}/3")
    place = path.removeprefix("/") or "0"
    if not place.isdigit() or int(place) >= PAGES:
        return None
    step = int(place)
    links = [f"{host(number)}/{step + 1}", f"{host(number + 1)}/{step}", f"{host(number * 3 + 2)}/{step + 2}"]
    links += [f"{host(number + 4)}/moved", f"{host(number + 2)}/dead", "https://outside.test/page"]
    told = page(*links, text=f"owl {number} {step}")
    secret = f'<a rel="nofollow" href="{host(number + 3)}/7">owl</a>'.encode()
    return Served(200, HTML, told.body + secret)


@contextmanager
def recording_aside(answer: Write) -> Iterator[Recorder]:
    """As `recording`, in a thread of its own: what blocks the test's loop does not block the server."""
    ready, over = threading.Event(), threading.Event()
    found: list[Recorder] = []

    async def serve() -> None:
        async with recording(answer) as server:
            found.append(server)
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    ready.wait()
    try:
        yield found[0]
    finally:
        over.set()
        thread.join()


def sharded_config(connect_to: dict[str, str], **tables: dict[str, object]) -> Config:
    """A topic of this web."""
    crawl: dict[str, object] = {"max_pages": "unlimited", **tables.pop("crawl", {})}
    politeness = {"ip_at_once": 64, **tables.pop("politeness", {})}
    limits = config_for([], {}).politeness.model_dump(exclude_unset=True)
    return config_for(
        [f"{host(0)}/", f"{host(7)}/"],
        connect_to,
        crawl=crawl,
        politeness={**limits, **politeness},
        scope={"deny_domains": ["outside.test"]},
        **tables,
    )


def ends(folder: Path) -> dict[str, Outcome]:
    """What became of every URL that is a folder's own."""
    with Collection.open(folder) as collection:
        size = collection.state.columns().size
        records = [collection.state.url_by_row(row) for row in range(1, size + 1)]
        return {one.url: one.status for one in records if one and one.status is not Outcome.ELSEWHERE}


def all_ends(out: Path, *, moved: bool = False) -> dict[str, Outcome]:
    """What became of every URL of all shards: each is one shard, its owner unless hosts moved."""
    manifest = load(out)
    owners = Assignment(manifest.shards)
    found: dict[str, Outcome] = {}
    for shard in manifest.folders:
        for url, outcome in ends(shard_folder(out, shard)).items():
            assert moved or owners.of_url(url) == shard, url
            assert url not in found, url
            found[url] = outcome
    return found


def check_shards(out: Path, *, warcio: bool = False) -> None:
    """Every shard's folder is an ordinary, whole collection."""
    for shard in load(out).folders:
        check_consistent(shard_folder(out, shard), warcio=warcio)


def asked(urls: list[str]) -> Counter[str]:
    """How often each page was asked for."""
    return Counter(url for url in urls if not url.endswith("/robots.txt"))


TOPIC = """
[topic]
name = "owls"
keywords = ["owl", "barn owl"]
[crawl]
seeds = ["http://site0.example/", "http://site7.example/"]
recipe = "RECIPE"
max_pages = "unlimited"
max_pages_per_domain = "unlimited"
parse_workers = 1
[identity]
user_agent = "honeyguide-test/0.1 (+https://example.org/)"
[politeness]
delay = DELAY
ip_delay = 0.0
slow_factor = 0.0
ip_at_once = 64
max_retries = 0
[network]
connect_to = {"*.example" = "127.0.0.1:PORT"}
"""


def topic_file(folder: Path, port: int, recipe: str = "breadth-first", delay: float = 0.3) -> Path:
    """A topic file for this web."""
    text = TOPIC.replace("PORT", str(port)).replace("RECIPE", recipe).replace("DELAY", str(delay))
    (folder / "topic.toml").write_text(text)
    return folder / "topic.toml"


def command(*words: str) -> subprocess.Popen[str]:
    """A command, in a process group of its own, as a terminal starts it."""
    return subprocess.Popen(
        [sys.executable, "-m", "honeyguide", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
