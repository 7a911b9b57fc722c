"""The directory as static HTML: a folder of files that opens without a server, and goes onto any.

All links between its files are relative, style and script are files of their own, and each page carries a
policy that allows nothing else; texts from the web are escaped by the templates.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

import jinja2
import msgspec

from honeyguide.collection.collection import Collection
from honeyguide.collection.directory import Directory
from honeyguide.collection.directory_entries import Entry
from honeyguide.collection.exports.selection import Progress, silent
from honeyguide.store.atomic import replacing_folder

PAGE = 100
"""Pages in one list."""
HOSTS = 400
"""Hosts in one list."""
MARKER = "directory.json"
_HERE = Path(__file__).parent
_Item = TypeVar("_Item")


class _Link(msgspec.Struct, frozen=True):
    """A host in the list of hosts."""

    name: str
    count: int
    href: str


def write_static_directory(
    collection: Collection,
    directory: Directory,
    folder: Path,
    *,
    title: str,
    at: float,
    progress: Progress = silent,
) -> int:
    """Write the directory into a folder; how many files it has.

    Args:
        collection: Where the pages are.
        directory: What to show.
        folder: New, empty, or an earlier directory, which is replaced as a whole when all is written.
        title: Of every page.
        at: Epoch seconds, said at the foot of every page.
        progress: Told about pages written; each is written by subject and by host.

    Raises:
        CollectionError: The folder holds something else, or cannot be written.
    """
    with replacing_folder(folder, made_by=(MARKER, "index.html")) as work:
        return _Site(collection, directory, work, title=title, at=at, progress=progress).write()


class _Site:
    """Writes the files of one directory."""

    def __init__(
        self,
        collection: Collection,
        directory: Directory,
        folder: Path,
        *,
        title: str,
        at: float,
        progress: Progress,
    ) -> None:
        self._collection = collection
        self._directory = directory
        self._folder = folder
        self._progress = progress
        self._done = 0
        self._files = 0
        self._templates = _environment()
        self._templates.globals |= {
            "site": title,
            "listed": directory.listed,
            "made": datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d"),
        }

    def write(self) -> int:
        for name in ("directory.css", "directory-filter.js"):
            shutil.copyfile(_HERE / "static" / name, self._folder / name)
            self._files += 1
        for number, subject in enumerate(self._directory.subjects, 1):
            for page, pages, rows in _paged(subject.rows, PAGE):
                self._render(
                    _name(f"subject-{number}", page),
                    "static_subject.html",
                    subject=subject,
                    groups=(("", "", self._entries(rows)),),
                    page=page,
                    pages=pages,
                    href=partial(_name, f"subject-{number}"),
                )
        hosts = self._write_pages_by_host()
        self._write_hosts(hosts)
        self._write_index(hosts)
        self._directory.save(self._folder / MARKER)
        return self._files + 1

    def _write_index(self, hosts: list[_Link]) -> None:
        subjects = [
            (
                subject,
                _name(f"subject-{number}", 1),
                self._collection.entries(subject.rows[:3], snippets=False),
            )
            for number, subject in enumerate(self._directory.subjects, 1)
        ]
        self._render(
            "index.html",
            "static_index.html",
            subjects=subjects,
            hosts=sorted(hosts, key=lambda host: (-host.count, host.name))[:12],
            host_count=len(hosts),
            copies=self._directory.copies,
        )

    def _write_pages_by_host(self) -> list[_Link]:
        """Pages of one host after another, in files of equal length; where each host begins."""
        flat = [(number, row) for number, host in enumerate(self._directory.hosts) for row in host.rows]
        links: list[_Link] = []
        for page, pages, part in _paged(flat, PAGE):
            groups: list[tuple[str, str, list[Entry]]] = []
            for number in dict.fromkeys(number for number, _ in part):
                host = self._directory.hosts[number]
                rows = [row for owner, row in part if owner == number]
                groups.append((host.name, f"host-{number + 1}", self._entries(rows)))
                if rows[0] == host.rows[0]:
                    href = f"{_name('by-host', page)}#host-{number + 1}"
                    links.append(_Link(host.name, len(host.rows), href))
            self._render(
                _name("by-host", page),
                "static_subject.html",
                subject=None,
                groups=tuple(groups),
                page=page,
                pages=pages,
                href=partial(_name, "by-host"),
            )
        return links

    def _write_hosts(self, hosts: list[_Link]) -> None:
        for page, pages, shown in _paged(hosts, HOSTS):
            self._render(
                _name("hosts", page),
                "static_hosts.html",
                hosts=shown,
                host_count=len(hosts),
                page=page,
                pages=pages,
                href=partial(_name, "hosts"),
            )

    def _entries(self, rows: Sequence[int]) -> list[Entry]:
        self._done += len(rows)
        self._progress(self._done, 2 * self._directory.listed)
        return self._collection.entries(rows)

    def _render(self, name: str, template: str, **values: object) -> None:
        text = self._templates.get_template(template).render(**values)
        (self._folder / name).write_bytes(text.encode("utf-8", "replace"))
        self._files += 1


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": "{:,}".format, "when": _day, "score": "{:.3f}".format}
    environment.tests["web"] = lambda url: str(url).startswith(("http://", "https://"))
    return environment


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")


def _name(stem: str, page: int) -> str:
    return f"{stem}.html" if page == 1 else f"{stem}-page-{page}.html"


def _paged(items: Sequence[_Item], size: int) -> Iterator[tuple[int, int, Sequence[_Item]]]:
    """(number of the page, number of pages, what is on it)."""
    pages = max(1, math.ceil(len(items) / size))
    for page in range(1, pages + 1):
        yield page, pages, items[(page - 1) * size : page * size]
