"""The 4 Universities set (WebKB) as CMU gave it out: `CATEGORY/SITE/http_^^host^path`, MIME headers first."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from pathlib import Path, PurePosixPath

from honeyguide.lab.webs.recorded.home import LABELS, WebError
from honeyguide.lab.webs.recorded.importing import Imported, import_archive, new_writer, store_web
from honeyguide.lab.webs.recorded.labels import write_rows
from honeyguide.store.archive import Exchange

CATEGORIES = frozenset({"course", "department", "faculty", "other", "project", "staff", "student"})
MAX_FILE = 16 * 1024 * 1024
COLLECTED = 852_076_800.0
"""1997-01-01, for pages whose server named no date."""

_NAME = re.compile(r"([a-z]+)[_:]\^\^(.+)", re.DOTALL)
_HEAD = re.compile(rb"(?:HTTP/[^\n]*\r?\n)?((?:[A-Za-z][A-Za-z0-9-]*:[^\n]*\r?\n)+)\r?\n")
_TYPE = re.compile(rb"(?im)^content-type:[ \t]*([^\r\n]+)")
_DATE = re.compile(rb"(?im)^(?:date|last-modified):[ \t]*([^\r\n]+)")
_MODIFIED = re.compile(rb"(?im)^last-modified:[ \t]*([^\r\n]+)")


def import_webkb(path: Path, *, name: str = "webkb", replace: bool = False) -> Imported:
    """Import the original tar (gzipped or not), its unpacked folder, or a WARC file with labels.

    Raises:
        WebError: Nothing of that layout is there.
    """
    if not path.exists():
        raise WebError(f"{path}: no such file or folder; check the path")
    if path.is_file() and not _is_tar(path):
        return import_archive(path, name=name, replace=replace)

    def fill(folder: Path) -> None:
        writer = new_writer(folder)
        rows: list[tuple[str, str, str]] = []
        for place, data in _tar_files(path) if path.is_file() else _folder_files(path):
            found = _page(place, data)
            if found is None:
                continue
            url, site, label, exchange = found
            writer.write_exchange(exchange)
            rows.append((url, site, label))
        writer.close()
        if not rows:
            raise WebError(
                f"{path}: no CATEGORY/SITE/http_^^host^path files in it; is it the 4 Universities set?"
            )
        write_rows(folder / LABELS, rows)

    return store_web(name, fill, origin=f"4 Universities set {path.resolve()}", replace=replace)


def _page(place: PurePosixPath, data: bytes) -> tuple[str, str, str, Exchange] | None:
    """URL, site, label and archived form of one file; None when it is none of the set's."""
    if len(place.parts) < 3 or place.parts[-3] not in CATEGORIES:
        return None
    match = _NAME.fullmatch(place.name)
    if match is None:
        return None
    url = f"{match[1]}://{match[2].replace('^', '/')}"
    head = _HEAD.match(data)
    body = data[head.end() :] if head else data
    fields = head[1] if head else b""
    media = _TYPE.search(fields)
    lines = [b"HTTP/1.0 200 OK", b"Content-Type: " + (media[1].strip() if media else b"text/html")]
    modified = _MODIFIED.search(fields)
    if modified:
        lines.append(b"Last-Modified: " + modified[1].strip())
    lines.append(b"Content-Length: %d" % len(body))
    exchange = Exchange(url, _moment(fields), b"\r\n".join(lines) + b"\r\n\r\n", body)
    return url, place.parts[-2], place.parts[-3], exchange


def _moment(fields: bytes) -> float:
    found = _DATE.search(fields)
    if found is None:
        return COLLECTED
    try:
        return parsedate_to_datetime(found[1].decode("latin-1").strip()).timestamp()
    except (ValueError, OverflowError):
        return COLLECTED


def _is_tar(path: Path) -> bool:
    try:
        return tarfile.is_tarfile(path)
    except (OSError, EOFError):
        return False


def _tar_files(path: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Files of a tar, read in place: nothing is unpacked, so no name in it can lead anywhere."""
    try:
        with tarfile.open(path, "r:*") as archive:
            for member in archive:
                if member.isreg() and member.size <= MAX_FILE and (file := archive.extractfile(member)):
                    yield PurePosixPath(member.name), file.read()
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        raise WebError(f"{path}: damaged tar file ({error}); get it again") from error


def _folder_files(root: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_FILE:
            yield PurePosixPath(path.absolute().as_posix()), path.read_bytes()
