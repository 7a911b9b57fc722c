"""Pages out of the archive again: after a crash, what was learned from them is learned again."""

from __future__ import annotations

from collections import deque
from pathlib import Path

import msgspec

from honeyguide.engine.arrival import Arrival, index_page, placed
from honeyguide.engine.checkpoint import Checkpoints
from honeyguide.engine.committer import Stores
from honeyguide.failpoint import failpoint
from honeyguide.fetch.decode import codings, decode
from honeyguide.frontier import Waiting
from honeyguide.model import Event, Outcome, Page
from honeyguide.parse.base import Blocks, ParseJob
from honeyguide.parse.html import parse_page
from honeyguide.store.archive import Position
from honeyguide.store.archive_reader import ArchivedResponse, Reference, read_record, read_rendered
from honeyguide.store.index import FullText
from honeyguide.store.records import PageRecord
from honeyguide.store.state import State


class Reader:
    """Reads archived pages as the crawl saw them."""

    def __init__(self, state: State, folder: Path, *, blocks: Blocks, max_bytes: int) -> None:
        self._state = state
        self._folder = folder
        self._blocks = blocks
        self._max_bytes = max_bytes

    def document(self, record: PageRecord) -> tuple[bytes, str, ArchivedResponse]:
        """What the page was read from, its content type, and the answer it came in.

        That is the rendered document where the page was rendered: its record goes by another digest than the
        answer then.

        Raises:
            BadEncoding: The body cannot be decompressed.
        """
        response = read_record(self._folder, record.file, record.offset, record.length, lookup=self._lookup)
        if record.digest != response.digest:
            rendered = read_rendered(self._folder, record.file, record.offset, record.length)
            if rendered is not None:
                return rendered, "text/html; charset=utf-8", response
        body, _ = decode(response.payload, codings(response.encoding), self._max_bytes)
        return body, response.header("content-type"), response

    def page(self, record: PageRecord) -> Page | None:
        """The page of a record with its place in the crawl, or None when it no longer parses."""
        body, content_type, response = self.document(record)
        job = ParseJob(
            url=record.url,
            body=body,
            content_type=content_type,
            robots_tags=tuple(value for key, value in response.headers if key.lower() == "x-robots-tag"),
            blocks=self._blocks,
        )
        parsed = parse_page(job)
        if not isinstance(parsed, Page):
            return None
        waiting = self._waiting(record)
        page = placed(parsed, waiting, number=record.number, now=record.at, status=record.status)
        return msgspec.structs.replace(page, canonical="", digest=record.digest)

    def _lookup(self, reference: Reference) -> Position | None:
        twin = self._state.holder_of(reference.digest)
        return Position(twin.file, twin.offset, twin.length) if twin else None

    def _waiting(self, record: PageRecord) -> Waiting:
        url = self._state.url_by_row(record.row)
        assert url is not None
        return Waiting(
            row=record.row,
            url=url.url,
            id=url.id,
            host="",
            priority=url.priority,
            depth=url.depth,
            redirects=url.redirects,
            parent=url.parent,
            parent_url=self._state.url_text(url.parent) if url.parent else "",
            source=url.source,
            anchor=url.anchor,
            context=url.context,
            memo=url.memo,
        )


def catch_up(reader: Reader, stores: Stores, arrival: Arrival, checkpoints: Checkpoints) -> None:
    """Bring model, order and index of a resumed crawl to where its state is."""
    covered = checkpoints.restore()
    failpoint("resume.restored")
    if stores.archive is None:
        return
    if checkpoints.stateful:
        relearn(reader, stores, arrival, after=covered, heard=checkpoints.heard)
    index_missing(reader, stores)


def relearn(reader: Reader, stores: Stores, arrival: Arrival, *, after: int, heard: int) -> int:
    """Feed the pages fetched since the checkpoint through model and order again, and backlinks. How many.

    Their answers are already committed; only what the parts remember matters. A global order sees
    today's graph rather than that of the moment, so its arrays may differ slightly from before.
    """
    pages = 0
    said = deque(stores.state.events(after=heard, kind="suggest"))
    for record in stores.state.pages(after=after):
        page = reader.page(record) if record.file else None
        while said and said[0].at < record.at:
            _tell(arrival, said.popleft())
        if page is not None:
            arrival.rethink(page)
            pages += 1
    for event in said:
        _tell(arrival, event)
    return pages


def _tell(arrival: Arrival, event: Event) -> None:
    """What a source said of pages that link to pages of the crawl."""
    urls, targets = event.data.get("urls"), event.data.get("links_to")
    if isinstance(urls, list) and isinstance(targets, list):
        for url, target in zip(urls, targets, strict=False):
            arrival.hear_again(str(url), str(target))


def index_missing(reader: Reader, stores: Stores) -> int:
    """Bring the full-text index up to the state: a crash fell between their commits, or it was deleted."""
    if stores.index is None:
        return 0
    pages = 0
    for row in stores.index.missing(stores.state.rows_on_topic()):
        known = stores.state.url_by_row(row)
        if known is None or known.status not in (Outcome.FETCHED, Outcome.GONE):
            continue
        record = stores.state.page_by_row(row)
        page = reader.page(record) if record and record.file else None
        if record is not None and page is not None and not page.noindex:
            index_page(stores.index, row, page, record.score)
            failpoint("resume.indexed")
            pages += 1
    pages += _index_versions(reader, stores, stores.index)
    stores.index.commit()
    return pages


def _index_versions(reader: Reader, stores: Stores, index: FullText) -> int:
    """The same for pages that have changed: their newest text, and those before."""
    pages = 0
    state = stores.state
    for row in sorted(state.history.replaced()):
        record = state.page_by_row(row)
        if record is None or index.dated(row) in (None, record.at):
            continue  # a page that is not there was added above, if it should be
        known = state.url_by_row(row)
        page = reader.page(record) if record.file and record.on_topic else None
        if page is None or page.noindex or known is None or known.status is Outcome.NOINDEX:
            index.remove(row)
        else:
            index_page(index, row, page, record.score)
        failpoint("resume.indexed")
        pages += 1
    for _, record, until in state.history.versions():
        if not record.on_topic or not record.file or index.has_past(record.row, record.at):
            continue
        page = reader.page(record)
        if page is not None and not page.noindex:
            index.add_past(
                record.row,
                record.url,
                title=page.title,
                text=page.content,
                language=page.language,
                score=record.score,
                at=record.at,
                until=until,
            )
            pages += 1
    return pages
