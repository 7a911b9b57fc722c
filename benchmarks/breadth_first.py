"""How far the report's breadth-first estimate is from real breadth-first crawls.

    python benchmarks/breadth_first.py [--webs 6] [--pages 400] [--recipe scout] [--json]

Each generated web is crawled twice from the same seeds, by the recipe and breadth-first; the estimate is made
of the first crawl alone. Both count what their own page model calls on topic.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import statistics
import tempfile
from pathlib import Path

from honeyguide.collection.catalogue import Catalogue
from honeyguide.collection.collection import Collection
from honeyguide.collection.report import breadth_first
from honeyguide.engine.clock import VirtualClock
from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.generated import GeneratedFetcher, GeneratedWeb, WebSpec, seeds
from honeyguide.model import Topic


async def crawl(web: GeneratedWeb, recipe: str, pages: int, out: Path) -> None:
    clock = VirtualClock()
    name = web.topics[0]
    words = tuple(web.keywords(name)[:8])
    topic = Topic(name, keywords=words, seeds=tuple(seeds(web, name, distance=2)))
    job = Crawl(
        topic, out=out, recipe=recipe, clock=clock, fetcher=GeneratedFetcher(web, clock), max_pages=pages
    )
    async for _ in job.run():
        pass


def measure(seed: int, recipe: str, pages: int) -> dict[str, object]:
    web = GeneratedWeb(WebSpec(seed=seed, hosts=40, pages=3 * pages, topics=5))
    with tempfile.TemporaryDirectory() as base:
        for name in (recipe, "breadth-first"):
            asyncio.run(crawl(web, name, pages, Path(base) / name))
        with Collection.open(Path(base) / recipe) as collection:
            catalogue = Catalogue()
            catalogue.refresh(collection.state)
            curve = breadth_first(collection.state, catalogue)
            found = int(catalogue.on_topic.sum())
        with Collection.open(Path(base) / "breadth-first") as collection:
            beside = Catalogue()
            beside.refresh(collection.state)
    size = min(len(curve), beside.size)
    real, estimated = int(beside.on_topic[:size].sum()), float(curve[size - 1])
    return {
        "web": seed,
        "pages": size,
        recipe: found,
        "breadth-first": real,
        "estimated": round(estimated, 1),
        "ratio": round(estimated / max(real, 1), 2),
    }


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--webs", type=int, default=6)
    options.add_argument("--pages", type=int, default=400)
    options.add_argument("--recipe", default="scout")
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    rows = [measure(seed, chosen.recipe, chosen.pages) for seed in range(1, chosen.webs + 1)]
    away = statistics.median(math.exp(abs(math.log(float(str(row["ratio"])) or 1e-3))) for row in rows)
    if chosen.json:
        print(json.dumps({"webs": rows, "median_factor": round(away, 2)}, indent=2))
        return
    for row in [{name: name for name in rows[0]}, *rows]:
        print("  ".join(str(value).ljust(max(13, len(str(name)))) for name, value in row.items()))
    print(f"in the middle off by a factor of {away:.2f}")


if __name__ == "__main__":
    main()
