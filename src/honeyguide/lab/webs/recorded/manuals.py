"""Manuals of ten projects on ten hosts, from Debian's documentation packages; labels come from addresses."""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from honeyguide.lab.webs.recorded.home import LABELS, WebError
from honeyguide.lab.webs.recorded.importing import Imported, import_archive, new_writer, store_web
from honeyguide.lab.webs.recorded.labels import write_rows
from honeyguide.store.archive import Exchange

SHELF = "https://manuals.example/index.html"
PUBLISHED = 1_577_836_800.0
"""2020-01-01: packages differ in the dates of their files from build to build."""
MAX_FILE = 16 * 1024 * 1024
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=UTF-8\r\nContent-Length: %d\r\n\r\n"


class Manual(msgspec.Struct, frozen=True):
    """Where a package keeps a manual's pages, and the address they have on the web."""

    project: str
    package: str
    folder: str
    address: str
    left_out: str = ""
    """Pattern of paths that are left out: thousands of pages in one template would be most of the web."""


MANUALS = (
    Manual(
        "scipy",
        "python-scipy-doc",
        "python-scipy-doc/html/",
        "https://docs.scipy.org/doc/scipy/",
        r"linalg\.(blas|lapack)|sparse\.\w+_(matrix|array)\.",
    ),
    Manual(
        "pandas",
        "python-pandas-doc",
        "python-pandas-doc/html/",
        "https://pandas.pydata.org/docs/",
        r"^(reference/api|generated)/",
    ),
    Manual("sklearn", "python-sklearn-doc", "python-sklearn-doc/html/", "https://scikit-learn.org/stable/"),
    Manual(
        "django", "python-django-doc", "python-django-doc/html/", "https://docs.djangoproject.com/en/3.2/"
    ),
    Manual("postgres", "postgresql-doc-15", "postgresql-doc-15/html/", "https://www.postgresql.org/docs/15/"),
    Manual("sqlite", "sqlite3-doc", "sqlite3/", "https://www.sqlite.org/"),
    Manual("apache", "apache2-doc", "apache2-doc/manual/en/", "https://httpd.apache.org/docs/2.4/"),
    Manual(
        "sqlalchemy",
        "python-sqlalchemy-doc",
        "python-sqlalchemy-doc/html/",
        "https://docs.sqlalchemy.org/en/14/",
    ),
    Manual("git", "git-doc", "git-doc/", "https://git-scm.com/docs/"),
    Manual(
        "requests",
        "python-requests-doc",
        "python-requests-doc/html/",
        "https://requests.readthedocs.io/en/latest/",
    ),
)
"""In the order of the shelf."""

SUBJECTS = {
    "statistics": r"scipy/.*(scipy\.stats|tutorial/stats)|scikit-learn.*(covariance|naive_bayes|mixture)",
    "signal-processing": r"scipy/.*(scipy\.(signal|fft|fftpack)\b|tutorial/(signal|fft))",
    "optimization": r"scipy/.*(scipy\.optimize|tutorial/optimize)|scikit-learn.*model_selection",
    "sql-commands": r"postgresql.*/(sql|ddl|dml|queries)-|sqlite\.org/(lang|syntax/)"
    r"|sqlalchemy.*core/(dml|ddl|selectable|sqlelement)",
    "decision-trees": r"scikit-learn.*(/ensemble|/tree|sklearn\.(ensemble|tree)\b|_tree\b)",
    "release-notes": r"/releases/|/releaselog/|whatsnew/|/changelog/|sqlite\.org/changes"
    r"|(scipy/|postgresql\.org/docs/15/)release[.-]",
    "forms-and-views": r"djangoproject.*(/forms|class-based-views|generic-views)",
}
"""Subjects that cross projects, by the addresses of their pages."""

_INDEXES = re.compile(r"(search|genindex)\.html?$|_modules|py-modindex")


