"""What the context-graph experiment measures beyond the usual: set-up, layers, sources of hits."""

from __future__ import annotations

from honeyguide.lab.experiment.extras import Finished


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
