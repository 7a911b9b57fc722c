"""Pages as one WARC file: the archive's own records, copied member by member.

Nothing is compressed again, so every digest, identifier and date stays what the crawl wrote; records are
inflated only to see that they are whole. A page whose records are damaged is left out, and said so. A page's
records are the answer (or revisit), its rendered document, its request and its metadata. A revisit whose
first copy is not among the pages brings it along, since it cannot be read without; the warcinfo record that
records refer to comes before them. Of a page that was visited again, all answers are copied, oldest first.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from math import inf
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self
from uuid import NAMESPACE_URL, uuid5

import msgspec

from honeyguide.collection.exports.left_out import Trouble, log_trouble
from honeyguide.collection.exports.selection import Progress, Selection, silent
from honeyguide.errors import CollectionError
from honeyguide.model import Seen
from honeyguide.store.archive import (
    RecordPacker,
    archive_path,
    field,
    header,
    record_id,
    warc_date,
)
from honeyguide.store.archive_reader import as_response
from honeyguide.store.archive_scan import (
    MAX_RECORD_BYTES,
    RawRecord,
    TornTail,
    inflate,
    parse_head,
    parse_member,
)
from honeyguide.store.atomic import replacing
from honeyguide.store.plain import reading
from honeyguide.store.records import PageRecord
from honeyguide.web.digest import sha1_digest

_HEAD_BYTES = 64 * 1024
_CHUNK = 8 * 1024
_INFLATED = 1 << 20
_COMPANIONS = ("conversion", "request", "metadata")


class Copied(msgspec.Struct, frozen=True):
    """One answer in the export: what an index of it needs."""

    url: str
    at: float
    status: int
    content_type: str
    digest: str
    kind: str
    """`response` or `revisit`."""
    offset: int
    """In the export."""
    length: int


class RecordCopier:
    """Copies the records of pages from an archive into a file opened for writing.

    Args:
        folder: The archive.
        out: Receives gzip members.
        name: Of the file being written, for its warcinfo record.
        software: For the warcinfo record.
        at: Epoch seconds of the export.
        trouble: Told about pages whose records are damaged.
    """

    def __init__(
        self,
        folder: Path,
        out: Callable[[bytes], object],
        *,
        name: str,
        software: str,
        at: float,
        trouble: Trouble = log_trouble,
    ) -> None:
        self._folder = folder
        self._trouble = trouble
        self._out = out
        self._offset = 0
        self._open_name = ""
        self._file: BinaryIO | None = None
        self._written: set[tuple[str, int]] = set()
        self._seen_files: set[str] = set()
        lines = (
            f"software: {field(software)}\r\nformat: WARC File Format 1.1\r\n"
            "description: pages of a collection, copied from its archive\r\n"
        )
        block = lines.encode("utf-8", "replace")
        fields = (
            ("WARC-Type", "warcinfo"),
            ("WARC-Record-ID", record_id(uuid5(NAMESPACE_URL, f"honeyguide-export:{name}:{at!r}"), name, 0)),
            ("WARC-Date", warc_date(at)),
            ("WARC-Filename", field(name)),
            ("Content-Type", "application/warc-fields"),
            ("WARC-Block-Digest", sha1_digest(block)),
        )
        self._put(RecordPacker().pack(header(fields, len(block)), block, stored=False))

    def __enter__(self) -> Self:
        """The copier itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of the archive file."""
        if self._file is not None:
            self._file.close()

    def copy(self, page: PageRecord, original: PageRecord | None) -> Iterator[tuple[PageRecord, Copied]]:
        """Copy a page, before it the page it is a revisit of; nothing that is there already.

        Raises:
            CollectionError: The archive does not hold what the state says. Nothing was copied of that answer.
        """
        for each in (original, page):
            if each is not None and (each.file, each.offset) not in self._written:
                copied = self._copy(each)
                self._written.add((each.file, each.offset))
                yield each, copied

    def left_out(self, page: PageRecord, error: CollectionError) -> None:
        """Tell about a page that could not be copied."""
        self._trouble(page.url, str(error))

    def has(self, page: PageRecord) -> bool:
        """Whether a page's answer was copied."""
        return (page.file, page.offset) in self._written

    def _copy(self, page: PageRecord) -> Copied:
        file = self._source(page.file)
        where = f"{self._folder / page.file} at offset {page.offset}"
        file.seek(page.offset)
        if not 0 < page.length <= MAX_RECORD_BYTES:
            raise CollectionError(f"{where}: no position in an archive; is the state of another collection?")
        try:
            member = file.read(page.length)
        except OSError as error:
            raise CollectionError(f"{where}: {error.strerror}; restore the archive file") from error
        if len(member) != page.length or member[:2] != b"\x1f\x8b":
            raise CollectionError(f"{where}: no archived answer; restore the archive file from a copy")
        answer = as_response(_headers_of(where, member, page.offset))
        if answer is None:
            raise CollectionError(f"{where}: no archived answer; is the state of another collection?")
        copied = Copied(
            url=page.url,
            at=answer.at,
            status=answer.status or page.status,
            content_type=answer.header("content-type").partition(";")[0].strip().lower() or page.content_type,
            digest=answer.digest,
            kind=answer.kind,
            offset=self._offset,
            length=page.length,
        )
        self._put(member)
        try:
            for companion in self._companions(where, file):
                self._put(companion)
        except CollectionError as error:  # the answer itself is whole
            self._trouble(page.url, str(error))
        return copied

    def _companions(self, where: str, file: BinaryIO) -> Iterator[bytes]:
        """The members that belong to the answer `file` stands behind: rendered, request, metadata."""
        for _ in range(len(_COMPANIONS)):
            data = file.read(_CHUNK)
            start = file.tell() - len(data)
            while True:
                try:
                    text, length = inflate(where, data, 0, limit=MAX_RECORD_BYTES)
                    break
                except TornTail:
                    more = file.read(max(_CHUNK, len(data)))
                    if not more:
                        return
                    data += more
            if parse_member(where, text, start, length)[0].kind not in _COMPANIONS:
                return
            yield data[:length]
            file.seek(start + length)

    def _source(self, name: str) -> BinaryIO:
        if name == self._open_name and self._file is not None:
            return self._file
        if self._file is not None:
            self._file.close()
        try:
            self._file = reading(archive_path(self._folder, name))
        except OSError as error:
            raise CollectionError(
                f"{self._folder / name}: {error.strerror}; restore the archive file"
            ) from error
        self._open_name = name
        if name not in self._seen_files:
            self._seen_files.add(name)
            self._copy_warcinfo(self._file)
        return self._file

    def _copy_warcinfo(self, file: BinaryIO) -> None:
        data = file.read(_CHUNK * 8)
        where = f"{self._folder / self._open_name} at offset 0"
        with suppress(CollectionError):  # the pages are whole without it
            text, length = inflate(where, data, 0, limit=MAX_RECORD_BYTES)
            if parse_member(where, text, 0, length)[0].kind == "warcinfo":
                self._put(data[:length])

    def _put(self, member: bytes) -> None:
        self._out(member)
        self._offset += len(member)


