"""From a crawl to a recorded web: what was archived becomes the pages, what was judged the labels."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from honeyguide.collection.collection import Collection
from honeyguide.config.load import changed, load
from honeyguide.errors import TopicError
from honeyguide.job.crawl import Crawl, run_here
from honeyguide.job.parts import check_config
from honeyguide.lab.webs.recorded.catalogue import read_catalogue
from honeyguide.lab.webs.recorded.home import LABELS, Sources, WebError, check_name, webs_folder
from honeyguide.lab.webs.recorded.importing import Imported, store_web
from honeyguide.lab.webs.recorded.labels import write_rows
from honeyguide.model import Event
from honeyguide.store.archive import archive_files, file_number
from honeyguide.store.layout import is_collection
from honeyguide.store.shards import require_whole
from honeyguide.web import host_key

PREFIX = "pages"


def record(
    source: Path,
    name: str,
    *,
    max_pages: int | None = None,
    replace: bool = False,
    on_event: Callable[[Event, Crawl], None] | None = None,
) -> Imported:
    """Turn a collection, or a breadth-first crawl of a topic file, into a recorded web.

    Pages that the crawl judged on topic get the topic's name as label, all others `other`.

    Args:
        source: Folder of a collection, or a topic file.
        name: What the web is called.
        max_pages: Pages to crawl, for a topic file.
        replace: Take the place of a web of that name.
        on_event: Called with each event of the crawl.

    Raises:
        WebError: There is nothing to record.
    """
    if (webs_folder() / check_name(name)).exists() and not replace:
        raise WebError(f"there is a web {name!r} already; choose another --name, or give --replace")
    if source.is_dir():
        if not is_collection(source):
            raise WebError(f"{source} is not a collection; give the folder of a crawl, or a topic file")
        return record_collection(source, name, replace=replace)
    config = changed(load(source), {"crawl": {"recipe": "breadth-first", "max_pages": max_pages}})
    check_config(config)
    if not config.storage.archive:
        raise TopicError(f"{source}: [storage] archive is off, but a recording needs it; turn it on")
    webs_folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=webs_folder(), prefix=f".{name}.", suffix=".crawl") as folder:
        job = Crawl(config, out=Path(folder) / "collection")

        async def watch() -> None:
            async for event in job.run():
                if on_event is not None:
                    on_event(event, job)

        run_here(watch)
        return record_collection(Path(folder) / "collection", name, origin=str(source), replace=replace)


def record_collection(folder: Path, name: str, *, origin: str = "", replace: bool = False) -> Imported:
    """Turn what a collection has committed into a recorded web."""
    require_whole(folder)
    with Collection.open(folder) as collection:
        assert collection.layout is not None
        archive = collection.layout.archive_folder
        end = collection.state.setting("archive_end")
        topic = load(collection.layout.topic_file).topic.name
        verdicts = {page.url: page.on_topic for page in collection.pages(relevant=None)}
    if not isinstance(end, list) or not verdicts:
        raise WebError(f"{folder}: no page is archived in it; crawl first, with [storage] archive on")

    def fill(to: Path) -> None:
        _copy_committed(archive, to, str(end[0]), int(end[1]))
        # A page may be known under the URL it calls canonical, which was never asked for.
        catalogue = read_catalogue(Sources(name, tuple(archive_files(to, PREFIX)), None))
        rows = [
            (url, host_key(url), topic if verdicts[url] else "other")
            for url in catalogue.sites
            if url in verdicts
        ]
        write_rows(to / LABELS, rows)

    return store_web(name, fill, origin=f"crawl {origin or folder.resolve()}", replace=replace)


def _copy_committed(archive: Path, to: Path, file: str, offset: int) -> None:
    """Copy the archive up to its committed end: a crawl may be running, or have crashed."""
    last = file_number(file, PREFIX)
    for path in archive_files(archive, PREFIX):
        number = file_number(path.name, PREFIX)
        if number > last or (number == last and offset == 0):
            continue
        shutil.copyfile(path, to / path.name)
        if number == last:
            os.truncate(to / path.name, offset)
