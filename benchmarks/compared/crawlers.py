"""The crawlers that are compared, each run in a process of its own: `python crawlers.py NAME JOB [PROFILE]`.

A job is a JSON object; each crawler prints one JSON line with pages and seconds.
"""

from __future__ import annotations

import asyncio
import cProfile
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
STARTING = 40
"""Pages that are not watched for blocks: the first ones import what they need."""


def honeyguide(job: dict[str, object], *, profile: Path | None = None) -> dict[str, float]:
    from compared.loop_watch import LoopWatch

    from honeyguide.config.load import check_values
    from honeyguide.job import assemble
    from honeyguide.job.crawl import Crawl, run_here
    from honeyguide.parse.pool import ParsePool

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
    if job.get("in_process"):  # not offered to users, whose pages cannot be trusted
        assemble.ParsePool = lambda _, **limits: ParsePool(0, **limits)  # type: ignore[assignment,misc]
    with tempfile.TemporaryDirectory() as folder:
        crawl = Crawl(config, out=Path(folder) / "out")
        facts: dict[str, float] = {"longest_block_ms": 0.0}

        async def watch() -> None:
            async with LoopWatch() as loop:
                async for event in crawl.run():
                    if event.kind == "page" and crawl.tally.pages <= STARTING:
                        loop.longest_ms = 0.0
                    # The last events come when all is saved and closed: nobody waits for the loop then.
                    if crawl.tally.pages < int(str(job["pages"])):
                        facts["longest_block_ms"] = loop.longest_ms

        started, worked = time.monotonic(), time.thread_time()
        if profile:
            profiler = cProfile.Profile(time.thread_time)
            profiler.enable()
        run_here(watch)
        if profile:
            profiler.disable()
            profiler.dump_stats(profile)
        facts |= {"pages": crawl.tally.pages, "seconds": time.monotonic() - started}
        facts["main_cpu"] = time.thread_time() - worked
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
    started = time.monotonic()
    process.start()
    return {"pages": pages, "seconds": time.monotonic() - started}


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

        started = time.monotonic()
        await crawler.run(list(job["seeds"]))  # type: ignore[call-overload]
        return {"pages": pages, "seconds": time.monotonic() - started}

    logging.disable(logging.CRITICAL)
    return asyncio.run(run())


if __name__ == "__main__":
    name, job = sys.argv[1], json.loads(sys.argv[2])
    if name == "honeyguide":
        facts = honeyguide(job, profile=Path(sys.argv[3]) if len(sys.argv) > 3 else None)
    else:
        facts = {"scrapy": scrapy, "crawlee": crawlee}[name](job)
    print(json.dumps(facts), flush=True)
