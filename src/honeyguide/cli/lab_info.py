"""`honeyguide lab info`."""

from __future__ import annotations

import msgspec

from honeyguide.cli.output import Progress, print_facts, print_json, print_table
from honeyguide.lab.webs.recorded.info import Locality, describe
from honeyguide.lab.webs.recorded.web import open_web


def info(
    web: str,
    /,
    *,
    site: str | None = None,
    start: tuple[str, ...] = (),
    json: bool = False,
    quiet: bool = False,
) -> None:
    """Show what a recorded web holds: pages, labels, what can be reached, topical locality.

    Args:
        web: Its name, folder or WARC file.
        site: Only this site.
        start: Start pages for what can be reached; by default the front page of each site.
        json: Print everything as JSON.
        quiet: Show no progress while pages are parsed for the first time.
    """
    with Progress(quiet=quiet) as progress:
        recorded = open_web(web, progress=lambda done, total: progress.update(pages=done, of=total))
        part = recorded.subset(site=site) if site else recorded
        found = describe(part, starts=start)
    if json:
        print_json(msgspec.to_builtins(found))
        return
    facts: dict[str, object] = {
        "web": found.name,
        "from": found.origin,
        "sha256": found.digest,
        "pages": found.pages,
        "hosts": found.hosts,
        "sites": found.sites,
        "links among them": found.links,
        "labelled pages": found.labelled,
        "labels": found.labels,
        "not parsed": found.unparsed,
        "same address twice": found.collisions,
        "not of the web": found.unfetchable,
        "start pages": len(found.starts),
        "first start page": found.starts[0],
        "reachable from them": f"{found.reachable:.1%}",
        "links that stay in their topic": _locality(found.top),
        "links that stay in their label": _locality(found.full),
    }
    print_facts(facts)
    rows = [
        {
            "label": topic.label,
            "pages": topic.pages,
            "reachable": f"{topic.reachable:.1%}",
            "stay": f"{topic.stay:.1%}",
        }
        for topic in found.topics
    ]
    if rows:
        print()
        print_table(
            rows, {"label": "topic", "pages": "pages", "reachable": "reachable", "stay": "links that stay"}
        )


def _locality(found: Locality) -> str:
    return f"{found.same:.1%} of {found.links:,} (by chance {found.chance:.1%})"
