"""`honeyguide lab webs`."""

from __future__ import annotations

from honeyguide.cli.output import note, print_table
from honeyguide.lab.webs.recorded.home import KNOWN, at_hand, webs_folder


def webs(*, json: bool = False) -> None:
    """List recorded webs: those at hand, and where to get the others.

    Args:
        json: Print all of it as JSON.
    """
    here = {sources.name: sources for sources in at_hand()}
    rows: list[dict[str, object]] = []
    for name in [*here, *(name for name in KNOWN if name not in here)]:
        known, sources = KNOWN.get(name), here.get(name)
        rows.append(
            {
                "name": name,
                "at_hand": sources is not None,
                "what": known.title if known else "",
                "files": str(sources.archives[0].parent) if sources else "",
                "origin": known.origin if known else (sources.origin if sources else ""),
                "how": known.how if known else "",
            }
        )
    columns = {"name": "web", "at_hand": "at hand", "what": "what it is", "origin": "where it comes from"}
    print_table(rows, {**columns, "how": "how to import it"}, json=json)
    if not json:
        note(f"imported webs are in {webs_folder()}; next: honeyguide lab info WEB")
