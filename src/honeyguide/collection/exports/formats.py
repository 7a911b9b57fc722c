"""Every export by its name: the one list that the command line, Python and the portal share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

import msgspec

from honeyguide.collection.exports.datasheet import datasheet, topic_name
from honeyguide.collection.exports.gexf import write_gexf
from honeyguide.collection.exports.left_out import Trouble, log_trouble
from honeyguide.collection.exports.markdown_files import (
    MarkdownPages,
    write_markdown_files,
    write_markdown_lines,
)
from honeyguide.collection.exports.opml import write_opml
from honeyguide.collection.exports.page_rows import page_rows
from honeyguide.collection.exports.sections import Datasheet, to_html, to_markdown
from honeyguide.collection.exports.selection import Progress, Selection, silent
from honeyguide.collection.exports.tables import PAGE_COLUMNS, TEXT_COLUMN, export
from honeyguide.collection.exports.wacz import write_wacz
from honeyguide.collection.exports.warc import write_warc
from honeyguide.collection.markdown import MarkdownMaker
from honeyguide.errors import CollectionError
from honeyguide.store.atomic import replacing
from honeyguide.store.index import FullText
from honeyguide.store.layout import Layout
from honeyguide.store.reviews import Reviews, read_reviews
from honeyguide.store.state import State


class Format(msgspec.Struct, frozen=True):
    """A kind of file that a collection can be written as."""

    name: str
    file: str
    """Name of the file unless another is asked for."""
    media_type: str
    meaning: str
    pages: bool = True
    """Whether it can hold all pages instead of those on topic."""
    text: bool = False
    """Whether it can hold the pages' text as well."""
    folder: bool = False
    """Whether it is a folder of files."""


FORMATS = {
    each.name: each
    for each in (
        Format("jsonl", "pages.jsonl", "application/x-ndjson", "One JSON object per page", text=True),
        Format("csv", "pages.csv", "text/csv", "A table for spreadsheets; formulas are disarmed", text=True),
        Format(
            "parquet",
            "pages.parquet",
            "application/vnd.apache.parquet",
            "A table with types, for data frames",
            text=True,
        ),
        Format("markdown", "markdown", "text/markdown", "Clean text, a Markdown file per page", folder=True),
        Format(
            "markdown-jsonl",
            "pages-markdown.jsonl",
            "application/x-ndjson",
            "Clean text as Markdown, one JSON object per page",
        ),
        Format("warc", "pages.warc.gz", "application/warc", "Archived answers, record by record"),
        Format(
            "wacz", "pages.wacz", "application/wacz", "Archive, index and page list, for replay", text=True
        ),
        Format("gexf", "links.gexf", "application/gexf+xml", "The link graph, for Gephi"),
        Format("opml", "hosts.opml", "text/x-opml", "Hosts with their feeds and pages, as outlines"),
        Format(
            "datasheet", "datasheet.md", "text/markdown", "What the collection is, in Markdown", pages=False
        ),
        Format(
            "datasheet-html", "datasheet.html", "text/html", "What the collection is, as a page", pages=False
        ),
    )
}


class ExportSource(msgspec.Struct, frozen=True):
    """What an export reads, and how it is asked for."""

    state: State
    layout: Layout | None
    relevant: bool
    text: bool
    at: float
    progress: Progress = silent
    as_of: float | None = None
    """As the collection was at this moment; None for now."""
    language: str = ""
    """Only pages in this language; empty for all."""
    unique: bool = False
    """Without pages that repeat another."""
    trouble: Trouble = log_trouble
    """Told about pages whose records in the archive are damaged."""

    @property
    def reviews(self) -> Reviews | None:
        """What people said; None for a crawl kept in memory."""
        return read_reviews(self.layout.root) if self.layout else None

    @property
    def software(self) -> str:
        """Name and version, as it goes into files."""
        return f"honeyguide/{version('honeyguide')}"

    @property
    def archive(self) -> Path:
        """The folder of WARC files.

        Raises:
            CollectionError: The crawl was kept in memory.
        """
        if self.layout is None:
            raise CollectionError("a crawl kept in memory has no archive; give it a folder with out=")
        return self.layout.archive_folder

    @property
    def title(self) -> str:
        """The topic's name."""
        return topic_name(self.layout.topic_file if self.layout else None)

    def selection(self) -> Selection:
        """The pages asked for."""
        return Selection(
            self.state,
            relevant=self.relevant,
            reviews=self.reviews,
            as_of=self.as_of,
            language=self.language,
            unique=self.unique,
        )

    def index(self) -> AbstractContextManager[FullText | None]:
        """The full text, if texts are wanted."""
        if not self.text:
            return nullcontext()
        if self.layout is None:
            raise CollectionError("a crawl kept in memory has no index; give it a folder with out=")
        return closing(FullText.open(self.layout.index_file, read_only=True))

    def text_of(self, index: FullText | None) -> Callable[[int], str] | None:
        """Gives the text of a page by its row, as it was then; None where texts are not wanted."""
        if index is None or self.as_of is None:
            return index.text if index is not None else None
        dates = {page.row: page.at for page in self.state.pages_as_of(self.as_of)}

        def text(row: int) -> str:
            assert index is not None
            at = dates.get(row, -1.0)
            return index.text(row) if index.dated(row) == at else index.past_text(row, at) or ""

        return text


