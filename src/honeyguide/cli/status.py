"""`honeyguide status`."""

from __future__ import annotations

from pathlib import Path

import msgspec

from honeyguide.cli.output import print_facts
from honeyguide.collection.collection import Collection
from honeyguide.collection.estimate import estimate_of
from honeyguide.config.load import load
from honeyguide.config.recipes import lacks, uses
from honeyguide.job.parts import chosen
from honeyguide.store.layout import Layout


def status(folder: Path, /, *, json: bool = False) -> None:
    """Show where a crawl stands; works while it runs.

    Args:
        folder: The collection.
        json: Print JSON.
    """
    with Collection.open(folder) as collection:
        facts = msgspec.to_builtins(collection.status())
        made = estimate_of(collection.state)
    recipe = chosen(load(Layout.open(folder).topic_file))
    facts["uses"] = uses(recipe)
    lacking = lacks(recipe)
    if json:
        facts["lacks"] = lacking
    elif lacking:
        facts["lacks"] = "; ".join(lacking)
    if json:
        facts["estimate"] = msgspec.to_builtins(made)
    elif made is not None:
        facts["found"] = f"{made.share:.0%} of the topic ({made.share_low:.0%} to {made.share_high:.0%})"
        facts["advice"] = made.advice
    if not json:
        facts["outcomes"] = ", ".join(f"{name} {count:,}" for name, count in facts["outcomes"].items())
    print_facts(facts, json=json)
