"""Where recorded webs live on this machine, and where a user gets the known ones."""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec

from honeyguide.errors import HoneyguideError

MANIFEST = "web.json"
LABELS = "labels.tsv"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class WebError(HoneyguideError):
    """A recorded web cannot be found, read or imported."""


class Known(msgspec.Struct, frozen=True):
    """A public data set that experiments use; nothing of it is part of this program."""

    title: str
    origin: str
    """Where a user gets the original."""
    how: str
    """The command that imports it."""
    mounts: tuple[str, ...] = ()
    """Path prefixes that its pages' links have and its recorded addresses lack."""


KNOWN = {
    "webkb": Known(
        "the 4 Universities set of 1997: computer science departments, seven page classes",
        "CMU World Wide Knowledge Base project, webkb-data.gtar.gz"
        " (www.cs.cmu.edu/afs/cs/project/theo-20/www/data/)",
        "honeyguide lab import webkb PATH",
    ),
    "schools": Known(
        "Wikipedia for Schools: about 5,000 articles in a tree of subjects",
        "SOS Children's Villages, Wikipedia for Schools, offline edition (www.wikipedia-for-schools.org)",
        "honeyguide lab import schools PATH",
    ),
    "office-help": Known(
        "help pages of an office suite, in English and Chinese",
        "the LibreOffice offline help packages as HTML (www.libreoffice.org), archived as a WARC file",
        "honeyguide lab import warc PATH --labels FILE --name office-help --mount /en-US --mount /zh-CN",
        mounts=("/en-US", "/zh-CN"),
    ),
    "manuals": Known(
        "documentation of ten projects on ten hosts, with subjects that cross them",
        "Debian 12: in an empty folder, `apt-get download python-scipy-doc python-pandas-doc"
        " python-sklearn-doc python-django-doc postgresql-doc-15 sqlite3-doc apache2-doc"
        " python-sqlalchemy-doc git-doc python-requests-doc`",
        "honeyguide lab import manuals PATH",
    ),
}


class Manifest(msgspec.Struct, frozen=True):
    """What an imported web says of itself (`web.json` in its folder)."""

    name: str
    origin: str = ""
    """Kind and path of what it was imported from."""
    mounts: tuple[str, ...] = ()
    format: int = 1


class Sources(msgspec.Struct, frozen=True):
    """The files that a recorded web consists of."""

    name: str
    archives: tuple[Path, ...]
    labels: Path | None
    mounts: tuple[str, ...] = ()
    origin: str = ""


def data_home() -> Path:
    """`HONEYGUIDE_HOME`, or the user's data folder."""
    named = os.environ.get("HONEYGUIDE_HOME")
    return Path(named).expanduser() if named else Path.home() / ".local" / "share" / "honeyguide"


def webs_folder() -> Path:
    """Imported webs, a folder each."""
    return data_home() / "webs"


def cache_folder() -> Path:
    """Parsed pages and indexes; may be deleted at any time."""
    return data_home() / "cache"


def check_name(name: str) -> str:
    """The name itself when a web may be called so.

    Example:
        >>> check_name("webkb")
        'webkb'
    """
    if not _NAME.fullmatch(name):
        raise WebError(f"{name!r} cannot name a recorded web; use small letters, digits, dots and dashes")
    return name


def find_web(name: str | Path) -> Sources:
    """The files of a web: by name (imported, or beside the data sets), by folder or by WARC file.

    Raises:
        WebError: There is none; the message says how to get it.
    """
    path, text = Path(name), str(name)
    if path.is_dir() and ((path / MANIFEST).is_file() or not _NAME.fullmatch(text)):
        return _folder(path)
    if path.is_file():
        return _file(path)
    if _NAME.fullmatch(text):
        if (webs_folder() / text / MANIFEST).is_file():
            return _folder(webs_folder() / text)
        for folder in data_folders():
            beside = folder / f"{text}.warc.gz"
            if beside.is_file():
                return _file(beside)
    known = KNOWN.get(text)
    if known is not None:
        raise WebError(f"the web {text!r} is not here: get it from {known.origin}, then run: {known.how}")
    raise WebError(f"no recorded web {text!r}; `honeyguide lab webs` lists those at hand")


def data_folders() -> list[Path]:
    """Folders that may hold `NAME.warc.gz` beside `NAME.labels.tsv`, in the order they are looked at."""
    named = os.environ.get("HONEYGUIDE_DATA")
    here = [Path.cwd() / ".." / "shared" / "data", Path(__file__).resolve().parents[6] / "shared" / "data"]
    found = [root / "webs" for root in ([Path(named)] if named else here)]
    return list(dict.fromkeys(folder.resolve() for folder in found if folder.is_dir()))


def at_hand() -> list[Sources]:
    """Every web that can be opened by name, imported ones first."""
    found: dict[str, Sources] = {}
    folder = webs_folder()
    if folder.is_dir():
        for path in sorted(folder.iterdir()):
            if (path / MANIFEST).is_file():
                found.setdefault(path.name, _folder(path))
    for data in data_folders():
        for path in sorted(data.glob("*.warc.gz")):
            found.setdefault(path.name.removesuffix(".warc.gz"), _file(path))
    return list(found.values())


def _folder(folder: Path) -> Sources:
    place = folder / MANIFEST
    if not place.is_file():
        raise WebError(f"{folder} holds no recorded web (no {MANIFEST}); import it first")
    try:
        manifest = msgspec.json.decode(place.read_bytes(), type=Manifest)
    except (OSError, msgspec.MsgspecError) as error:
        raise WebError(f"{place}: {error}; import the web again") from error
    archives = tuple(sorted(folder.glob("*.warc.gz")) + sorted(folder.glob("*.warc")))
    if not archives:
        raise WebError(f"{folder} holds no WARC file; import the web again")
    labels = folder / LABELS
    return Sources(
        manifest.name, archives, labels if labels.is_file() else None, manifest.mounts, manifest.origin
    )


def _file(path: Path) -> Sources:
    name = path.name.removesuffix(".gz").removesuffix(".warc")
    labels = path.with_name(f"{name}.labels.tsv")
    known = KNOWN.get(name)
    return Sources(
        name,
        (path,),
        labels if labels.is_file() else None,
        known.mounts if known else (),
        f"WARC {path}",
    )
