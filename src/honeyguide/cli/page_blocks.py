"""`honeyguide page blocks`."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from honeyguide.cli.everywhere import OUT
from honeyguide.cli.output import print_json, print_table
from honeyguide.config.load import load
from honeyguide.errors import HoneyguideError
from honeyguide.job.inspect_page import (
    blocks_asked,
    page_of_collection,
    page_of_file,
    page_of_web,
    parts_of_collection,
    parts_of_topic,
)
from honeyguide.job.parts import Parts
from honeyguide.model import Page
from honeyguide.ordering.cbp_slc import RULES, CbpSlc
from honeyguide.parse.base import BlockOptions, Blocks
from honeyguide.plots.blocks import ScoredBlock, draw_blocks
from honeyguide.topic.patterns import is_url

COLUMNS = ["block", "score", "links", "admitted", "words", "path", "text"]


def blocks(
    page: str,
    /,
    *,
    collection: Path | None = None,
    topic: Path | None = None,
    out: Annotated[Path | None, OUT] = None,
    alpha: float | None = None,
    tags: Literal["modern", "paper"] = "modern",
    json: bool = False,
) -> None:
    """Show how a page is cut into content blocks, and what each block scores.

    Args:
        page: A file, or the address of a page (taken from the collection when it is there).
        collection: Score with the model of this collection.
        topic: Score with the model of this topic file (words and files; no example is fetched).
        out: Also draw the blocks into this picture (.png).
        alpha: Granularity above 0 and up to 1; smaller values give smaller blocks. By default 0.5.
        tags: Which elements count: today's or the paper's.
        json: Print JSON.
    """
    if alpha is not None and not 0.0 < alpha <= 1.0:
        raise HoneyguideError(f"--alpha must be above 0 and at most 1, not {alpha}; 0.5 is usual")
    parts = parts_of_collection(collection) if collection else parts_of_topic(topic) if topic else None
    cut = blocks_asked(
        parts, True if alpha is None and tags == "modern" else BlockOptions(alpha or 0.5, tags)
    )
    found = _page(page, cut, collection, topic)
    scored = scored_blocks(found, parts)
    if out is not None:
        draw_blocks(scored, out, title=found.title or found.url)
    if json:
        print_json([msgspec.to_builtins(one) for one in scored])
        return
    show_blocks(scored)


def _page(page: str, cut: Blocks, collection: Path | None, topic: Path | None) -> Page:
    if not is_url(page):
        return page_of_file(Path(page), cut)
    held = page_of_collection(collection, page, cut) if collection else None
    return held or asyncio.run(page_of_web(page, cut, load(topic) if topic else None))


def scored_blocks(page: Page, parts: Parts | None) -> list[ScoredBlock]:
    """The blocks with their scores, and how many links each rule of CBP-SLC would bring in."""
    values: list[float | None] = [None] * len(page.blocks)
    rules: dict[int, str] = {}
    if parts is not None and page.blocks:
        values = [float(value) for value in parts.model.judge_texts([block.text for block in page.blocks])]
        order = parts.order if isinstance(parts.order, CbpSlc) else CbpSlc(parts.model)
        for one in order.rank(page, parts.model.judge(page), page.links):
            rule = int(one.memo.get("rule", 0.0))
            rules[one.link] = RULES[rule - 1] if rule else "dropped"
    return [
        ScoredBlock(
            number,
            block.tag_path,
            len(block.text.split()),
            len(block.links),
            dict(sorted(Counter(rules[link] for link in block.links if link in rules).items())),
            value,
            block.text[:300],
        )
        for number, (block, value) in enumerate(zip(page.blocks, values, strict=True))
    ]


def show_blocks(scored: list[ScoredBlock]) -> None:
    """Print the blocks as a table."""
    rows = [
        {
            "block": one.number,
            "score": None if one.score is None else round(one.score, 4),
            "links": one.links,
            "admitted": ", ".join(f"{count} {rule}" for rule, count in one.admitted.items()),
            "words": one.words,
            "path": one.path[-40:],
            "text": one.text[:70],
        }
        for one in scored
    ]
    print_table(rows, COLUMNS, title=f"{len(rows)} content blocks")
