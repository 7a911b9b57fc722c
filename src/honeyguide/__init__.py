"""Honeyguide: a focused web crawler. Give it a topic, get a collection.

>>> from honeyguide import Collection, Crawl, Topic, crawl
>>> topic = Topic("owls", keywords=("owl", "barn owl"), seeds=("https://example.org/",))
>>> Crawl(topic, recipe="best-first", max_pages=100).recipe.name
'best-first'
"""

from __future__ import annotations

from honeyguide.errors import CollectionError, HoneyguideError, MissingExtra, TopicError

TYPE_CHECKING = False  # as from typing, which takes longer to import than everything else here
if TYPE_CHECKING:
    from honeyguide.cluster.coordinator import ShardedCrawl
    from honeyguide.cluster.scripts import recrawl
    from honeyguide.collection.collection import Collection
    from honeyguide.job.crawl import Crawl, crawl
    from honeyguide.model import Topic

_HOMES = {
    "Collection": "honeyguide.collection.collection",
    "Crawl": "honeyguide.job.crawl",
    "ShardedCrawl": "honeyguide.cluster.coordinator",
    "Topic": "honeyguide.model",
    "crawl": "honeyguide.job.crawl",
    "recrawl": "honeyguide.cluster.scripts",
}

__all__ = [
    "Collection",
    "CollectionError",
    "Crawl",
    "HoneyguideError",
    "MissingExtra",
    "ShardedCrawl",
    "Topic",
    "TopicError",
    "crawl",
    "recrawl",
]


def __getattr__(name: str) -> object:
    """Import the public names on first use: `honeyguide --help` must not wait for numpy."""
    from importlib import import_module

    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'honeyguide' has no attribute {name!r}")
    return getattr(import_module(home), name)
