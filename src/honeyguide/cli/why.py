"""`honeyguide why`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from honeyguide.cli.output import print_facts, print_json, print_table
from honeyguide.collection.collection import Collection
from honeyguide.collection.story import Story, fact_label, links_said
from honeyguide.errors import CollectionError
from honeyguide.model import Outcome

if TYPE_CHECKING:
    from honeyguide.job.verdict_reasons import VerdictReasons


def why(folder: Path, url: str, /, *, json: bool = False, blocks: bool = False) -> None:
    """Tell the story of one URL: how it was found, what it scored, what became of it.

    Args:
        folder: The collection.
        url: The URL, in any spelling.
        json: Print JSON.
        blocks: Also show the page's content blocks with their scores.
    """
    with Collection.open(folder) as collection:
        story = collection.why(url)
    told = _order_explains(folder, story.url)
    because = _reasons(folder, story)
    if json:
        print_json({**msgspec.to_builtins(story), "order": told, "reasons": msgspec.to_builtins(because)})
        return
    facts: dict[str, object] = {"url": story.url, "outcome": Outcome[story.outcome.upper()].label}
    if story.reason:
        facts["reason"] = story.reason
    if story.number is not None:
        facts |= {"page number": story.number, "fetched": story.fetched_at}
        if story.warc_file:
            facts["archived"] = f"archive/{story.warc_file} at offset {story.warc_offset}, {story.digest}"
        facts |= {"score": story.score, "on topic": story.on_topic}
        if said := links_said(story.score or 0.0, story.facts):
            facts["links to it"] = said
    facts["priority"] = story.priority
    facts |= {f"priority, {name}": value for name, value in story.factors.items()}
    facts |= {f"inherited, {name}": value for name, value in story.memo.items()}
    facts |= {f"verdict, {fact_label(name)}": value for name, value in story.facts.items()}
    if because is not None:
        facts |= {
            "speaks for it": ", ".join(f"{word} {share:.3f}" for word, share in because.for_it) or "nothing",
            "speaks against it": ", ".join(because.against) or "nothing",
        }
        if because.missing:
            facts["not mentioned"] = ", ".join(because.missing)
        facts |= {f"sentence {place}": one for place, one in enumerate(because.sentences, 1)}
    print_facts(facts)
    rows = [
        {"hop": number, "found by": step.source, "score": step.score, "anchor": step.anchor, "url": step.url}
        for number, step in enumerate(story.path)
    ]
    print_table(rows, ["hop", "found by", "score", "anchor", "url"], title="Path from the seed")
    _show_order(told)
    if blocks and story.number is not None:
        _show_blocks(folder, story.url)


def _reasons(folder: Path, story: Story) -> VerdictReasons | None:
    if story.number is None:
        return None
    # Only now, as below.
    from honeyguide.job.verdict_reasons import verdict_reasons

    return verdict_reasons(folder, story.url, story.terms)


def _order_explains(folder: Path, url: str) -> dict[str, object]:
    if not any((folder / "models").glob("order-*.npz")):
        return {}
    # Only now: the parts of a crawl take a second to import.
    from honeyguide.job.explain import order_explains

    return order_explains(folder, url)


def _show_order(told: dict[str, object]) -> None:
    """What the link order says: plain values as facts, lists of name and share as tables."""
    lists = {key: value for key, value in told.items() if isinstance(value, list)}
    plain = {f"order {key}": value for key, value in told.items() if key not in lists}
    if plain:
        print_facts(plain)
    for key, pairs in lists.items():
        rows = [{"share": pair[1], key: pair[0]} for pair in pairs if len(pair) == 2]
        print_table(rows, ["share", key], title=f"Its priority: {key}")


def _show_blocks(folder: Path, url: str) -> None:
    # Only now: the model behind the scores takes a second to import.
    from honeyguide.cli.page_blocks import scored_blocks, show_blocks
    from honeyguide.job.inspect_page import blocks_asked, page_of_collection, parts_of_collection

    parts = parts_of_collection(folder)
    page = page_of_collection(folder, url, blocks_asked(parts, True))
    if page is None:
        raise CollectionError(f"{folder} has no archived copy of {url}; crawl with an archive")
    show_blocks(scored_blocks(page, parts))
