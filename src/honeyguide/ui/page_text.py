"""A page's text out of the index or the archive, for the views that show it."""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request

from honeyguide.collection.collection import Collection
from honeyguide.engine.reread import Reader
from honeyguide.errors import CollectionError
from honeyguide.fetch.decode import BadEncoding
from honeyguide.fetch.options import MAX_BODY
from honeyguide.model import Page
from honeyguide.parse.base import Blocks
from honeyguide.store.index import FullText
from honeyguide.store.records import PageRecord
from honeyguide.ui.portal import Portal


def row_asked(request: Request) -> int:
    """The row in the path of the request."""
    row = int(request.path_params["row"])
    if not 0 < row < 1 << 31:
        raise HTTPException(404, "there is no such address")
    return row


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
