"""Background text that comes many documents at a time: a folder, a collection, a recorded web."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from honeyguide.errors import TopicError
from honeyguide.fetch.decode import BadEncoding, decode
from honeyguide.model import Document, Page
from honeyguide.parse.base import ParseJob
from honeyguide.parse.html import parse_page
from honeyguide.store.archive_reader import ArchivedResponse, iterate
from honeyguide.store.layout import Layout, is_collection
from honeyguide.topic.examples import MAX_FILES

MAX_BODY = 8 << 20
ARCHIVES = (".warc", ".warc.gz")


def is_archive(path: Path) -> bool:
    """Whether a file is a recorded web by its name."""
    return path.name.lower().endswith(ARCHIVES)


def read_corpus(path: Path, *, read_file: Callable[[Path], Document]) -> Iterator[Document]:
    """The texts of a folder of files, of a collection's archive, or of a WARC file.

    Pages that do not parse are left out: a corpus is many, and one bad page does no harm.

    Args:
        path: Folder, collection or WARC file.
        read_file: Reads one plain file of a folder.
    """
    if path.is_file():
        yield from _archived(path)
        return
    folder = Layout.open(path).archive_folder if is_collection(path) else path
    files = sorted(file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("."))
    if len(files) > MAX_FILES:
        raise TopicError(f"{path} holds more than {MAX_FILES} files; name a smaller folder")
    for file in files:
        if is_archive(file):
            yield from _archived(file)
        else:
            try:
                yield read_file(file)
            except TopicError:
                continue


def _archived(path: Path) -> Iterator[Document]:
    for answer in iterate(path, torn_ok=True):
        if answer.status == 200 and answer.payload:
            page = _page(answer)
            if page is not None:
                yield Document(page.content, page.title, answer.url, language=page.language)


def _page(answer: ArchivedResponse) -> Page | None:
    codings = (one.strip() for one in answer.header("content-encoding").lower().split(","))
    try:
        body, _ = decode(answer.payload, tuple(one for one in codings if one), MAX_BODY)
    except BadEncoding:
        return None
    parsed = parse_page(ParseJob(answer.url, body, answer.header("content-type")))
    return parsed if isinstance(parsed, Page) else None
