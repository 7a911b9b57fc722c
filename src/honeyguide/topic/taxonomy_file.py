"""Taxonomy files: ODP/DMOZ RDF dumps, trees as TSV, label lists of recorded webs."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final, cast

from honeyguide.errors import TopicError
from honeyguide.topic.rdf import read_rdf
from honeyguide.topic.taxonomy import Item, Listed, Read, TreeTopic

MAX_LINE: Final = 1_000_000
"""Bytes of one line of a TSV file."""
_COLUMNS: Final = ("path", "chinese", "description", "url", "title")
_LABELS: Final = ("url", "label")


def open_taxonomy(files: Sequence[Path]) -> Read:
    """A reader of one or more files that together make a tree (ODP: structure and content).

    The kind of each is found by its content. Files may be gzipped. Nothing is read yet, except for the
    beginning of each file.

    Raises:
        TopicError: A file cannot be read or is not a taxonomy.
    """
    kinds = [(path, _kind(path)) for path in files]
    if not kinds:
        raise TopicError("no taxonomy file; name one")

    def read() -> Iterator[Item]:
        for path, kind in kinds:
            with _opened(path) as stream:
                try:
                    yield from read_rdf(stream, path) if kind == "rdf" else _read_table(stream, path)
                except (OSError, EOFError, zlib.error) as error:
                    raise TopicError(f"{path} is damaged or cut short ({error}); fetch it again") from None

    return read


def _opened(path: Path) -> BinaryIO:
    try:
        if path.is_dir():
            raise TopicError(f"{path} is a folder; name the taxonomy file in it")
        stream = path.open("rb")
        packed = stream.read(2) == b"\x1f\x8b"
        if packed:
            stream.close()
            return cast("BinaryIO", gzip.open(path))
    except OSError as error:
        raise TopicError(f"cannot read the taxonomy {path}: {error.strerror}; check the path") from None
    stream.seek(0)
    return stream


def _kind(path: Path) -> str:
    with _opened(path) as stream:
        try:
            head = stream.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
        except (OSError, EOFError, zlib.error) as error:
            raise TopicError(f"{path} is damaged ({error}); fetch it again") from None
    if head.startswith(b"<"):
        return "rdf"
    first = head.split(b"\n", 1)[0].decode("utf-8", "replace").rstrip("\r").split("\t")
    if "path" in first or set(_LABELS) <= set(first):
        return "table"
    raise TopicError(
        f"{path} is not a taxonomy; give an ODP RDF file, or a tab-separated file whose first line names its "
        f"columns: {', '.join(_COLUMNS)} (or url, site, label)"
    )


def _read_table(stream: BinaryIO, path: Path) -> Iterator[Item]:
    """Rows of a tree (`path` and any of the other columns) or of labelled pages (`url`, `label`)."""
    head: list[str] = []
    for number, line in enumerate(iter(lambda: stream.readline(MAX_LINE), b""), 1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            raise TopicError(f"{path}:{number}: not UTF-8 text; save the file as UTF-8") from None
        if not head:
            head = text.split("\t")
            continue
        if not text.strip() or text.startswith("#"):
            continue
        cells = text.split("\t")
        if len(cells) > len(head):
            raise TopicError(
                f"{path}:{number}: {len(cells)} columns instead of {len(head)}; correct the line"
            )
        row = dict(zip(head, cells, strict=False))
        at = row.get("path") or row.get("label", "")
        if not at.strip("/ "):
            raise TopicError(f"{path}:{number}: no path; write one such as 'Sports/Basketball'")
        if row.get("url"):
            yield Listed(at, row["url"], row.get("title", ""), row.get("description", ""))
        else:
            title, description = row.get("title", ""), row.get("description", "")
            yield TreeTopic(at, title, description, row.get("chinese", ""), number)
