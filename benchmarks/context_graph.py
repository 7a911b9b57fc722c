"""The Context Focused Crawler's own cost: set-up against crawl, judging a page, rebuilding the graphs.

    python benchmarks/context_graph.py [--pages 400] [--live]

On the generated web in process: CPU seconds, and what politeness (one request a second and host) makes of the
set-up's requests. Time is made up and hosts are read one after the other, so that runs repeat; with `--live`
the clock is the real one, hosts are read side by side, and the seconds are those that a user waits.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time

from honeyguide.engine.clock import VirtualClock, WallClock
from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.generated import GeneratedFetcher, GeneratedWeb, WebSpec, seeds
from honeyguide.lab.webs.generated.walk import examples, graph
from honeyguide.model import Topic

WEB = GeneratedWeb(WebSpec(seed=3, hosts=60, pages=2000))


class Index:
    def __init__(self, starts: list[str]) -> None:
        self._back: dict[str, list[str]] = {}
        for source, targets in graph(WEB, starts).items():
            for target in targets:
                self._back.setdefault(target, []).append(source)

    def backlinks(
        self, url: str, coverage: float | None = None, *, limit: int | None = None
    ) -> tuple[str, ...]:
        return tuple(self._back.get(url, ())[:limit])


async def crawl(recipe: str, pages: int, *, live: bool) -> dict[str, object]:
    topic = WEB.topics[0]
    starts = seeds(WEB, topic, distance=3)
    asked = Topic(
        topic,
        keywords=tuple(WEB.keywords(topic)[:8]),
        seeds=tuple(starts),
        examples=tuple(examples(WEB, topic, 10)),
    )
    clock = WallClock() if live else VirtualClock()
    job = Crawl(
        asked,
        recipe=recipe,
        clock=clock,
        fetcher=GeneratedFetcher(WEB, clock),
        max_pages=pages,
        services={"web": Index(starts)},
    )
    started, began = time.process_time(), clock.now()
    set_up = until = 0.0
    learned: dict[str, object] = {}
    async for event in job.run():
        learned = event.data if event.kind == "learned" else learned
        if event.kind == "page" and not until:
            set_up, until = time.process_time() - started, event.at - began
    whole = time.process_time() - started
    return {
        "recipe": recipe,
        "pages": job.tally.pages,
        "setup_cpu_seconds": round(set_up, 2),
        "crawl_cpu_ms_per_page": round(1000 * (whole - set_up) / max(1, job.tally.pages), 2),
        "setup_questions": learned.get("requests", 0),
        "setup_pages": learned.get("fetched", 0),
        "setup_seconds_on_the_clock": round(until, 1),
        "crawl_seconds_on_the_clock": round(clock.now() - began - until, 1),
        "generation": getattr(job.crawler.model, "generation", 0) if job.crawler else 0,
    }


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--pages", type=int, default=400)
    arguments.add_argument("--live", action="store_true")
    given = arguments.parse_args()
    for recipe in ("best-first", "cfc", "cfc-backlinks", "cfc-bootstrap"):
        print(json.dumps(asyncio.run(crawl(recipe, given.pages, live=given.live))), flush=True)


if __name__ == "__main__":
    main()
