"""`honeyguide links`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from rich.console import Console

from honeyguide.cli.output import note, print_json, print_table
from honeyguide.collection.collection import Collection

if TYPE_CHECKING:
    from honeyguide.collection.link_analysis import RankedPage  # loads SciPy, which is an extra


def links(
    folder: Path,
    /,
    *,
    limit: int = 10,
    offset: int = 0,
    all_pages: bool = False,
    within_hosts: bool = False,
    duplicates: bool = False,
    json: bool = False,
) -> None:
    """Show the hubs and authorities of a collection, or its groups of near-duplicate pages.

    Args:
        folder: The collection.
        limit: Pages to list of each ranking, or groups.
        offset: Pages or groups to skip.
        all_pages: Count links of all fetched pages, not only of those on topic.
        within_hosts: Count links within a host too, each at full weight.
        duplicates: Show groups of pages that repeat each other instead.
        json: Print JSON.
    """
    limit, offset = max(1, limit), max(0, offset)
    with Collection.open(folder) as collection:
        if duplicates:
            _show_groups(collection, limit, offset, relevant=not all_pages, json=json)
            return
        with Console(stderr=True).status("reading links"):
            found = collection.links(limit=limit + offset, relevant=not all_pages, within_hosts=within_hosts)
    if json:
        values = msgspec.to_builtins(found)
        print_json(values | {name: values[name][offset:] for name in ("hubs", "authorities")})
        return
    _show("hub", found.hubs[offset:], "links to")
    _show("authority", found.authorities[offset:], "linked from")
    if not found.hubs:
        note("no links between pages on topic; try --all-pages or --within-hosts")


def _show(kind: str, ranked: tuple[RankedPage, ...], links_are: str) -> None:
    rows: list[dict[str, object]] = [
        {
            "kind": kind,
            "weight": round(page.weight, 4),
            "links": page.links,
            "title": page.title,
            "url": page.url,
        }
        for page in ranked
    ]
    print_table(
        rows, {"kind": "kind", "weight": "weight", "links": links_are, "title": "title", "url": "url"}
    )


def _show_groups(collection: Collection, limit: int, offset: int, *, relevant: bool, json: bool) -> None:
    groups = collection.duplicate_groups(relevant=relevant)[offset : offset + limit]
    rows: list[dict[str, object]] = []
    for number, group in enumerate(groups, offset + 1):
        for row in group.rows:
            page = collection.state.page_by_row(row)
            kind = "first" if row == group.first else "equal" if row in group.equal else "near"
            rows.append(
                {
                    "group": number,
                    "kind": kind,
                    "title": page.title if page else "",
                    "url": collection.state.url_text(row),
                }
            )
    print_table(rows, ("group", "kind", "title", "url"), json=json)
    if not groups:
        note("no page repeats another")
