"""`honeyguide status`."""

from __future__ import annotations

from pathlib import Path

import msgspec

from honeyguide.cli.output import print_facts
from honeyguide.collection.collection import Collection
from honeyguide.collection.estimate import TOO_EARLY, estimate_of
from honeyguide.collection.own_parts import own_parts
from honeyguide.collection.uncertain import uncertain_of
from honeyguide.config.load import load
from honeyguide.config.recipes import Part, lacks, uses
from honeyguide.engine.render_figures import RenderFigures, render_figures
from honeyguide.fetch.browser_program import find_browser, has_playwright
from honeyguide.job.parts import chosen
from honeyguide.model import Outcome
from honeyguide.store.layout import Layout
from honeyguide.store.reviews import read_reviews


def status(folder: Path, /, *, json: bool = False) -> None:
    """Show where a crawl stands; works while it runs.

    Args:
        folder: The collection.
        json: Print JSON.
    """
    with Collection.open(folder) as collection:
        facts = msgspec.to_builtins(collection.status())
        made = estimate_of(collection.state)
        unsure = uncertain_of(collection.state, frozenset(read_reviews(folder).pages))
        rendering = render_figures(collection.state)
        facts["visited_again"] = collection.state.history.count()
        own = own_parts(collection.state)
    config = load(Layout.open(folder).topic_file)
    if not json and not facts["visited_again"]:
        del facts["visited_again"]
    recipe = chosen(config)
    brought = {kind: Part(name) for kind, name in own.items()}
    facts["uses"] = uses(msgspec.structs.replace(recipe, **brought))
    lacking = lacks(recipe)
    if json:
        facts["lacks"] = lacking
    elif lacking:
        facts["lacks"] = "; ".join(lacking)
    if json:
        facts["rendering"] = msgspec.to_builtins(rendering)
    elif rendering.shells or rendering.rendered:
        facts["shells"] = _told(rendering, never=config.fetch.render == "never")
    if json:
        facts["estimate"] = msgspec.to_builtins(made)
        facts["uncertain"] = msgspec.to_builtins(unsure)
    else:
        facts["found"] = made.advice if made is not None else TOO_EARLY
        if unsure is not None:
            facts["line"] = f"a page is on topic from a score of {unsure.line:.2f} on"
            facts["unsure"] = unsure.advice
    if not json:
        facts["outcomes"] = "; ".join(
            f"{Outcome[name.upper()].label}: {count:,}" for name, count in facts["outcomes"].items()
        )
    print_facts(facts, json=json)


def _told(figures: RenderFigures, *, never: bool) -> str:
    """Shells and rendered pages in words, with what to do about those that were left as they are."""
    told = f"pages that scripts fill: {figures.shells:,}; rendered: {figures.rendered:,}"
    if figures.failed:
        why = ", ".join(f"{reason}: {count:,}" for reason, count in list(figures.reasons.items())[:3])
        told += f"; failed: {figures.failed:,} ({why})"
    if figures.shells <= figures.rendered + figures.failed:
        return told
    if never:
        return f"{told}; render = 'auto' in [fetch] renders them"
    if not has_playwright():
        return f"{told}; to render them: pip install 'honeyguide[browser]'"
    return told if find_browser() else f"{told}; no browser was found, see `honeyguide doctor`"