def write_export(source: ExportSource, path: Path, name: str) -> int:
    """Write one file; how many pages it holds (of a datasheet: describes).

    Raises:
        CollectionError: An unknown format, an option it has not, a damaged archive or a full disk.
    """
    form = FORMATS.get(name)
    if form is None:
        raise CollectionError(f"there is no format {name!r}; use one of {', '.join(FORMATS)}")
    if not form.folder:
        require_regular(path)
    if source.as_of is not None and not form.pages:
        raise CollectionError(f"{name} describes a collection as it is now; leave --as-of out")
    if (source.language or source.unique) and not form.pages:
        raise CollectionError(f"{name} describes a whole collection; leave --language and --unique out")
    if source.text and not form.text:
        having = ", ".join(each.name for each in FORMATS.values() if each.text)
        raise CollectionError(f"{name} files hold no texts of their own; use one of {having}, or no --text")
    return _WRITERS[name](source, path)


def require_regular(path: Path) -> None:
    """Refuse to replace anything but a file: a device, a pipe, a link or a folder is not ours to take away.

    Raises:
        CollectionError: There is something else under that name.
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):
        hint = "use `--out -`" if path.parent == Path("/dev") else "choose another name, or `-`"
        raise CollectionError(f"{path} is not a regular file; {hint} to write to standard output")


def describe(source: ExportSource) -> Datasheet:
    """The datasheet as a document."""
    return datasheet(
        source.state,
        topic_file=source.layout.topic_file if source.layout else None,
        archive=source.layout.archive_folder if source.layout else None,
        reviews=source.reviews,
        software=source.software,
        at=source.at,
        progress=source.progress,
    )


def _table(source: ExportSource, path: Path, name: str) -> int:
    columns = (*PAGE_COLUMNS, TEXT_COLUMN) if source.text else PAGE_COLUMNS
    with source.index() as index:
        rows: Iterator[dict[str, object]] = page_rows(
            source.selection(), source.text_of(index), source.progress
        )
        return export(rows, path, form=name, columns=columns)


def _markdown(source: ExportSource, path: Path, write: Callable[..., int]) -> int:
    with MarkdownMaker() as maker:
        pages = MarkdownPages(source.selection(), source.archive, maker, source.trouble)
        return write(pages, path, progress=source.progress)


def _warc(source: ExportSource, path: Path) -> int:
    return write_warc(
        source.selection(),
        source.archive,
        path,
        software=source.software,
        at=source.at,
        progress=source.progress,
        trouble=source.trouble,
    )


def _wacz(source: ExportSource, path: Path) -> int:
    with source.index() as index:
        return write_wacz(
            source.selection(),
            source.archive,
            path,
            software=source.software,
            at=source.at,
            title=source.title,
            text_of=source.text_of(index),
            progress=source.progress,
            trouble=source.trouble,
        )


def _graph(source: ExportSource, path: Path) -> int:
    return write_gexf(
        source.selection(),
        path,
        software=source.software,
        at=source.at,
        title=source.title,
        progress=source.progress,
    )


def _outline(source: ExportSource, path: Path) -> int:
    return write_opml(
        source.selection(),
        path,
        software=source.software,
        at=source.at,
        title=source.title,
        progress=source.progress,
    )


def _sheet(source: ExportSource, path: Path, render: Callable[[Datasheet], str]) -> int:
    text = render(describe(source))
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="replace")
    return source.state.page_count()


_Writer: TypeAlias = Callable[[ExportSource, Path], int]
_WRITERS: dict[str, _Writer] = {
    "jsonl": lambda source, path: _table(source, path, "jsonl"),
    "csv": lambda source, path: _table(source, path, "csv"),
    "parquet": lambda source, path: _table(source, path, "parquet"),
    "markdown": lambda source, path: _markdown(source, path, write_markdown_files),
    "markdown-jsonl": lambda source, path: _markdown(source, path, write_markdown_lines),
    "warc": _warc,
    "wacz": _wacz,
    "gexf": _graph,
    "opml": _outline,
    "datasheet": lambda source, path: _sheet(source, path, to_markdown),
    "datasheet-html": lambda source, path: _sheet(source, path, to_html),
}
