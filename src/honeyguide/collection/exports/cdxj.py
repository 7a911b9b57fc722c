"""CDXJ: a sorted index of a WARC file, one JSON line an answer, as replay software reads it."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

import msgspec

from honeyguide.collection.exports.warc import Copied
from honeyguide.collection.guarded import utc

LINES_A_BLOCK = 3_000
_WWW = re.compile(r"www\d*\.")
_SLASHES = re.compile(r"/{2,}")


def surt(url: str) -> str:
    """Sort-friendly key of an address: host reversed, then path, without what seldom matters.

    Host and path in lower case, no `www.`, no default port, no last slash, arguments in order: the form
    that the Internet Archive's tools use, so that replay finds pages under small differences of spelling.

    Example:
        >>> surt("https://www.example.org:443/Owls/?b=2&a=1")
        'org,example)/owls?a=1&b=2'
    """
    try:
        split = urlsplit(url.lower())
    except ValueError:
        return url.replace(" ", "%20")
    host = _WWW.sub("", split.hostname or "", count=1) if _WWW.match(split.hostname or "") else split.hostname
    name = ",".join(reversed((host or "").split("."))) if ":" not in (host or "") else host
    try:
        port = split.port
    except ValueError:
        port = None
    if port is not None and port != {"http": 80, "https": 443}.get(split.scheme):
        name = f"{name}:{port}"
    path = _SLASHES.sub("/", split.path or "/")
    path = path.rstrip("/") if len(path) > 1 else path
    query = "&".join(sorted(split.query.split("&"))) if split.query else ""
    return f"{name}){path or '/'}{'?' + query if query else ''}".replace(" ", "%20")


def timestamp(at: float) -> str:
    """Fourteen digits of UTC.

    Example:
        >>> timestamp(0.0)
        '19700101000000'
    """
    return utc(at).strftime("%Y%m%d%H%M%S")


def line(copied: Copied, filename: str) -> tuple[str, str]:
    """Key and JSON of one answer."""
    values = {
        "url": copied.url,
        "mime": "warc/revisit" if copied.kind == "revisit" else copied.content_type or "unk",
        "status": str(copied.status),
        "digest": copied.digest,
        "length": str(copied.length),
        "offset": str(copied.offset),
        "filename": filename,
    }
    return f"{surt(copied.url)} {timestamp(copied.at)}", json.dumps(values)


class SortedLines:
    """Sorts index lines on the disk, in a temporary database that goes with the object."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect("")  # SQLite keeps it in memory while small, then in a file
        self._connection.execute("CREATE TABLE line (key TEXT, number INTEGER, json TEXT)")
        self._count = 0

    def add(self, key: str, text: str) -> None:
        """Take one line."""
        self._count += 1
        self._connection.execute("INSERT INTO line VALUES (?, ?, ?)", (key, self._count, text))

    def __iter__(self) -> Iterator[str]:
        """All lines in order of their keys, which are compared byte by byte."""
        for key, text in self._connection.execute("SELECT key, json FROM line ORDER BY key, number"):
            yield f"{key} {text}\n"

    def close(self) -> None:
        """Throw it away."""
        self._connection.close()


class IndexMember(msgspec.Struct, frozen=True):
    """A gzip member of a compressed index, and the line that finds it."""

    data: bytes
    entry: str


def blocks(lines: Iterable[str], *, size: int = LINES_A_BLOCK) -> Iterator[IndexMember]:
    """A compressed index (`index.cdx.gz`) as members of `size` lines, each with its line for `index.idx`."""
    offset = 0
    gathered: list[str] = []

    def block() -> IndexMember:
        data = gzip.compress("".join(gathered).encode("utf-8", "replace"), mtime=0)
        place = {
            "offset": offset,
            "length": len(data),
            "digest": f"sha256:{hashlib.sha256(data).hexdigest()}",
            "filename": "index.cdx.gz",
        }
        key = gathered[0].split(" {", 1)[0]
        return IndexMember(data, f"{key} {json.dumps(place)}\n")

    for text in lines:
        gathered.append(text)
        if len(gathered) == size:
            made = block()
            yield made
            offset += len(made.data)
            gathered.clear()
    if gathered:
        yield block()
