"""Further measures of the experiment `gp-crawl`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from honeyguide.lab.measures.extras import Finished, gives
from honeyguide.lab.runner.recorded_world import open_world
from honeyguide.lab.runner.world import has_label

FIRST: Final = 500
"""Pages that the GP hybrid study had judged by people."""


@gives("first_500_f1_on", "first_500_f1_off", "first_500_macro_f1")
def first_pages(crawl: Finished) -> dict[str, float]:
    """Macro-F1 of the page model's verdicts on the first 500 pages, by the labels.

    Example pages count as on topic when they are met: the model has seen them, as every recipe has.
    """
    verdicts = {event.url: bool(event.data["on_topic"]) for event in crawl.events if event.kind == "page"}
    shown = set(crawl.situation.examples)
    pairs = Counter(
        (page.on_target or url in shown, verdicts.get(url, False))
        for url, page in list(zip(crawl.urls, crawl.record.fetched, strict=True))[:FIRST]
    )
    on_topic, off_topic = _f1(pairs, True), _f1(pairs, False)
    return {
        "first_500_f1_on": on_topic,
        "first_500_f1_off": off_topic,
        "first_500_macro_f1": (on_topic + off_topic) / 2.0,
    }


def _f1(pairs: Mapping[tuple[bool, bool], int], kind: bool) -> float:
    right = pairs.get((kind, kind), 0)
    total = sum(count * ((true is kind) + (said is kind)) for (true, said), count in pairs.items())
    return 2.0 * right / total if total else 0.0


@gives("communities_reached", "communities_half")
def communities(crawl: Finished) -> dict[str, float]:
    """How many of the topic's labels were reached: with a target fetched, and with half of them."""
    labels = open_world(crawl.situation.task.web).labels
    fetched = {url for url, page in zip(crawl.urls, crawl.record.fetched, strict=True) if page.on_target}
    reached = halved = 0
    for label in crawl.situation.task.labels:
        targets = {url for url in crawl.situation.targets if has_label(labels.get(url, ()), [label])}
        reached += bool(targets & fetched)
        halved += bool(targets) and 2 * len(targets & fetched) >= len(targets)
    return {"communities_reached": float(reached), "communities_half": float(halved)}
