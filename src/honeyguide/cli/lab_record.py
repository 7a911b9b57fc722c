"""`honeyguide lab record`."""

from __future__ import annotations

import time
from pathlib import Path

from honeyguide.cli.lab_import import show_imported
from honeyguide.cli.output import Progress
from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.recorded.recording import record as record_web
from honeyguide.model import Event


def record(
    source: Path,
    /,
    *,
    name: str,
    max_pages: int | None = None,
    replace: bool = False,
    json: bool = False,
    quiet: bool = False,
) -> None:
    """Turn a collection, or a breadth-first crawl of a topic file, into a recorded web.

    Args:
        source: Folder of a collection, or a topic file.
        name: What to call the web.
        max_pages: Pages to crawl for a topic file, instead of the file's limit.
        replace: Replace a web of the same name.
        json: Print what was recorded as JSON.
        quiet: Show no progress.
    """
    started = time.monotonic()
    with Progress(max_pages, quiet=quiet) as progress:

        def watch(event: Event, job: Crawl) -> None:
            if event.kind == "page":
                rate = job.tally.pages / max(1e-3, time.monotonic() - started)
                progress.update(pages=job.tally.pages, relevant=job.tally.relevant, rate=rate, last=event.url)

        done = record_web(source, name, max_pages=max_pages, replace=replace, on_event=watch)
    show_imported(done, json=json)
