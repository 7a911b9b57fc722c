"""Why a page was judged as it was: for the lists of the live view, for review and for a page's own view."""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import suppress

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from honeyguide.collection.collection import Collection
from honeyguide.collection.exports.datasheet import topic_languages
from honeyguide.collection.reasons import Reasons, reasons
from honeyguide.errors import CollectionError
from honeyguide.store.records import PageRecord
from honeyguide.text.tokens import Analyser
from honeyguide.ui.page_text import archived_text, row_asked
from honeyguide.ui.portal import Portal, portal_of

MOST_KEPT = 500


class Told(msgspec.Struct, frozen=True):
    """A page's reasons with the sentences written out."""

    words: tuple[str, ...]
    sentences: tuple[str, ...]


_kept: OrderedDict[tuple[str, int, float], Told] = OrderedDict()
_lock = threading.Lock()


def reasons_of(portal: Portal, record: PageRecord, text: str) -> Reasons:
    """Why this page was judged as it was; of an empty text, the model's terms alone."""
    analyser = Analyser(topic_languages(portal.layout.topic_file))
    return reasons(text, record.terms, analyser=analyser)


def told(portal: Portal, collection: Collection, record: PageRecord) -> Told:
    """The same in words, remembered for as long as the verdict stands."""
    key = (str(portal.folder), record.row, record.score)
    with _lock:
        if key in _kept:
            return _kept[key]
    text = ""
    with suppress(CollectionError):
        text, _ = archived_text(portal, collection, record)
    found = reasons_of(portal, record, text)
    made = Told(
        tuple(word for word, _ in found.words[:5]),
        tuple(" ".join(text[one.start : one.end].split()) for one in found.sentences[:1]),
    )
    with _lock:
        _kept[key] = made
        while len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
    return made


def why(request: Request) -> Response:
    """Words and the sentence behind a page's verdict, for the live view's script."""
    portal = portal_of(request)
    with portal.reading() as collection:
        record = collection.state.page_by_row(row_asked(request))
        if record is None:
            raise HTTPException(404, "that address was not fetched")
        return JSONResponse(msgspec.to_builtins(told(portal, collection, record)))


ROUTES: list[BaseRoute] = [Route("/page/{row:int}/why.json", why)]
