"""A whole crawl: Honeyguide (fetch, parse, judge, rank, store, archive) beside Scrapy and Crawlee.

A generated web of pages of 20-60 KB with 50-100 links is written to files once and served by nginx (or, where
there is none, by a small server of its own) on loopback. Every host is an address of its own in 127.1.0.0/16,
so that no crawler needs a proxy or a resolver. All crawl the same web with the same concurrency, robots.txt
obeyed, no delay. CPU time is that of all processes of a crawler, without start-up. Run:

    python benchmarks/crawl.py [--full] [--pages 600] [--repeat 1] [--only honeyguide scrapy crawlee]

Scrapy and Crawlee are installed into build/bench-venv by the first run.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import json
import os
import pstats
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
OTHERS = BUILD / "bench-venv"
WEB = BUILD / "bench-web-2"
PORT = 8765
SEEDS = 12
CRAWLERS = ("honeyguide", "scrapy", "crawlee")


# The web


def write_web(folder: Path, pages: int) -> list[str]:
    """Write every page of a generated web as a file, its hosts turned into addresses. Seeds."""
    from honeyguide.lab.generated import GeneratedWeb, WebSpec

    spec = WebSpec(
        words_per_page=3_200, links_per_page=60, pages=pages, hosts=max(20, pages // 60), slow=0.0,
        failing=0.0, redirecting=0.0, traps=0.0, mirrors=0.0, closed=0.0, crawl_delay=0.0, gzip=0.0,
        tunnels=0.0, dead_links=0.0,
    )  # fmt: skip
    marker = folder / "seeds.json"
    if marker.exists():
        return list(json.loads(marker.read_text()))
    shutil.rmtree(folder, ignore_errors=True)
    web = GeneratedWeb(spec)
    address = {host: f"127.1.{n // 250}.{n % 250 + 1}" for n, host in enumerate(web.hosts())}
    pattern = re.compile("|".join(re.escape(host) for host in sorted(address, key=len, reverse=True)))

    def local(text: str) -> str:
        return pattern.sub(lambda match: f"{address[match[0]]}:{PORT}", text)

    for host in web.hosts():
        (folder / address[host]).mkdir(parents=True)
        (folder / address[host] / "robots.txt").write_text(local(web.robots(host)))
    urls = dict.fromkeys(web.pages())
    for url in list(urls):  # homes, sections and articles; what else they name is one step away
        urls |= dict.fromkeys(web.out_links(url))
    for url in urls:
        host, _, path = url.partition("://")[2].partition("/")
        if web.get(url).status != 200 or "?" in path:
            continue
        place = folder / address[host] / (path + "index.html" if path.endswith("/") or not path else path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(local(web.get(url).body.decode()))
    topic = web.topics[0]
    seeds = [local(url) for url in web.seeds(topic, distance=1, count=SEEDS)]
    marker.write_text(json.dumps([topic, web.keywords(topic), seeds]))
    return [topic, web.keywords(topic), seeds]  # type: ignore[list-item]


NGINX = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log /dev/null;
events {{ worker_connections 4096; }}
http {{
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000;
  default_type text/html; charset utf-8;
  open_file_cache max=20000 inactive=600s;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{ listen 0.0.0.0:{port} backlog=4096; root {web}/$server_addr; index index.html; }}
}}
"""


