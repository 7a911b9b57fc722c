"""Meta-search. One engine a file; `base.py` has the protocol, `meta_search.py` the source."""

from __future__ import annotations

from honeyguide.discovery.search.base import Hits, SearchEngine, SearchResult
from honeyguide.discovery.search.meta_search import MetaSearch

__all__ = ["Hits", "MetaSearch", "SearchEngine", "SearchResult"]
