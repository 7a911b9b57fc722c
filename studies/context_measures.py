"""What the context-graph experiment measures beyond the usual: set-up, layers, sources of hits."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from honeyguide.lab.measures.extras import Finished, gives
from honeyguide.lab.runner.situation import depths_from


@gives("setup_questions", "setup_pages", "setup_places")
def set_up(crawl: Finished) -> dict[str, float]:
    """What the set-up cost: questions to the backlink source, pages read, places in the graph."""
    facts = [event.data for event in crawl.events if event.kind == "learned"]
    data = facts[0] if facts else {}
    layers = data.get("layers")
    return {
        "setup_questions": float(str(data.get("requests", 0))),
        "setup_pages": float(str(data.get("fetched", 0))),
        "setup_places": float(sum(layers)) if isinstance(layers, list) else 0.0,
    }


@gives("backlink_questions", "backlink_pages", "backlink_targets")
def backlink_mode(crawl: Finished) -> dict[str, float]:
    """Pages and targets that the crawl was led to by backlinks of its hits."""
    named = {
        str(url)
        for event in crawl.events
        if event.kind == "suggest" and not event.url and isinstance(urls := event.data.get("urls"), list)
        for url in urls
    }
    asked = sum(1 for event in crawl.events if event.kind == "suggest" and not event.url)
    came = [
        page.on_target for url, page in zip(crawl.urls, crawl.record.fetched, strict=True) if url in named
    ]
    return {
        "backlink_questions": float(asked),
        "backlink_pages": float(len(came)),
        "backlink_targets": float(sum(came)),
    }


@gives("layer_distance_correlation", "one_link_away")
def layers(crawl: Finished) -> dict[str, float]:
    """Whether layers tell the distance: rank correlation of a page's layer with its links to a target.

    The share of pages in reach that are one link from a target says how much there is to tell: where most
    are, the way in needs no learning. Pages that lead to no target are farther than any that do.
    """
    backward: dict[str, list[str]] = {}
    for source, links in crawl.situation.links.items():
        for link in links:
            backward.setdefault(link, []).append(source)
    away = depths_from(backward, sorted(crawl.situation.targets))
    near = sum(1 for url in crawl.situation.links if away.get(url) == 1)
    nowhere = max(away.values(), default=0) + 1
    pairs = [
        (page.facts["layer"], away.get(page.url, nowhere))
        for page in crawl.state.pages()
        if "layer" in page.facts
    ]
    return {
        "layer_distance_correlation": rank_correlation(pairs),
        "one_link_away": near / max(1, len(crawl.situation.links)),
    }


def rank_correlation(pairs: list[tuple[float, int]]) -> float:
    """Spearman's, ties sharing their mean rank; 0 where one side does not vary."""
    if len(pairs) < 2:
        return 0.0
    first, second = (rankdata([pair[side] for pair in pairs]) for side in (0, 1))
    if first.std() == 0.0 or second.std() == 0.0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])
