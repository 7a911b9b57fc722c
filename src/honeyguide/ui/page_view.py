"""A page's own view: what the crawl made of it, the path that led to it, its archived text."""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from honeyguide.collection.collection import Collection
from honeyguide.collection.story import tell_row
from honeyguide.engine.reread import Reader
from honeyguide.errors import CollectionError
from honeyguide.fetch.decode import BadEncoding
from honeyguide.fetch.options import MAX_BODY
from honeyguide.job.explain import order_explains
from honeyguide.model import Page
from honeyguide.parse.base import Blocks
from honeyguide.store.index import FullText
from honeyguide.store.records import PageRecord
from honeyguide.ui.portal import Portal, portal_of
from honeyguide.ui.render import query_of, render, see_other

MOST_TEXT = 200_000
"""Characters of a text that one answer shows."""
MOST_STEPS = 60
"""Steps of a path that are shown; longer ones lose their middle."""


def row_asked(request: Request) -> int:
    """The row in the path of the request."""
    row = int(request.path_params["row"])
    if not 0 < row < 1 << 31:
        raise HTTPException(404, "there is no such address")
    return row


def by_url(request: Request) -> Response:
    """Go to the view of an address in any spelling."""
    url = query_of(request).text("url", most=8_000)
    row = portal_of(request).row_of(url)
    if not row:
        raise CollectionError(f"the crawl never met {url}; no fetched page links to it")
    return see_other(f"/page/{row}")


def page(request: Request) -> Response:
    """The story of an address, and its text when it was fetched."""
    portal = portal_of(request)
    row = row_asked(request)
    with portal.reading() as collection:
        story = tell_row(collection.state, row, events=False)
        record = collection.state.page_by_row(row)
        text, note = archived_text(portal, collection, record) if record else ("", "")
        twin = (record.duplicate_of or record.near_duplicate_of) if record else 0
        rows = collection.state.path_from_seed(row)
        twin_url = collection.state.url_text(twin) if twin else ""
    steps = list(zip(rows, story.path, strict=False))
    left_out = max(0, len(steps) - MOST_STEPS)
    return render(
        request,
        "page.html",
        title=(record.title if record else "") or story.url,
        active="search",
        tab="page",
        row=row,
        story=story,
        record=record,
        text=text[:MOST_TEXT],
        note=note or ("shown up to here; the source has all of it" if len(text) > MOST_TEXT else ""),
        twin=twin,
        twin_url=twin_url,
        steps=steps[: MOST_STEPS // 2] + steps[-MOST_STEPS // 2 :] if left_out else steps,
        left_out=left_out,
        sums=sums_of(order_explains(portal.layout.root, story.url)),
    )


def sums_of(told: dict[str, object]) -> list[tuple[str, list[tuple[str, float]]]]:
    """What an order says that is a sum of named parts, each with its parts."""
    found: list[tuple[str, list[tuple[str, float]]]] = []
    for name, parts in told.items():
        if (
            isinstance(parts, list)
            and parts
            and all(isinstance(each, list) and len(each) == 2 for each in parts)
        ):
            found.append((name, [(str(text), float(adds)) for text, adds in parts]))
    return found


def archived_text(portal: Portal, collection: Collection, record: PageRecord) -> tuple[str, str]:
    """The text of a page: from the index, else out of the archive; or a note why there is none."""
    if portal.layout.index_file.is_file():
        index = FullText.open(portal.layout.index_file, read_only=True)
        try:
            text = index.text(record.row)
        finally:
            index.close()
        if text:
            return text, ""
    try:
        parsed = archived_page(collection, portal.layout.archive_folder, record, blocks=False)
    except CollectionError as error:
        return "", str(error)
    return parsed.content, ""


def archived_page(collection: Collection, folder: Path, record: PageRecord, *, blocks: Blocks) -> Page:
    """A page out of the archive, parsed again as the crawl did.

    Raises:
        CollectionError: it is not in the archive, or no longer a page.
    """
    if not record.file:
        raise CollectionError("the archive does not hold this page; crawl with an archive to keep the next")
    try:
        parsed = Reader(collection.state, folder, blocks=blocks, max_bytes=MAX_BODY).page(record)
    except BadEncoding as error:
        raise CollectionError(f"the archived copy cannot be decoded ({error}); look at its source") from error
    if parsed is None:
        raise CollectionError("the archived copy can no longer be parsed; look at its source")
    return parsed


ROUTES: list[BaseRoute] = [Route("/page", by_url), Route("/page/{row:int}", page)]