def import_manuals(path: Path, *, name: str = "manuals", replace: bool = False) -> Imported:
    """Import a folder of Debian packages (`apt-get download`), their unpacked files, or a WARC with labels.

    Packages are read in place: nothing of them is run or unpacked. Their files may as well be where Debian
    installs them (`/usr/share/doc`, or a folder that `dpkg-deb -x` unpacked them to).

    Raises:
        WebError: A manual is missing; the message names its package.
    """
    if path.is_file():
        return import_archive(path, name=name, replace=replace)
    if not path.is_dir():
        raise WebError(f"{path}: no such folder; give the one with the packages")

    def fill(folder: Path) -> None:
        writer = new_writer(folder)
        rows = [(SHELF, "manuals.example", "shelf")]
        writer.write_exchange(_exchange(SHELF, shelf()))
        for manual in MANUALS:
            pages = dict(_files(path, manual))
            if not pages:
                raise WebError(
                    f"{path}: the manual of {manual.project} is not in it; run `apt-get download "
                    f"{manual.package}` there (Debian 12)"
                )
            for place, body in sorted(pages.items()):
                url = manual.address + place
                writer.write_exchange(_exchange(url, body))
                rows.append((url, manual.project, f"{manual.project}/{section(place)}"))
                rows += [(url, manual.project, f"subject/{subject}") for subject in subjects_of(url)]
        writer.close()
        write_rows(folder / LABELS, rows)

    return store_web(name, fill, origin=f"Debian's documentation packages {path.resolve()}", replace=replace)


def shelf() -> bytes:
    """The page that links to the ten manuals: where crawls begin."""
    items = "".join(
        f'<li><a href="{manual.address}index.html">The {manual.project} manual</a></li>' for manual in MANUALS
    )
    title = "A shelf of manuals"
    return (
        f"<html><head><title>{title}</title></head><body><h1>{title}</h1><ul>{items}</ul></body></html>"
    ).encode()


def section(place: str) -> str:
    """The part of its manual that a page belongs to: module, folder, or first word of its name.

    Example:
        >>> section("reference/generated/scipy.stats.norm.html"), section("releases/1.4.html")
        ('stats', 'releases')
        >>> section("sql-select.html")
        'sql'
    """
    *folders, name = place.split("/")
    stem = re.sub(r"\.html?$", "", name)
    if "generated" in folders and "." in stem:
        return stem.split(".")[1]
    return folders[0] if folders else stem.split("-")[0]


def subjects_of(url: str) -> list[str]:
    """The subjects that a page belongs to.

    Example:
        >>> subjects_of("https://www.postgresql.org/docs/15/sql-select.html")
        ['sql-commands']
    """
    return [subject for subject, pattern in SUBJECTS.items() if re.search(pattern, url)]


def _exchange(url: str, body: bytes) -> Exchange:
    return Exchange(url, PUBLISHED, _HEAD % len(body), body)


def _wanted(manual: Manual, name: str) -> str | None:
    """The path inside the manual of a packaged or unpacked file, or None where it is not a page of it."""
    _, found, place = name.partition(f"share/doc/{manual.folder}")
    if not found or not re.search(r"\.html?$", place) or _INDEXES.search(place):
        return None
    return None if manual.left_out and re.search(manual.left_out, place) else place


def _files(path: Path, manual: Manual) -> Iterator[tuple[str, bytes]]:
    packages = sorted(path.glob(f"{manual.package}_*.deb"))
    if packages:
        yield from _packaged(packages[-1], manual)
        return
    for root in (path, path / "usr" / "share" / "doc", *path.glob("*/usr/share/doc")):
        for file in sorted((root / manual.folder).rglob("*.htm*")):
            place = _wanted(manual, f"share/doc/{manual.folder}{file.relative_to(root / manual.folder)}")
            if place and file.is_file() and file.stat().st_size <= MAX_FILE:
                yield place, file.read_bytes()


def _packaged(package: Path, manual: Manual) -> Iterator[tuple[str, bytes]]:
    """Pages of a Debian package: an `ar` archive with a tar of the files. Nothing is unpacked."""
    try:
        with tarfile.open(fileobj=io.BytesIO(_member(package, "data.tar")), mode="r:*") as archive:
            for member in archive:
                place = _wanted(manual, member.name)
                if place is None or member.size > MAX_FILE or not (member.isreg() or member.issym()):
                    continue
                try:
                    file = archive.extractfile(member)  # a link inside the package leads to its target
                except KeyError:
                    continue  # a link that leads out of it
                if file is not None:
                    yield place, file.read()
    except (tarfile.TarError, OSError, EOFError) as error:
        raise WebError(f"{package}: damaged package ({error}); download it again") from error


def _member(package: Path, prefix: str) -> bytes:
    """The first member of an `ar` archive whose name begins like this."""
    data = package.read_bytes()
    place = 8
    while data.startswith(b"!<arch>\n") and place + 60 <= len(data):
        name, size = data[place : place + 16].decode("latin-1").strip(), data[place + 48 : place + 58]
        if not size.strip().isdigit():
            break
        end = place + 60 + int(size)
        if name.startswith(prefix):
            return data[place + 60 : end]
        place = end + end % 2
    raise WebError(f"{package}: no {prefix} in it; is it a Debian package?")
