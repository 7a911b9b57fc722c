"""Where else could it be? One source a file; `base.py` has the protocol."""

from __future__ import annotations

BUILT_IN: dict[str, str] = {
    "backlinks": "honeyguide.discovery.backlinks:Backlinks",
    "meta-search": "honeyguide.discovery.search:MetaSearch",
}
"""Where the sources are, by the name they have in `topic.toml`."""
