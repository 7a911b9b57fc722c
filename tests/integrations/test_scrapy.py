"""Real Scrapy on served webs: the same spider with the same number of requests, with and without."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from endless import endless_site

from honeyguide.lab.runner.load import load_experiment
from honeyguide.lab.runner.recorded_world import open_world
from honeyguide.lab.runner.situation import situation, tasks_of
from honeyguide.lab.webs.generated import GeneratedWeb, WebSpec, seeds
from honeyguide.lab.webs.serve import start_server
from honeyguide.web.url import canonical

pytest.importorskip("scrapy")

SPEC = WebSpec(seed=11, hosts=60, pages=3000, topics=8)
REQUESTS = 300
SPIDER = textwrap.dedent(
    """
    import json, sys
    import scrapy
    from scrapy.crawler import CrawlerProcess

    asked = json.loads(sys.argv[1])
    meta = {"proxy": asked["proxy"]} if asked["proxy"] else {}

    class Plain(scrapy.Spider):
        name = "plain"

        async def start(self):
            for url in asked["seeds"]:
                yield scrapy.Request(url, meta=meta)

        def parse(self, response):
            verdict = response.meta.get("honeyguide")
            yield {"url": response.url, "seen": verdict is not None}
            for link in response.css("a::attr(href)").getall():
                yield response.follow(link, meta=meta)

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
    tmp_path: Path,
    name: str,
    proxy: str,
    start: list[str],
    settings: dict[str, object],
    requests: int = REQUESTS,
) -> list[str]:
    """Addresses of the first pages that the spider was given, as many as there may be requests."""
    script, out = tmp_path / "spider.py", tmp_path / f"{name}.jsonl"
    script.write_text(SPIDER)
    asked = {"seeds": start, "proxy": proxy, "requests": requests, "out": str(out), "settings": settings}
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
    led = "ADDONS" in settings
    assert all(item["seen"] == led for item in items)
    if led:
        assert all(set(item["honeyguide"]) == {"score", "on_topic"} for item in items)
    return [item["url"] for item in items][:requests]


def write_topic(folder: Path, name: str, keywords: Sequence[str], start: Sequence[str]) -> dict[str, object]:
    """The three settings of a spider that is led, by default: no recipe is named."""
    file = folder / "topic.toml"
    file.write_text(
        f'[topic]\nname = "{name}"\nkeywords = {json.dumps(list(keywords))}\n'
        f"[crawl]\nseeds = {json.dumps(list(start))}\n"
    )
    return {
        "ADDONS": {"honeyguide.integrations.scrapy.HoneyguideAddon": 500},
        "HONEYGUIDE_TOPIC": str(file),
    }


@pytest.mark.realtime
def test_a_spider_is_led_and_what_the_topic_excludes_is_dropped(tmp_path: Path) -> None:
    with endless_site() as site:
        led = write_topic(tmp_path, "owls", ["owl"], [site])
        with (tmp_path / "topic.toml").open("a") as file:
            file.write('trap_zones = false\n[scope]\nexclude = ["*/2"]\n')
        seen = crawled(tmp_path, "led", "", [site], led, requests=8)
        plain = crawled(tmp_path, "plain", "", [site], {}, requests=8)
    assert len(seen) == 8
    assert f"{site}2" in plain
    assert f"{site}2" not in seen


@pytest.mark.slow
def test_at_least_twice_the_pages_on_topic_at_the_same_number_of_requests(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    web = GeneratedWeb(SPEC)
    name = web.topics[0]
    start = list(seeds(web, name, distance=2))
    led = write_topic(tmp_path, name, web.keywords(name)[:8], start)
    with start_server(SPEC) as server:
        plain = crawled(tmp_path, "plain", server.proxy, start, {})
        focused = crawled(tmp_path, "focused", server.proxy, start, led)
    counts = [sum(web.truth(url).topic == name for url in urls) for urls in (plain, focused)]
    shown = f"plain {counts[0]}, led {counts[1]}"
    record_property("figure", f"Scrapy, generated web, on topic in {REQUESTS} requests: {shown}")
    assert len(focused) >= REQUESTS * 0.9
    assert counts[1] >= 2 * counts[0] > 0


@pytest.fixture
def schools(shared_data: Path) -> Iterator[str]:
    """Wikipedia for Schools as it was recorded, served over HTTP; the proxy's address."""
    served = [sys.executable, "-m", "honeyguide", "lab", "serve", "schools", "--port", "0", "--json"]
    with subprocess.Popen(served, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = ""
        while not told.endswith("}\n"):
            told += process.stdout.readline()
        yield str(json.loads(told)["proxy"])
        process.terminate()


@pytest.mark.slow
def test_on_a_recorded_web_at_least_twice_as_many_over_all_topics(
    schools: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """All topics of the lab's experiment `schools`, from its seeds, with its keywords and labels."""
    experiment, world = load_experiment("schools").experiment, open_world("schools")
    sums = [0, 0, 0]
    for task in tasks_of(experiment, "schools", world):
        drawn = situation(experiment, task, world, repetition=0, given=[experiment.given])
        start = list(drawn.seeds)
        ways: dict[str, dict[str, object]] = {
            "plain": {},
            "breadth-first": {
                "DEPTH_PRIORITY": 1,
                "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
                "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
            },
            "led": write_topic(tmp_path, task.name, task.keywords, start),
        }
        counts = []
        for place, (way, settings) in enumerate(ways.items()):
            found = crawled(tmp_path, f"{len(sums)}-{way}-{task.name}", schools, start, settings)
            counts.append(len(drawn.targets & {canonical(url) for url in found}))
            sums[place] += counts[-1]
        shown = ", ".join(f"{way} {count}" for way, count in zip(ways, counts, strict=True))
        record_property("figure", f"Scrapy, {task.name}, on topic in {REQUESTS} requests: {shown}")
    record_property("figure", f"Scrapy, all: plain {sums[0]}, breadth-first {sums[1]}, led {sums[2]}")
    assert sums[2] >= 2 * sums[0] > 0
    assert sums[2] >= 2 * sums[1]
