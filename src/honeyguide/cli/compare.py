"""`honeyguide compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from honeyguide.cli.everywhere import OUT
from honeyguide.cli.output import print_facts, print_json, print_table
from honeyguide.collection.collection import Collection
from honeyguide.collection.compare import Comparison, Side
from honeyguide.collection.compare import compare as compared


def compare(
    left: Path,
    right: Path,
    /,
    *,
    out: Annotated[Path | None, OUT] = None,
    limit: int = 10,
    json: bool = False,
) -> None:
    """Compare two crawls: what both found, and what each found that the other did not.

    Args:
        left: A collection.
        right: Another one.
        out: Picture of both curves to write (.png or .svg).
        limit: How many of the pages that only one of them found to list.
        json: Print JSON.
    """
    with Collection.open(left) as one, Collection.open(right) as other:
        found = compared(one, other, shown=limit)
    if out is not None:
        _draw(found, out)
    if json:
        print_json(msgspec.to_builtins(found))
        return
    rows = [_row(found.left, found.left_at), _row(found.right, found.right_at)]
    at = f"on topic at {found.at:,} pages"
    columns = ("collection", "recipe", "pages", "on topic", at, "hosts", "requests", "only here")
    print_table([{**row, at: row["at"]} for row in rows], columns, title=f"{found.both:,} pages in both")
    for side in (found.left, found.right):
        if side.reasons:
            print_facts({f"only {side.name}, for the other": _told(side.reasons)})
        lines = [
            {"score": round(page.score, 3), "there": page.there, "url": page.url} for page in side.examples
        ]
        print_table(lines, {"score": "score", "there": "the other", "url": "url"}, title=f"Only {side.name}")


def _row(side: Side, at: int) -> dict[str, object]:
    return {
        "collection": side.name,
        "recipe": side.recipe or "default",
        "pages": side.pages,
        "on topic": side.relevant,
        "at": at,
        "hosts": side.hosts,
        "requests": side.requests,
        "only here": side.only,
    }


def _told(reasons: dict[str, int]) -> str:
    return ", ".join(f"{reason} {count:,}" for reason, count in reasons.items())


def _draw(found: Comparison, path: Path) -> None:
    import numpy as np  # with matplotlib: both take a second to load

    from honeyguide.plots.panels import Curve, Panel, draw

    curves = []
    for side in (found.left, found.right):
        points = np.array(side.curve, np.float64).reshape(-1, 2)
        curves.append(Curve(f"{side.name} ({side.recipe or 'default'})", points[:, 0], points[:, 1]))
    panel = Panel("Found against fetched", "pages fetched", "pages on topic", tuple(curves), share=False)
    draw([panel], path, title=" and ".join(dict.fromkeys((found.left.topic, found.right.topic))))
