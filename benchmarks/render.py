"""What rendering costs: pages a second and memory, with and without browsers.

    .venv/bin/python benchmarks/render.py [--hosts 4] [--pages 10] [--browsers 1 2 4]

An application (tests/support/application.py) is served on loopback under several names; its pages are shells
that one script fills from an interface. All of them are seeds, so both kinds of crawl fetch the same pages.
Prints a table: pages a second, characters of text found, requests that the server saw, and the most memory
that the browsers took together (what is read from files not counted).
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from application import Application
from loopback import config_for, crawl_all, recording

from honeyguide.collection.collection import Collection
from honeyguide.fetch.browser import BrowserPool
from honeyguide.fetch.process_tree import descendants, own_memory

MEBIBYTE = 1 << 20


async def watch(most: list[int], pools: list[BrowserPool]) -> None:
    """Note the most memory that browsers take."""
    while True:
        taken = sum(own_memory([pid, *descendants(pid)]) for pool in pools for pid in pool.processes())
        most[0] = max(most[0], taken)
        await asyncio.sleep(0.2)


async def measure(hosts: int, pages: int, browsers: int) -> tuple[float, int, int, float]:
    """Pages a second, characters of text, requests, MiB of the browsers."""
    pools: list[BrowserPool] = []
    made = BrowserPool.__init__

    def noting(self: BrowserPool, *arguments: object, **options: object) -> None:
        made(self, *arguments, **options)  # type: ignore[arg-type]
        pools.append(self)

    BrowserPool.__init__ = noting  # type: ignore[assignment, method-assign]
    most = [0]
    with tempfile.TemporaryDirectory() as folder:
        async with recording(Application(pages)) as server:
            seeds = [
                f"http://h{host}.example/{f'owl/{page}' if page else ''}"
                for page in range(pages)
                for host in range(hosts)
            ]
            fetch = {"render": "auto", "browsers": browsers} if browsers else {"render": "never"}
            watcher = asyncio.ensure_future(watch(most, pools))
            began = time.perf_counter()
            _, events = await crawl_all(config_for(seeds, server.connect_to, fetch=fetch), Path(folder) / "c")
            seconds = time.perf_counter() - began
            watcher.cancel()
            count = sum(event.kind == "page" for event in events)
            requests = len(server.urls)
        with Collection.open(Path(folder) / "c") as collection:
            text = sum(page.text_bytes for page in collection.state.pages())
    BrowserPool.__init__ = made  # type: ignore[method-assign]
    return count / seconds, text, requests, most[0] / MEBIBYTE


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--hosts", type=int, default=4)
    options.add_argument("--pages", type=int, default=10, help="of each host")
    options.add_argument("--browsers", type=int, nargs="+", default=[1, 2, 4])
    given = options.parse_args()
    print(f"{given.hosts} hosts, {given.pages} pages each")
    print("| browsers | pages a second | characters of text | requests | memory of the browsers (MiB) |")
    print("| --- | --- | --- | --- | --- |")
    for browsers in (0, *given.browsers):
        rate, text, requests, memory = asyncio.run(measure(given.hosts, given.pages, browsers))
        print(f"| {browsers or 'none'} | {rate:.2f} | {text:,} | {requests:,} | {memory:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
