"""`honeyguide merge`."""

from __future__ import annotations

from pathlib import Path

from honeyguide.cli.output import clean, note, print_json


def merge(folder: Path, new: Path, /, *, json: bool = False) -> None:
    """Make one ordinary collection of one that consists of shards.

    Reading does not need it: every command that reads works on shards as they are, also while they
    crawl. Merge to go on with one machine, or to hand the collection on. The shards stay as they are.
    Archive files that are complete are not copied where both folders are on one disk.

    Args:
        folder: The collection, made by `crawl --shards`.
        new: A new folder.
        json: Print the figures as JSON.
    """
    from honeyguide.collection.merging import merge_into
    from honeyguide.config.load import load
    from honeyguide.config.reach import reach
    from honeyguide.job.assemble import SOFTWARE
    from honeyguide.store.layout import Layout

    layout = Layout.open(folder)
    layout.require_ours()
    found = reach(load(layout.topic_file))
    made = merge_into(folder, new, software=SOFTWARE, reach=found if layout.allows(found) else ())
    note(f"{clean(str(new))} is an ordinary collection of {made.pages:,} pages and {made.urls:,} known URLs")
    if json:
        print_json({"path": str(new), "pages": made.pages, "urls": made.urls, "events": made.events})
