"""More of a page: its blocks with scores, its links in and out, its raw source as text."""

from __future__ import annotations

from contextlib import suppress

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from honeyguide.collection.collection import Collection
from honeyguide.engine.reread import Reader
from honeyguide.errors import CollectionError
from honeyguide.fetch.decode import BadEncoding, codings, decode
from honeyguide.fetch.options import MAX_BODY
from honeyguide.job.inspect_page import blocks_asked
from honeyguide.model import Outcome
from honeyguide.store.archive import Position
from honeyguide.store.archive_reader import Reference, read_record
from honeyguide.store.records import PageRecord
from honeyguide.store.state import State
from honeyguide.ui.models import MODELS
from honeyguide.ui.page_text import archived_page, row_asked
from honeyguide.ui.portal import Portal, portal_of
from honeyguide.ui.render import page_of, query_of, render
from honeyguide.web.charset import decode_html

PER_PAGE = 50
MOST_BLOCKS = 300
MOST_BLOCK_TEXT = 1_500
SOURCE_PART = 100_000
"""Characters of source a page of it shows."""


class ShownBlock(msgspec.Struct, frozen=True):
    """One content block of a page."""

    number: int
    score: float | None
    text: str
    links: int
    path: str


class ShownLink(msgspec.Struct, frozen=True):
    """The other end of a link."""

    row: int
    url: str
    title: str
    outcome: str
    score: float | None
    anchor: str


def _fetched(collection: Collection, row: int) -> PageRecord:
    record = collection.state.page_by_row(row)
    if record is None:
        raise HTTPException(404, "that address was not fetched, so there is nothing to show of it")
    return record


def blocks(request: Request) -> Response:
    """The page's content blocks with the scores the collection's model gives them."""
    portal = portal_of(request)
    row = row_asked(request)
    note = ""
    with portal.reading() as collection:
        record = _fetched(collection, row)
        parts = None
        try:
            parts = MODELS.of(portal, collection.state)
        except CollectionError as error:
            note = f"without scores: {error}"
        cut = blocks_asked(parts, True)
        page = archived_page(collection, portal.layout.archive_folder, record, blocks=cut)
    found = page.blocks[:MOST_BLOCKS]
    scores: list[float | None] = [None] * len(found)
    if parts is not None and found:
        scores = [float(score) for score in parts.model.judge_texts([block.text for block in found])]
    shown = [
        ShownBlock(number, score, block.text[:MOST_BLOCK_TEXT], len(block.links), block.tag_path)
        for number, (block, score) in enumerate(zip(found, scores, strict=True), 1)
    ]
    return render(
        request, "blocks.html", title=record.title or record.url, active="search", tab="blocks",
        row=row, record=record, blocks=shown, left_out=len(page.blocks) - len(found), note=note,
    )  # fmt: skip


def links(request: Request) -> Response:
    """Pages that link here, and where this page links to."""
    portal = portal_of(request)
    row = row_asked(request)
    inward = query_of(request).text("way") == "in"
    page = page_of(request)
    start = (page - 1) * PER_PAGE
    with portal.reading() as collection:
        state = collection.state
        record = state.url_by_row(row)
        if record is None:
            raise HTTPException(404, "there is no such address")
        rows = state.in_links(row) if inward else list(dict.fromkeys(state.links_of(row).tolist()))
        shown = [_end(state, other, row, inward=inward) for other in rows[start : start + PER_PAGE]]
        held = state.page_by_row(row)
    return render(
        request, "links_of_page.html", title=(held.title if held else "") or record.url, active="search",
        tab="in" if inward else "out", row=row, record=held, url=record.url, links=shown, page=page,
        total=len(rows), more=len(rows) > start + PER_PAGE,
    )  # fmt: skip


def _end(state: State, other: int, row: int, *, inward: bool) -> ShownLink:
    url, page = state.url_by_row(other), state.page_by_row(other)
    about = state.url_by_row(row) if inward else url
    # Only the link that gave a URL its place has its text kept.
    anchor = about.anchor if about is not None and about.parent == (other if inward else row) else ""
    status = url.status if url is not None else Outcome.WAITING
    return ShownLink(
        other, url.url if url else "", page.title if page else "", status.name.lower(),
        page.score if page else None, anchor,
    )  # fmt: skip


def source(request: Request) -> Response:
    """The archived answer as text: never as a page of its own."""
    portal = portal_of(request)
    row = row_asked(request)
    page = page_of(request)
    with portal.reading() as collection:
        record = _fetched(collection, row)
        head, text = archived_source(portal, collection, record)
    if query_of(request).text("plain") == "yes":
        return PlainTextResponse(
            text.encode("utf-8", "replace"),
            headers={
                "Content-Disposition": f'attachment; filename="page-{row}.txt"',
                "Content-Security-Policy": "sandbox; default-src 'none'",
            },
        )
    start = (page - 1) * SOURCE_PART
    return render(
        request, "source.html", title=record.title or record.url, active="search", tab="source", row=row,
        record=record, head=head, text=text[start : start + SOURCE_PART], page=page, size=len(text),
        more=len(text) > start + SOURCE_PART,
    )  # fmt: skip


def archived_source(portal: Portal, collection: Collection, record: PageRecord) -> tuple[str, str]:
    """Status line with headers, and the decoded body, both as text.

    Raises:
        CollectionError: The archive does not hold it.
    """
    if not record.file:
        raise CollectionError("the archive does not hold this page; crawl with an archive to keep the next")

    def lookup(reference: Reference) -> Position | None:
        twin = collection.state.holder_of(reference.digest)
        return Position(twin.file, twin.offset, twin.length) if twin else None

    answer = read_record(
        portal.layout.archive_folder, record.file, record.offset, record.length, lookup=lookup
    )
    try:
        body, _ = decode(answer.payload, codings(answer.encoding), MAX_BODY)
    except BadEncoding:
        body = answer.payload
    text, _ = decode_html(body, answer.header("content-type"))
    return answer.head.decode("utf-8", "replace")[:20_000], text


def archived_document(portal: Portal, collection: Collection, record: PageRecord) -> str:
    """What the page was read from: the decoded body, or what scripts made of it.

    Raises:
        CollectionError: The archive does not hold it.
    """
    if record.file:
        reader = Reader(collection.state, portal.layout.archive_folder, blocks=False, max_bytes=MAX_BODY)
        with suppress(BadEncoding):
            body, content_type, _ = reader.document(record)
            return decode_html(body, content_type)[0]
    return archived_source(portal, collection, record)[1]


ROUTES: list[BaseRoute] = [
    Route("/page/{row:int}/blocks", blocks),
    Route("/page/{row:int}/links", links),
    Route("/page/{row:int}/source", source),
]
