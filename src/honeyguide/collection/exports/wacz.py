"""A collection as one WACZ file: records, index, page list and description in a zip that replays anywhere.

Written front to back in one pass over the pages: records go straight into the zip, their index lines to a
temporary database that sorts them, the page list to a temporary file.

References:
    Webrecorder: Web Archive Collection Zipped (WACZ) 1.1.1, specs.webrecorder.net/wacz/1.1.1.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import IO

from honeyguide.collection.exports.cdxj import SortedLines, blocks, line
from honeyguide.collection.exports.left_out import Trouble, log_trouble
from honeyguide.collection.exports.selection import Progress, Selection, silent
from honeyguide.collection.exports.warc import RecordCopier, copied_pages
from honeyguide.collection.guarded import utc
from honeyguide.store.atomic import replacing
from honeyguide.store.records import PageRecord

WACZ_VERSION = "1.1.1"
_WARC_NAME = "pages.warc.gz"
_CHUNK = 1 << 20
_PAGES_HEAD = {"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}


def write_wacz(
    selection: Selection,
    archive: Path,
    path: Path,
    *,
    software: str,
    at: float,
    title: str = "",
    description: str = "",
    text_of: Callable[[int], str] | None = None,
    progress: Progress = silent,
    trouble: Trouble = log_trouble,
) -> int:
    """Write the selected pages to one `.wacz`; how many pages it lists.

    Args:
        selection: Which pages.
        archive: Folder of WARC files.
        path: Replaced when all is written.
        software: Said in `datapackage.json` and the warcinfo record.
        at: Epoch seconds of the export.
        title: Of the collection.
        description: Of the collection.
        text_of: Text of a page by its row, for the full-text search of replay software; None to leave it out.
        progress: Told about the pages.
        trouble: Told about pages whose records are damaged; they are left out.

    Raises:
        CollectionError: Nothing of the archive can be read, or the disk is full; no file is left then.
    """
    count = 0
    main: PageRecord | None = None
    with (
        replacing(path) as temporary,
        zipfile.ZipFile(temporary, "w") as archive_file,
        closing(SortedLines()) as index,
        tempfile.TemporaryFile() as listed,
    ):
        package = _Package(archive_file, at)
        listed.write(_json_line({**_PAGES_HEAD, "hasText": text_of is not None}))
        with package.member(f"archive/{_WARC_NAME}", stored=True) as warc:
            copier = RecordCopier(
                archive, warc.write, name=_WARC_NAME, software=software, at=at, trouble=trouble
            )
            with copier:
                for _, copied in copied_pages(selection, copier, progress):
                    index.add(*line(copied, _WARC_NAME))
        for page in selection.pages():
            if copier.has(page):
                main = main or page
                listed.write(_json_line(_listing(page, text_of)))
                count += 1
        _write_index(package, index)
        listed.seek(0)
        with package.member("pages/pages.jsonl") as out:
            while chunk := listed.read(_CHUNK):
                out.write(chunk)
        described = {"title": title, "description": description, "software": software}
        if main is not None:
            described |= {"mainPageUrl": main.url, "mainPageDate": _date(main.at)}
        package.describe(described)
    return count


class _Member:
    """A file in the zip that is hashed while it is written."""

    def __init__(self, package: _Package, name: str, out: IO[bytes]) -> None:
        self._package = package
        self._name = name
        self._out = out
        self._hash = hashlib.sha256()
        self._size = 0

    def __enter__(self) -> _Member:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._out.close()
        if kind is None:
            self._package.resources.append(
                {
                    "name": self._name.rpartition("/")[2],
                    "path": self._name,
                    "hash": f"sha256:{self._hash.hexdigest()}",
                    "bytes": self._size,
                }
            )

    def write(self, data: bytes) -> None:
        self._hash.update(data)
        self._size += len(data)
        self._out.write(data)


class _Package:
    """The zip with the list of what is in it."""

    def __init__(self, archive: zipfile.ZipFile, at: float) -> None:
        self._archive = archive
        self._moment = utc(at)
        self.resources: list[dict[str, object]] = []

    def _info(self, name: str, *, stored: bool) -> zipfile.ZipInfo:
        # Zip knows no year before 1980, which a virtual clock may well show.
        moment = max(self._moment.timetuple()[:6], (1980, 1, 1, 0, 0, 0))
        info = zipfile.ZipInfo(name, moment)
        info.external_attr = 0o644 << 16
        # Replay software reads ranges of records and index blocks straight from the zip.
        info.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
        return info

    def member(self, name: str, *, stored: bool = False) -> _Member:
        return _Member(self, name, self._archive.open(self._info(name, stored=stored), "w", force_zip64=True))

    def describe(self, values: dict[str, str]) -> None:
        """Write `datapackage.json`, and its digest beside it."""
        package = {
            "profile": "data-package",
            "wacz_version": WACZ_VERSION,
            "created": self._moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
            **{key: value for key, value in values.items() if value},
            "resources": self.resources,
        }
        data = json.dumps(package, indent=2).encode()
        self._archive.writestr(self._info("datapackage.json", stored=False), data)
        digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(data).hexdigest()}"}
        self._archive.writestr(
            self._info("datapackage-digest.json", stored=False), json.dumps(digest, indent=2)
        )


def _write_index(package: _Package, index: SortedLines) -> None:
    entries = ['!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}\n']
    with package.member("indexes/index.cdx.gz", stored=True) as out:
        for block in blocks(index):
            out.write(block.data)
            entries.append(block.entry)
    with package.member("indexes/index.idx") as out:
        for entry in entries:
            out.write(entry.encode("utf-8", "replace"))


def _listing(page: PageRecord, text_of: Callable[[int], str] | None) -> dict[str, object]:
    values: dict[str, object] = {
        "id": f"{page.id & 0xFFFFFFFFFFFFFFFF:016x}",
        "url": page.url,
        "ts": _date(page.at),
        "title": page.title,
    }
    if text_of is not None:
        values["text"] = text_of(page.row)
    return values


def _json_line(values: dict[str, object]) -> bytes:
    return json.dumps(values).encode() + b"\n"


def _date(at: float) -> str:
    return utc(at).strftime("%Y-%m-%dT%H:%M:%SZ")
