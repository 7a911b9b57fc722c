"""Which files the portal makes of a collection, under which names, and how."""

from __future__ import annotations

import shutil
import tempfile
import time
import zipfile
from pathlib import Path

import msgspec

from honeyguide.collection.collection import Collection
from honeyguide.collection.directory import Directory
from honeyguide.collection.exports.datasheet import topic_name
from honeyguide.collection.exports.formats import FORMATS, ExportSource, Format, describe
from honeyguide.collection.exports.left_out import LeftOut
from honeyguide.collection.exports.sections import Datasheet, to_html, to_markdown
from honeyguide.collection.exports.selection import Progress
from honeyguide.store.atomic import replacing
from honeyguide.store.layout import Layout
from honeyguide.store.plain import read_plain, require_folder
from honeyguide.ui.static_directory import write_static_directory

DATASHEET = "datasheet.json"
"""The datasheet as the portal shows it."""
SITE = Format(
    "directory", "directory.zip", "application/zip", "The directory as static HTML, zipped", pages=False
)
OFFERED = (
    *(form for form in FORMATS.values() if form.name != "datasheet-html" and not form.folder),
    SITE,
)


class Made(msgspec.Struct, frozen=True):
    """A file that is there."""

    name: str
    bytes: int
    at: float


def file_name(form: Format, *, all_pages: bool, text: bool) -> str:
    """Name of an export by what is in it.

    Example:
        >>> file_name(FORMATS["warc"], all_pages=True, text=False)
        'all-pages.warc.gz'
    """
    stem, dot, rest = form.file.partition(".")
    return (
        ("all-" if all_pages and form.pages else "")
        + stem
        + ("-text" if text and form.text else "")
        + dot
        + rest
    )


def media_types() -> dict[str, str]:
    """Every name that can be downloaded, with its media type: nothing else leaves the folder."""
    kinds = {"datasheet.html": "text/html"}
    for form in OFFERED:
        for all_pages in (False, True):
            for text in (False, True):
                kinds[file_name(form, all_pages=all_pages, text=text)] = form.media_type
    return kinds


def made_files(layout: Layout) -> dict[str, Made]:
    """The exports that are there, by name."""
    found = {}
    for name in media_types():
        path = layout.exports_folder / name
        if path.is_file() and not path.is_symlink():
            facts = path.stat()
            found[name] = Made(name, facts.st_size, facts.st_mtime)
    return found


def make(folder: Path, form: Format, *, all_pages: bool, text: bool, progress: Progress) -> int:
    """Write one export into the collection's folder of exports; how many pages it holds.

    Raises:
        CollectionError: With what to do about it.
    """
    with Collection.open(folder) as collection:
        assert collection.layout is not None
        target = collection.layout.exports_folder
        require_folder(target, create=True)
        if form is SITE:
            return _make_site(collection, target / SITE.file, progress)
        if form.name == "datasheet":
            return _make_datasheet(collection, target, progress)
        left_out = LeftOut()
        path = target / file_name(form, all_pages=all_pages, text=text)
        count = collection.export(
            path,
            format=form.name,
            relevant=not (all_pages and form.pages),
            text=text and form.text,
            progress=progress,
            trouble=left_out,
        )
        left_out.check(path)
        return count


def _make_datasheet(collection: Collection, target: Path, progress: Progress) -> int:
    source = ExportSource(
        collection.state, collection.layout, relevant=True, text=False, at=time.time(), progress=progress
    )
    document = describe(source)
    texts = {
        "datasheet.md": to_markdown(document).encode("utf-8", "replace"),
        "datasheet.html": to_html(document).encode("utf-8", "replace"),
        DATASHEET: msgspec.json.encode(document),
    }
    for name, data in texts.items():
        with replacing(target / name) as temporary:
            temporary.write_bytes(data)
    return collection.state.page_count()


def read_datasheet(layout: Layout) -> Datasheet | None:
    """The datasheet that was last made; None when there is none."""
    try:
        return msgspec.json.decode(read_plain(layout.exports_folder / DATASHEET), type=Datasheet)
    except (OSError, msgspec.MsgspecError, RecursionError):
        return None


def _make_site(collection: Collection, target: Path, progress: Progress) -> int:
    assert collection.layout is not None
    directory = Directory.load(collection.layout.directory_file)
    if directory is None or directory.pages != collection.state.page_count():
        directory = collection.directory(progress=progress)
        directory.save(collection.layout.directory_file)
    title = topic_name(collection.layout.topic_file) or collection.layout.root.name
    work = Path(tempfile.mkdtemp(dir=target.parent, prefix=".site."))
    try:
        site = work / "directory"
        write_static_directory(collection, directory, site, title=title, at=time.time(), progress=progress)
        with (
            replacing(target) as temporary,
            zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            for path in sorted(site.iterdir()):
                archive.write(path, f"directory/{path.name}")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return directory.listed
