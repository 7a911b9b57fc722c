"""How long the event loop is held up by large sitemaps and robots files.

One live crawl over loopback: each of some hosts has a robots.txt of 400 KB that names a sitemap of 50,000
addresses, all dated, and a handful of pages. Sitemaps are followed as by default, where a host proved
relevant, or all of them (`--all`). What is read elsewhere (`parse/worker.py`) does not hold the loop up; what
is then done with it does. Run:

    python benchmarks/listings.py [--hosts 4] [--addresses 50000] [--all] [--recipe scout]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import tempfile
import time
from pathlib import Path

from compared.loop_watch import LoopWatch

PORT = 8769
PAGES = 6
"""Pages of a host that its pages link to; what its sitemap names comes beside them."""
PLAIN = 200
"""From this host on, none has a sitemap: one of those is crawled first, so that all is imported."""
RULES = 10_000
"""Lines of a robots.txt."""


def host(number: int) -> str:
    return f"127.4.0.{number + 1}:{PORT}"


def answer(where: str, path: str, addresses: int) -> bytes:
    kind = "text/html"
    plain = int(where.rpartition(":")[0].rpartition(".")[2]) > PLAIN
    if path == "/robots.txt" and not plain:
        kind = "text/plain"
        rules = "\n".join(f"Disallow: /closed/{n}/*.cgi$" for n in range(RULES))
        body = f"User-agent: *\n{rules}\nSitemap: http://{where}/sitemap.xml\n"
    elif path == "/sitemap.xml" and not plain:
        kind = "application/xml"
        urls = "".join(
            f"<url><loc>http://{where}/{n}.html</loc><lastmod>2026-01-{n % 28 + 1:02d}</lastmod></url>"
            for n in range(addresses)
        )
        body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
    else:
        text = f"Owls hunt at night, the barn owl of {path} also by day. " * 40
        links = "".join(f'<li><a href="/{n}.html">barn owl {n}</a></li>' for n in range(PAGES))
        body = f"<title>Owls {path}</title><h1>Owls</h1><p>{text}</p><ul>{links}</ul>"
    data = body.encode()
    return (
        b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
        % (
            kind.encode(),
            len(data),
        )
        + data
    )


class Talk(asyncio.Protocol):
    """Every answer is made once."""

    answers: dict[tuple[str, str], bytes] = {}  # noqa: RUF012 - one for all connections

    def __init__(self, addresses: int) -> None:
        self.addresses = addresses

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: asyncio.WriteTransport = transport  # type: ignore[assignment]
        self.host = f"{transport.get_extra_info('sockname')[0]}:{PORT}"

    def data_received(self, data: bytes) -> None:
        key = self.host, data.split(b" ", 2)[1].decode()
        if key not in self.answers:
            self.answers[key] = answer(*key, self.addresses)
        self.transport.write(self.answers[key])


def serve(addresses: int) -> None:
    """The web, in a process of its own."""

    async def run() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Talk(addresses), "0.0.0.0", PORT, backlog=4096)
        await server.serve_forever()

    asyncio.run(run())


def crawl(given: argparse.Namespace, hosts: range, pages: int) -> dict[str, object]:
    """One crawl in this process."""
    from honeyguide.config.load import check_values
    from honeyguide.job.crawl import Crawl, run_here

    table: dict[str, object] = {
        "seeds": [f"http://{host(number)}/" for number in hosts],
        "recipe": given.recipe,
        "max_pages": pages,
        "max_pages_per_domain": "unlimited",
    }
    if given.all:
        table["follow_sitemaps"] = True
    config = check_values(
        {
            "topic": {"name": "owls", "keywords": ["owl", "barn owl"]},
            "crawl": table,
            "identity": {"user_agent": "honeyguide-bench/0.1 (+https://example.org/)"},
            "politeness": {"delay": 0.0, "ip_delay": 0.0, "slow_factor": 0.0},
            "network": {"allow_net": ["127.0.0.0/8"]},
        }
    )
    read: list[str] = []
    longest = [0.0]
    with tempfile.TemporaryDirectory() as folder:
        job = Crawl(config, out=Path(folder) / "out")

        async def watch() -> None:
            async with LoopWatch() as loop:
                async for event in job.run():
                    if event.kind == "outcome" and event.data.get("outcome") == "listing":
                        read.append(str(event.data["reason"]))
                    if job.tally.pages < pages:
                        longest[0] = loop.longest_ms

        started = time.process_time()
        run_here(watch)
    return {
        "hosts": len(hosts),
        "addresses": given.addresses,
        "recipe": given.recipe,
        "all": given.all,
        "pages": job.tally.pages,
        "listings": len(read),
        "told": sorted(set(read)),
        "cpu_s": round(time.process_time() - started, 2),
        "longest_block_ms": round(longest[0], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--addresses", type=int, default=50_000, help="of each sitemap")
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--recipe", default="scout")
    parser.add_argument("--all", action="store_true", help="follow all sitemaps, and all they name")
    given = parser.parse_args()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(given.addresses,), daemon=True)
    server.start()
    time.sleep(1.0)
    try:
        crawl(given, range(PLAIN, PLAIN + 1), PAGES)
        print(json.dumps(crawl(given, range(given.hosts), given.pages)))
    finally:
        server.terminate()


if __name__ == "__main__":
    main()
