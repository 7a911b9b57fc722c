"""`honeyguide status`."""

from __future__ import annotations

from pathlib import Path

import msgspec

from honeyguide.cli.output import print_facts
from honeyguide.store.collection import Collection


def status(folder: Path, /, *, json: bool = False) -> None:
    """Show where a crawl stands; works while it runs.

    Args:
        folder: The collection.
        json: Print JSON.
    """
    with Collection.open(folder) as collection:
        facts = msgspec.to_builtins(collection.status())
    if not json:
        facts["outcomes"] = ", ".join(f"{name} {count:,}" for name, count in facts["outcomes"].items())
    print_facts(facts, json=json)