@contextmanager
def serving(web: Path) -> Iterator[str]:
    """Serve the files; the server's name."""
    folder = Path(tempfile.mkdtemp())
    program = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
    if program:
        (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=PORT, web=web))
        command = [program, "-c", str(folder / "nginx.conf"), "-p", str(folder), "-e", "/dev/null"]
    else:
        command = [sys.executable, __file__, "--child", "server", "--web", str(web)]
    process = subprocess.Popen(command)
    time.sleep(1.0)
    try:
        yield "nginx" if program else "asyncio"
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def serve_files(web: Path) -> None:
    """The server for machines without nginx: every file in memory, one write an answer."""
    answers: dict[str, bytes] = {}
    for path in web.rglob("*"):
        if path.is_file():
            body = path.read_bytes()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
            name = str(path.relative_to(web)).removesuffix("index.html")
            answers[name] = head.encode() + body

    class Server(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self.transport = transport
            self.host = transport.get_extra_info("sockname")[0]

        def data_received(self, data: bytes) -> None:
            path = data.split(b" ", 2)[1].decode()
            found = answers.get(self.host + path, b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
            self.transport.write(found)  # type: ignore[attr-defined]

    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(Server, "0.0.0.0", PORT, backlog=4096)
        await server.serve_forever()

    import uvloop

    uvloop.run(run())


# The crawlers; each prints one JSON line: pages, seconds, CPU seconds spent before the first request


def honeyguide(job: dict[str, object], *, profile: Path | None = None) -> dict[str, float]:
    from honeyguide.config.crawl import Crawl, run_here
    from honeyguide.config.load import check_values

    config = check_values(
        {
            "topic": {"name": job["topic"], "keywords": job["keywords"]},
            "crawl": {
                "seeds": job["seeds"],
                "recipe": job.get("recipe", "best-first"),
                "max_pages": job["pages"],
                "max_pages_per_domain": "unlimited",
                "concurrency": job["concurrency"],
                "parse_workers": job.get("workers", 1),
            },
            "identity": {"user_agent": "honeyguide-bench/0.1 (+https://example.org/)"},
            "politeness": {
                "delay": 0.0,
                "ip_delay": 0.0,
                "ip_at_once": 100,
                "slow_factor": 0.0,
                "max_retries": 0,
            },
            "network": {"allow_net": ["127.0.0.0/8"]},
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        crawl = Crawl(config, out=Path(folder) / "out")
        facts = {"start_cpu": time.process_time()}

        async def watch() -> None:
            async for _ in crawl.run():
                pass

        started = time.monotonic()
        if profile:
            profiler = cProfile.Profile(time.thread_time)
            profiler.enable()
        run_here(watch)
        if profile:
            profiler.disable()
            profiler.dump_stats(profile)
        facts |= {"pages": crawl.tally.pages, "seconds": time.monotonic() - started}
    facts["workers_cpu"] = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    return facts


def scrapy(job: dict[str, object]) -> dict[str, float]:
    from scrapy import Request, Spider
    from scrapy.crawler import CrawlerProcess
    from scrapy.exceptions import CloseSpider
    from scrapy.linkextractors import LinkExtractor

    pages = 0

    class Bench(Spider):  # type: ignore[misc]
        name = "bench"
        extractor = LinkExtractor()

        async def start(self):  # type: ignore[no-untyped-def]
            for url in job["seeds"]:  # type: ignore[attr-defined]
                yield Request(url)

        def parse(self, response):  # type: ignore[no-untyped-def]
            nonlocal pages
            pages += 1
            if pages >= int(str(job["pages"])):
                raise CloseSpider("enough")
            response.css("title::text").get()
            for link in self.extractor.extract_links(response):
                yield Request(link.url)

    process = CrawlerProcess(
        {
            "ROBOTSTXT_OBEY": True,
            "CONCURRENT_REQUESTS": job["concurrency"],
            "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
            "DOWNLOAD_DELAY": 0,
            "LOG_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "COOKIES_ENABLED": False,
            "RETRY_ENABLED": False,
        }
    )
    process.crawl(Bench)
    facts = {"start_cpu": time.process_time()}
    started = time.monotonic()
    process.start()
    return facts | {"pages": pages, "seconds": time.monotonic() - started}


def crawlee(job: dict[str, object]) -> dict[str, float]:
    import logging

    from crawlee import ConcurrencySettings
    from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
    from crawlee.storage_clients import MemoryStorageClient

    pages = 0
    concurrency = int(str(job["concurrency"]))

    async def run() -> dict[str, float]:
        crawler = ParselCrawler(
            respect_robots_txt_file=True,
            concurrency_settings=ConcurrencySettings(
                min_concurrency=concurrency, max_concurrency=concurrency, desired_concurrency=concurrency
            ),
            storage_client=MemoryStorageClient(),
            configure_logging=False,
        )

        @crawler.router.default_handler
        async def handle(context: ParselCrawlingContext) -> None:
            nonlocal pages
            pages += 1
            if pages >= int(str(job["pages"])):
                crawler.stop()
            context.selector.css("title::text").get()
            await context.enqueue_links(strategy="all")

        facts = {"start_cpu": time.process_time()}
        started = time.monotonic()
        await crawler.run(list(job["seeds"]))  # type: ignore[call-overload]
        return facts | {"pages": pages, "seconds": time.monotonic() - started}

    logging.disable(logging.CRITICAL)
    return asyncio.run(run())


# Measuring


def run_child(name: str, job: dict[str, object]) -> dict[str, float]:
    """One crawl in a fresh process: pages, seconds, CPU seconds of it and all its children."""
    python = sys.executable if name == "honeyguide" else str(OTHERS / "bin" / "python")
    command = [python, __file__, "--child", name, "--job", json.dumps(job)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONWARNINGS": "ignore"}
    )
    assert process.stdout is not None
    said = process.stdout.read().decode().strip().splitlines()
    _, status, usage = os.wait4(process.pid, 0)
    if status or not said:
        raise SystemExit(f"{name} failed")
    facts: dict[str, float] = json.loads(said[-1])
    facts["cpu"] = usage.ru_utime + usage.ru_stime - facts["start_cpu"]
    facts["pages_per_cpu_second"] = facts["pages"] / facts["cpu"]
    facts["pages_per_second"] = facts["pages"] / facts["seconds"]
    facts["ms_per_page"] = 1000 * facts["cpu"] / facts["pages"]
    facts["memory_MiB"] = usage.ru_maxrss // 1024
    return facts


def install_others() -> bool:
    """Scrapy and Crawlee in an environment of their own; false where they cannot be had."""
    python = OTHERS / "bin" / "python"
    if not python.exists():
        venv.create(OTHERS, with_pip=True)
    known = [python, "-c", "import scrapy, crawlee, parsel"]
    if subprocess.run(known, capture_output=True, check=False).returncode == 0:
        return True
    command = [python, "-m", "pip", "install", "--quiet", "scrapy", "crawlee[parsel]"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


STAGES = {
    "archive": ("store/archive", "zlib", "_hashlib", "sha1"),
    "store": ("sqlite3", "store/"),
    "judge": ("relevance/", "text/"),
    "rank": ("ordering/",),
    "frontier": ("frontier/",),
    "urls, traps, scope": ("honeyguide/web/", "can_ada", "ada_url"),
    "parse pool": ("parse/",),
    "fetch": (
        "fetch/",
        "aiohttp",
        "yarl",
        "multidict",
        "propcache",
        "brotli",
        "zstandard",
        "ssl.py",
        "http/",
    ),
    "engine": ("engine/", "config/"),
}


def stages(path: Path, pages: int, cpu_ms: float) -> dict[str, float]:
    """Milliseconds of a page by stage: a profile's own times, scaled to the unprofiled run."""
    found: dict[str, float] = {}
    for (file, _, name), (_, _, own, _, _) in pstats.Stats(str(path)).stats.items():  # type: ignore[attr-defined]
        where = f"{file.replace(str(ROOT), '')} {name}"
        stage = next(
            (s for s, marks in STAGES.items() if any(mark in where for mark in marks)), "loop and rest"
        )
        found[stage] = found.get(stage, 0.0) + own
    scale = cpu_ms / (1000 * sum(found.values()) / pages)
    return {
        stage: round(1000 * own / pages * scale, 3)
        for stage, own in sorted(found.items(), key=lambda item: -item[1])
    }


def where_it_goes(job: dict[str, object], ms: float, profile: Path) -> dict[str, float]:
    """Where a page's milliseconds go, from one profiled crawl."""
    facts = run_child("honeyguide", {**job, "profile": str(profile)})
    workers = 1000 * facts["workers_cpu"] / facts["pages"]
    return {"parse (workers)": round(workers, 3), **stages(profile, int(facts["pages"]), ms - workers)}


def table(rows: dict[str, dict[str, float]]) -> str:
    names = ("pages", "ms_per_page", "pages_per_cpu_second", "pages_per_second", "memory_MiB")
    lines = ["crawler".ljust(24) + "".join(name.rjust(22) for name in names)]
    for crawler, facts in rows.items():
        lines.append(crawler.ljust(24) + "".join(f"{facts[name]:22.1f}" for name in names))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="5,000 pages, three times")
    parser.add_argument("--pages", type=int)
    parser.add_argument("--repeat", type=int)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--only", nargs="*", default=list(CRAWLERS))
    parser.add_argument("--profile", type=Path, help="keep the profile here")
    parser.add_argument("--child")
    parser.add_argument("--job", default="{}")
    parser.add_argument("--web", type=Path)
    given = parser.parse_args()
    if given.child == "server":
        serve_files(given.web)
        return
    if given.child:
        job = json.loads(given.job)
        children: dict[str, Callable[..., dict[str, float]]] = {"scrapy": scrapy, "crawlee": crawlee}
        if given.child == "honeyguide":
            profile = job.pop("profile", None)
            facts = honeyguide(job, profile=Path(profile) if profile else None)
        else:
            facts = children[given.child](job)
        print(json.dumps(facts), flush=True)
        return
    measure(given)


def measure(given: argparse.Namespace) -> None:
    pages = given.pages or (5_000 if given.full else 600)
    repeat = given.repeat or (3 if given.full else 1)
    size = 6_000 if pages > 1_500 else 2_000
    web = WEB / str(size)
    topic, keywords, seeds = write_web(web, size)
    job: dict[str, object] = {
        "topic": topic,
        "keywords": keywords[:8],
        "seeds": seeds,
        "pages": pages,
        "concurrency": given.concurrency,
    }
    crawlers = [name for name in given.only if name == "honeyguide"]
    if set(given.only) - {"honeyguide"}:
        if install_others():
            crawlers = list(given.only)
        else:
            print("Scrapy and Crawlee could not be installed; measuring Honeyguide alone")
    results: dict[str, dict[str, float]] = {}
    with serving(web) as server:
        runs: dict[str, list[dict[str, float]]] = {}
        variants = dict.fromkeys(crawlers, job)
        if given.full and "honeyguide" in crawlers:
            variants["honeyguide, 2 workers"] = {**job, "workers": 2}
        for _ in range(repeat):
            for name, one in variants.items():
                runs.setdefault(name, []).append(run_child(name.partition(",")[0], one))
        for name, facts in runs.items():
            results[name] = {key: statistics.median(run[key] for run in facts) for key in facts[0]}
        split: dict[str, float] = {}
        if "honeyguide" in results:
            profile = given.profile or Path(tempfile.mkdtemp()) / "profile"
            split = where_it_goes(job, results["honeyguide"]["ms_per_page"], profile)
    print(table(results))
    if split:
        print("\nwhere a page's milliseconds of CPU go (Honeyguide)")
        print("\n".join(f"  {stage:24s}{value:8.3f}" for stage, value in split.items()))
    facts_of_all = {
        "server": server,
        "pages": pages,
        "repeat": repeat,
        "crawlers": results,
        "stages_ms": split,
    }
    print(json.dumps(facts_of_all))


if __name__ == "__main__":
    main()