def copied_pages(
    selection: Selection,
    copier: RecordCopier,
    progress: Progress = silent,
) -> Iterator[tuple[PageRecord, Copied]]:
    """Copy every selected page; each answer that was written, with its page.

    The state is asked for a revisit's first copy, so an export needs no memory of payloads.

    Raises:
        CollectionError: Not one page could be read.
    """
    first: CollectionError | None = None
    count = 0
    state = selection.state
    visited = state.history.visited()
    for page in selection.pages(progress):
        for answer in _answers(selection, page) if page.row in visited else (page,):
            original = state.holder_of(answer.digest) if answer.duplicate_of else None
            if original is not None and not selection.may_leave(original.row):
                continue  # Its bytes are archived only under an address that asked not to be indexed.
            try:
                for copied in copier.copy(answer, original):
                    yield copied
                    count += 1
            except CollectionError as error:
                first = first or error
                copier.left_out(page, error)
    if first is not None and not count:
        raise first


def _answers(selection: Selection, page: PageRecord) -> list[PageRecord]:
    """All answers of a page that was visited again, up to the moment of the export."""
    history = selection.state.history
    last = inf if selection.as_of is None else selection.as_of
    versions = [old for old, _ in history.versions_of(page.row) if old.at < page.at]
    found = {(each.file, each.offset): each for each in (*versions, page)}
    for visit in history.visits_of(page.row):
        if visit.file and visit.at <= last and visit.status:
            same = visit.what is Seen.SAME
            answer = msgspec.structs.replace(
                page, at=visit.at, status=page.status if same else visit.status, digest=visit.digest,
                file=visit.file, offset=visit.offset, length=visit.length, duplicate_of=0,
            )  # fmt: skip
            found.setdefault((visit.file, visit.offset), answer)
    return sorted(found.values(), key=lambda each: each.at)


def write_warc(
    selection: Selection,
    archive: Path,
    path: Path,
    *,
    software: str,
    at: float,
    progress: Progress = silent,
    trouble: Trouble = log_trouble,
) -> int:
    """Write the selected pages, each with all its answers, to one `.warc.gz`; how many pages it has.

    Raises:
        CollectionError: Nothing of the archive can be read, or the disk is full; no file is left then.
    """
    with (
        replacing(path) as temporary,
        temporary.open("wb") as file,
        RecordCopier(
            archive, file.write, name=path.name, software=software, at=at, trouble=trouble
        ) as copier,
    ):
        for _ in copied_pages(selection, copier, progress):
            pass
        return sum(map(copier.has, selection.pages()))


def _headers_of(where: str, member: bytes, offset: int) -> RawRecord:
    """WARC and HTTP headers of a member. Its body is inflated and let go of: that shows damage."""
    inflater = zlib.decompressobj(31)
    try:
        text = inflater.decompress(member, _HEAD_BYTES)
        while rest := inflater.unconsumed_tail:
            inflater.decompress(rest, _INFLATED)
        if not inflater.eof:
            raise zlib.error("its end is missing")
    except zlib.error as error:
        raise CollectionError(
            f"{where}: damaged gzip data ({error}); restore the file from a copy"
        ) from error
    return parse_head(where, text, offset, len(member))
