"""What an order costs, in CPU time for a page of 80 links: `python benchmarks/ordering.py`."""

from __future__ import annotations

import inspect
import random
import time
from typing import Any

import msgspec
import numpy as np

from honeyguide.config.registry import find
from honeyguide.model import CrawlGraph, Examples, Page, Verdict, Via
from honeyguide.ordering import BUILT_IN
from honeyguide.ordering.pagerank import PageRank
from honeyguide.ordering.rehearsal import made_up_page
from honeyguide.relevance.tf_cosine import TfCosine

TOPIC = ("owl", "bird nest", "feather")


def graph_of(nodes: int, links: int) -> CrawlGraph:
    generator = np.random.default_rng(1)
    fetched = np.arange(nodes) < nodes // 8
    sources = np.sort(generator.integers(0, nodes // 8, links)).astype(np.int32)
    targets = (nodes * generator.random(links) ** 2).astype(np.int32)
    score = np.zeros(nodes, dtype=np.float32)
    return CrawlGraph(np.arange(nodes, dtype=np.int64), fetched, ~fetched, score, sources, targets)


def worded(page: Page) -> Page:
    """Anchors of 5 words and contexts of 40, all different."""
    generator = random.Random(page.number)
    words = [f"word{i}" for i in range(2000)] + [*TOPIC] * 20

    def text(count: int) -> str:
        return " ".join(generator.choices(words, k=count))

    links = tuple(msgspec.structs.replace(link, anchor=text(5), context=text(40)) for link in page.links)
    return msgspec.structs.replace(page, links=links)


def main() -> None:
    judge = TfCosine().fit(Examples(keywords=TOPIC))
    given: dict[str, Any] = {"judge": judge, "topic_terms": TOPIC, "retrain_every": 100}
    via = Via(9, "https://h1.example/", "the owl", "the owl by the nest", 0.5, {"depth": 3.0})
    pages = [worded(made_up_page(number, via=via, fetched=number, links=80)) for number in range(1, 201)]
    for name in sorted(BUILT_IN):
        part = find("ordering", name)
        wanted = inspect.signature(part).parameters
        order = part(**{key: value for key, value in given.items() if key in wanted})
        best = float("inf")
        for _ in range(4):
            start = time.process_time()
            for page in pages:
                verdict = Verdict(0.6, page.number % 2 == 0)
                order.learn(page, verdict)
                order.rank(page, verdict, page.links)
            best = min(best, (time.process_time() - start) / len(pages))
        print(f"{name:25} {best * 1e6:9.1f} us a page")
    for nodes, links in ((10_000, 50_000), (100_000, 800_000), (1_000_000, 8_000_000)):
        graph, order = graph_of(nodes, links), PageRank()
        start = time.process_time()
        order.reorder(graph)
        cold = time.process_time() - start
        start = time.process_time()
        order.reorder(graph)
        warm = time.process_time() - start
        times = f"first {cold * 1e3:8.1f} ms, again {warm * 1e3:8.1f} ms"
        print(f"PageRank {nodes:>9,} nodes {links:>9,} links: {times}")


if __name__ == "__main__":
    main()
