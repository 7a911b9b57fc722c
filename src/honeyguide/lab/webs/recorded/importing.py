"""From other people's files to a recorded web: whole, or not at all."""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import msgspec

from honeyguide.config.schema import VERSION
from honeyguide.lab.webs.recorded.catalogue import WebCatalogue, read_catalogue
from honeyguide.lab.webs.recorded.home import (
    KNOWN,
    LABELS,
    MANIFEST,
    Manifest,
    Sources,
    WebError,
    check_name,
    webs_folder,
)
from honeyguide.lab.webs.recorded.labels import read_labels
from honeyguide.lab.webs.recorded.pages import whole_folder
from honeyguide.store.archive import ArchiveWriter

MAX_MEMBER = 8 << 30
"""Bytes of one WARC file in a WACZ, so that a zip bomb stops early."""


class Imported(msgspec.Struct, frozen=True):
    """What an import gave."""

    name: str
    folder: Path
    pages: int
    labelled: int
    collisions: int
    unfetchable: int


def store_web(
    name: str,
    fill: Callable[[Path], None],
    *,
    origin: str,
    mounts: tuple[str, ...] = (),
    replace: bool = False,
) -> Imported:
    """Make a web in the data home from the WARC files and label table that `fill` puts into a folder.

    The folder appears under its name only when everything in it could be read.

    Raises:
        WebError: The name is taken, or what was filled in is not a recorded web.
    """
    folder = webs_folder() / check_name(name)
    if folder.exists() and not replace:
        raise WebError(f"there is a web {name!r} already; choose another --name, or give --replace")
    with whole_folder(folder, replace=replace) as temporary:
        fill(temporary)
        labels = temporary / LABELS
        archives = tuple(sorted(temporary.glob("*.warc.gz")) + sorted(temporary.glob("*.warc")))
        catalogue = read_catalogue(Sources(name, archives, labels if labels.is_file() else None, mounts))
        _check(catalogue, name)
        manifest = Manifest(name, origin, mounts)
        (temporary / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest)) + b"\n")
    return Imported(
        name,
        folder,
        len(catalogue.sites),
        len(catalogue.labels),
        catalogue.collisions,
        catalogue.unfetchable,
    )


def import_archive(
    path: Path,
    *,
    name: str | None = None,
    labels: Path | None = None,
    mounts: tuple[str, ...] = (),
    replace: bool = False,
) -> Imported:
    """A WARC or WACZ file, with an optional label table (by default `NAME.labels.tsv` beside it)."""
    if not path.is_file():
        raise WebError(f"{path}: no such file; check the path")
    stem = re.sub(r"(?i)(\.warc)?(\.gz)?(\.wacz)?$", "", path.name)
    beside = path.with_name(f"{stem}.labels.tsv")
    table = labels or (beside if beside.is_file() else None)
    if table is not None:
        read_labels(table)
    known = KNOWN.get(name or stem)

    def fill(folder: Path) -> None:
        if zipfile.is_zipfile(path):
            _unpack(path, folder)
        else:
            packed = _starts_with_gzip(path)
            shutil.copyfile(path, folder / f"pages-00001.warc{'.gz' if packed else ''}")
        if table is not None:
            shutil.copyfile(table, folder / LABELS)

    try:
        return store_web(
            name or _as_name(stem),
            fill,
            origin=f"{'WACZ' if path.suffix == '.wacz' else 'WARC'} {path.resolve()}",
            mounts=mounts or (known.mounts if known else ()),
            replace=replace,
        )
    except WebError as error:
        raise _named(error, path, table) from None


def new_writer(folder: Path) -> ArchiveWriter:
    """A writer for pages that come as plain files. Equal input gives equal bytes."""
    return ArchiveWriter(
        folder,
        prefix="pages",
        software=f"honeyguide/{VERSION}",
        clock=lambda: 0.0,
        seed="import",
        max_bytes=1 << 40,
        level=6,
    )


def _check(catalogue: WebCatalogue, name: str) -> None:
    if not catalogue.sites:
        raise WebError(f"{name}: no page in the archive; is it a recording of pages?")
    unknown = catalogue.unknown_labels
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise WebError(
            f"the label table names {unknown[0]}{more}, not in the archive; take such rows out of the table"
        )


def _unpack(path: Path, folder: Path) -> None:
    """Copy the WARC files of a WACZ. Its names are only compared, never used as paths."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = sorted(
                (member for member in archive.infolist() if _is_warc(member.filename)),
                key=lambda member: member.filename,
            )
            if not members:
                raise WebError(f"{path}: no archive/*.warc.gz in it; is it a WACZ file?")
            for number, member in enumerate(members, 1):
                if member.flag_bits & 1 or member.file_size > MAX_MEMBER:
                    raise WebError(
                        f"{path}: {member.filename!r} is encrypted or too large; unpack it yourself"
                    )
                end = ".gz" if member.filename.endswith(".gz") else ""
                with (
                    archive.open(member) as source,
                    (folder / f"pages-{number:05d}.warc{end}").open("wb") as to,
                ):
                    shutil.copyfileobj(source, to, 1 << 20)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise WebError(f"{path}: damaged WACZ file ({error}); get it again") from error


def _is_warc(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    return len(parts) == 2 and parts[0] == "archive" and bool(re.search(r"\.warc(\.gz)?$", name))


def _starts_with_gzip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _as_name(stem: str) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", stem.lower()).strip("-._") or "web"


def _named(error: WebError, path: Path, table: Path | None) -> WebError:
    """The error with the user's file names instead of those in the temporary folder."""
    text = re.sub(r"\S*/\.[^/\s]+\.part/pages-\d+\.warc(\.gz)?", str(path), str(error))
    text = re.sub(r"\S*/\.[^/\s]+\.part/labels\.tsv", str(table), text)
    return WebError(text)
