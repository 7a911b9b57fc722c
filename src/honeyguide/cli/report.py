"""`honeyguide report`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from honeyguide.cli.output import print_facts, print_json, print_table
from honeyguide.collection.collection import Collection
from honeyguide.plots.panels import Curve, Panel, draw
from honeyguide.web.url import host_key


def report(folder: Path, /, *, plot: Path | None = None, json: bool = False) -> None:
    """Print the figures of a crawl and draw its harvest.

    Args:
        folder: The collection.
        plot: Picture to write (.png or .svg); by default `report.png` in the collection.
        json: Print JSON.
    """
    target = plot or folder / "report.png"
    with Collection.open(folder) as collection:
        status = collection.status()
        on_topic, scores = collection.verdicts()
        hosts = Counter(host_key(page.url) for page in collection.pages())
        languages = Counter(page.language or "unknown" for page in collection.pages())
    if len(on_topic):
        _draw(on_topic, scores, target, title=folder.name)
    recent = on_topic[-200:]
    facts: dict[str, object] = {
        "pages": status.pages,
        "relevant": status.relevant,
        "harvest": round(status.harvest, 4),
        "harvest of the last 200": round(float(recent.mean()), 4) if len(recent) else None,
        "sum of scores": round(float(scores.sum()), 3),
        "requests": status.requests,
        "bytes": status.bytes,
        "seconds": round(status.seconds, 1),
        "waiting": status.waiting,
        "stopped": status.reason,
        "plot": str(target) if len(on_topic) else None,
    }
    if json:
        print_json(
            {
                **facts,
                "outcomes": status.outcomes,
                "hosts": dict(hosts.most_common(50)),
                "languages": dict(languages.most_common()),
            }
        )
        return
    print_facts(facts)
    rows = [{"outcome": name, "URLs": count} for name, count in status.outcomes.items()]
    print_table(rows, ["outcome", "URLs"], title="What became of the URLs")
    top = [{"host": name, "relevant pages": count} for name, count in hosts.most_common(10)]
    print_table(top, ["host", "relevant pages"], title="Hosts with most relevant pages")


def _draw(on_topic: NDArray[np.bool_], scores: NDArray[np.float64], target: Path, *, title: str) -> None:
    """Harvest and relevant pages against downloads, as the page model judged them."""
    pages = np.arange(1, len(on_topic) + 1, dtype=np.float64)
    found = np.cumsum(on_topic).astype(np.float64)
    window = min(200, len(scores))
    sums = np.concatenate(([0.0], np.cumsum(scores)))
    starts = np.maximum(np.arange(1, len(scores) + 1) - window, 0)
    sliding = (sums[1:] - sums[starts]) / (np.arange(1, len(scores) + 1) - starts)
    draw(
        (
            Panel(
                "Harvest rate", "pages fetched", "share on topic", (Curve("harvest", pages, found / pages),)
            ),
            Panel(
                "Relevance",
                "pages fetched",
                f"mean score of the last {window}",
                (Curve("score", pages, sliding),),
            ),
            Panel("Pages on topic", "pages fetched", "found", (Curve("found", pages, found),), share=False),
        ),
        target,
        title=title,
    )
