"""What a recorded web holds: every archived answer by canonical URL, with labels and sites."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from honeyguide.errors import CollectionError
from honeyguide.fetch.decode import BadEncoding, codings, decode
from honeyguide.fetch.options import MAX_BODY
from honeyguide.lab.webs.recorded.home import Sources, WebError
from honeyguide.lab.webs.recorded.labels import LabelTable, read_labels
from honeyguide.model import Outcome, Page
from honeyguide.parse.base import Blocks, ParseFailure, ParseJob
from honeyguide.parse.html import HTML_TYPES, PDF_TYPES, TEXT_TYPES, parse_page
from honeyguide.store.archive import Position
from honeyguide.store.archive_reader import ArchivedResponse, Reference, as_response, read_record
from honeyguide.store.archive_scan import scan
from honeyguide.web import canonical, host_key

REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PAGES = HTML_TYPES | TEXT_TYPES | PDF_TYPES


class Record(msgspec.Struct, frozen=True, array_like=True):
    """One archived answer."""

    url: str
    """Canonical."""
    file: int
    """Index into the web's archives."""
    offset: int
    length: int
    status: int
    media: str
    location: str = ""
    """Canonical target of a redirect."""

    @property
    def is_page(self) -> bool:
        """Whether it can be parsed into a page."""
        return self.status == 200 and self.media in _PAGES and not self.url.endswith("/robots.txt")


class WebCatalogue(msgspec.Struct, frozen=True):
    """All answers of a web in the order of recording; the first of several for one URL."""

    records: tuple[Record, ...]
    labels: dict[str, tuple[str, ...]]
    sites: dict[str, str]
    """Site of every page."""
    collisions: int = 0
    """Answers whose canonical URL an earlier one has."""
    unfetchable: int = 0
    """Answers under addresses that are not of the web, such as ftp."""
    unknown_labels: tuple[str, ...] = ()
    """Labelled URLs that were not recorded."""
    twins: dict[str, tuple[int, int, int]] = {}
    """Payload digest to (file, offset, length), where a revisit record needs it."""


def digest_of(sources: Sources) -> str:
    """SHA-256 over the files, so that a cache can never belong to another recording."""
    total = hashlib.sha256()
    for path in (*sources.archives, *((sources.labels,) if sources.labels else ())):
        try:
            with path.open("rb") as file:
                total.update(hashlib.file_digest(file, "sha256").digest())
        except OSError as error:
            raise WebError(f"{path}: {error.strerror}; check the path") from error
    total.update("\n".join(sources.mounts).encode())
    return total.hexdigest()


def read_catalogue(sources: Sources) -> WebCatalogue:
    """Go through the archives once.

    Raises:
        WebError: An archive is damaged, truncated or none, or the label table cannot be read.
    """
    table = read_labels(sources.labels) if sources.labels else LabelTable()
    records: dict[str, Record] = {}
    twins: dict[str, tuple[int, int, int]] = {}
    wanted: set[str] = set()
    collisions = unfetchable = 0
    for number, answer in _answers(sources.archives):
        if answer.refers_to is not None:
            wanted.add(answer.refers_to.digest)
        elif answer.digest:
            twins.setdefault(answer.digest, (number, answer.offset, answer.length))
        url = canonical(answer.url)
        if url is None:
            unfetchable += 1
        elif url in records:
            collisions += 1
        else:
            records[url] = _record(answer, url, number)
    pages = [record.url for record in records.values() if record.is_page]
    return WebCatalogue(
        records=tuple(records.values()),
        labels={url: table.labels[url] for url in pages if url in table.labels},
        sites=_sites(pages, table.sites),
        collisions=collisions,
        unfetchable=unfetchable,
        unknown_labels=tuple(sorted(url for url in table.lines if url not in records)),
        twins={digest: twins[digest] for digest in sorted(wanted) if digest in twins},
    )


def _sites(pages: list[str], named: dict[str, str]) -> dict[str, str]:
    """Site of each page: the table's, or that of most pages of its host, or its host."""
    counts: dict[str, Counter[str]] = {}
    for url in pages:
        if url in named:
            counts.setdefault(host_key(url), Counter())[named[url]] += 1
    usual = {host: found.most_common(1)[0][0] for host, found in counts.items()}
    return {url: named.get(url) or usual.get(host_key(url)) or host_key(url) for url in pages}


class Answers:
    """Reads archived answers and turns them into pages."""

    def __init__(self, archives: tuple[Path, ...], twins: dict[str, tuple[int, int, int]]) -> None:
        self._archives = archives
        self._twins = twins

    def read(self, record: Record) -> ArchivedResponse:
        """The answer as it was archived; a revisit with the payload that it refers to.

        Raises:
            WebError: The files changed since the web was opened.
        """
        path = self._archives[record.file]
        try:
            return read_record(path.parent, path.name, record.offset, record.length, lookup=self._twin)
        except CollectionError as error:
            raise WebError(str(error)) from error

    def parse(self, record: Record, *, blocks: Blocks = False) -> Page | ParseFailure:
        """The page of an answer, parsed as a live crawl would."""
        answer = self.read(record)
        try:
            body, _ = decode(answer.payload, codings(answer.encoding), MAX_BODY)
        except BadEncoding as error:
            return ParseFailure(Outcome.BAD_ENCODING, str(error))
        tags = tuple(value for name, value in answer.headers if name.lower() == "x-robots-tag")
        media = answer.header("content-type")
        return parse_page(ParseJob(record.url, body, media, robots_tags=tags, blocks=blocks))

    def _twin(self, reference: Reference) -> Position | None:
        place = self._twins.get(reference.digest)
        return Position(self._archives[place[0]].name, place[1], place[2]) if place else None


def _answers(archives: tuple[Path, ...]) -> Iterator[tuple[int, ArchivedResponse]]:
    for number, path in enumerate(archives):
        try:
            for record in scan(path):
                answer = as_response(record)
                if answer is None:
                    continue
                if not record.alone:
                    raise WebError(
                        f"{path} at offset {record.offset}: several records in one gzip member;"
                        " run `warcio recompress` on the file first"
                    )
                yield number, answer
        except CollectionError as error:
            raise WebError(str(error)) from error


def _record(answer: ArchivedResponse, url: str, number: int) -> Record:
    location = answer.header("location") if answer.status in REDIRECTS else ""
    return Record(
        url,
        number,
        answer.offset,
        answer.length,
        answer.status,
        answer.header("content-type").partition(";")[0].strip().lower(),
        (canonical(location, url) or "") if location else "",
    )
