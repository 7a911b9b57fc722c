"""Where else could it be? One source a file; `base.py` has the protocol."""

from __future__ import annotations

from honeyguide.discovery.backlinks import Backlinks
from honeyguide.discovery.base import Source
from honeyguide.discovery.search import MetaSearch

BUILT_IN: dict[str, type[Source]] = {
    "backlinks": Backlinks,
    "meta-search": MetaSearch,
}
"""Sources by the name they have in `topic.toml`."""
