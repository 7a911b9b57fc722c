"""Real Scrapy on a served web: the same spider with the same number of requests, with and without."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from honeyguide.lab.webs.generated import GeneratedWeb, WebSpec, seeds
from honeyguide.lab.webs.serve import start_server

pytest.importorskip("scrapy")

SPEC = WebSpec(seed=11, hosts=60, pages=3000, topics=8)
REQUESTS = 300
SPIDER = textwrap.dedent(
    """
    import json, sys
    import scrapy
    from scrapy.crawler import CrawlerProcess

    asked = json.loads(sys.argv[1])

    class Plain(scrapy.Spider):
        name = "plain"

        async def start(self):
            for url in asked["seeds"]:
                yield scrapy.Request(url, meta={"proxy": asked["proxy"]})

        def parse(self, response):
            verdict = response.meta.get("honeyguide")
            yield {"url": response.url, "seen": verdict is not None}
            for link in response.css("a::attr(href)").getall():
                yield response.follow(link, meta={"proxy": asked["proxy"]})

    settings = {
        "CLOSESPIDER_PAGECOUNT": asked["requests"], "ROBOTSTXT_OBEY": False, "LOG_LEVEL": "CRITICAL",
        "CONCURRENT_REQUESTS": 4, "DOWNLOAD_DELAY": 0, "RETRY_ENABLED": False, "DOWNLOAD_TIMEOUT": 20,
        "TELNETCONSOLE_ENABLED": False, "FEEDS": {asked["out"]: {"format": "jsonlines"}}, **asked["settings"],
    }
    process = CrawlerProcess(settings)
    process.crawl(Plain)
    process.start()
    """
)


def crawled(
    tmp_path: Path, name: str, proxy: str, start: list[str], settings: dict[str, object]
) -> list[str]:
    """Addresses of the pages that the spider was given."""
    script, out = tmp_path / "spider.py", tmp_path / f"{name}.jsonl"
    script.write_text(SPIDER)
    asked = {"seeds": start, "proxy": proxy, "requests": REQUESTS, "out": str(out), "settings": settings}
    done = subprocess.run(
        [sys.executable, str(script), json.dumps(asked)],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "honeyguide" not in done.stderr, done.stderr  # failing hosts of the web may be there
    items = [json.loads(line) for line in out.read_text().splitlines()]
    assert all(item["seen"] for item in items) or not settings
    if settings:
        assert all(set(item["honeyguide"]) == {"score", "on_topic"} for item in items)
    return [item["url"] for item in items]


@pytest.mark.slow
def test_at_least_twice_the_pages_on_topic_at_the_same_number_of_requests(tmp_path: Path) -> None:
    web = GeneratedWeb(SPEC)
    name = web.topics[0]
    start = list(seeds(web, name, distance=2))
    (tmp_path / "topic.toml").write_text(
        f'[topic]\nname = "{name}"\nkeywords = {json.dumps(list(web.keywords(name)[:8]))}\n'
        f"[crawl]\nrecipe = 'scout'\nseeds = {json.dumps(start)}\n"
    )
    led: dict[str, object] = {
        "ADDONS": {"honeyguide.integrations.scrapy.HoneyguideAddon": 500},
        "HONEYGUIDE_TOPIC": str(tmp_path / "topic.toml"),
    }
    with start_server(SPEC) as server:
        plain = crawled(tmp_path, "plain", server.proxy, start, {})
        focused = crawled(tmp_path, "focused", server.proxy, start, led)
    counts = []
    for urls in (plain, focused):
        kept = urls[:REQUESTS]
        counts.append(sum(web.truth(url).topic == name for url in kept))
    print(f"on topic in {REQUESTS} requests: plain {counts[0]}, with Honeyguide {counts[1]}")  # noqa: T201
    assert len(focused) >= REQUESTS * 0.9
    assert counts[1] >= 2 * counts[0] > 0
