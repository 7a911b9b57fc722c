"""Reading a page: its text made readable, beside the archived page itself.

The archived page is a stranger's HTML. It is served into a frame without any rights: the policy of the answer
puts it into a sandbox (no scripts, no forms, an origin of its own) and lets it load nothing; the policy of
the page around it lets the frame show nothing but the portal's own answers, so a link in it leads nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import closing

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from honeyguide.errors import CollectionError
from honeyguide.store.index import FullText
from honeyguide.store.index_text import occurrences, parse_query
from honeyguide.ui.page_parts import archived_document
from honeyguide.ui.page_text import archived_text, row_asked
from honeyguide.ui.portal import Portal, portal_of
from honeyguide.ui.render import query_of, render
from honeyguide.ui.security import POLICY

MOST_TEXT = 200_000
MOST_HTML = 4_000_000
SANDBOX = "; ".join(
    (
        "sandbox",
        "default-src 'none'",
        "img-src data:",
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'self'",
    )
)


def read(request: Request) -> Response:
    """The text in paragraphs with the words of the search marked, and the archived page in its frame."""
    portal = portal_of(request)
    row = row_asked(request)
    words = query_of(request).text("q", most=1_000)
    with portal.reading() as collection:
        record = collection.state.page_by_row(row)
        if record is None:
            raise HTTPException(404, "that address was not fetched, so there is nothing to read")
        text, note = archived_text(portal, collection, record)
    phrases = _looked_for(portal, words)
    paragraphs = [part for part in re.split(r"\n+", text[:MOST_TEXT]) if part.strip()]
    answer = render(
        request,
        "read.html",
        title=record.title or record.url,
        active="search",
        tab="read",
        row=row,
        record=record,
        words=words,
        paragraphs=[found_in(part, phrases) for part in paragraphs],
        note=note,
    )
    answer.headers["Content-Security-Policy"] = f"{POLICY}; frame-src 'self'"
    return answer


def found_in(text: str, phrases: Sequence[tuple[str, ...]]) -> list[tuple[bool, str]]:
    """A text as pieces: whether one is a word that was searched for, and what it says.

    Example:
        >>> found_in("The barn owl.", [("owl",)])
        [(False, 'The barn '), (True, 'owl'), (False, '.')]
    """
    pieces, place = [], 0
    for start, end in occurrences(text, phrases):
        pieces += [(False, text[place:start]), (True, text[start:end])]
        place = end
    pieces.append((False, text[place:]))
    return [(found, piece) for found, piece in pieces if piece]


def _looked_for(portal: Portal, words: str) -> tuple[tuple[str, ...], ...]:
    if not words or not portal.layout.index_file.is_file():
        return parse_query(words).phrases
    with closing(FullText.open(portal.layout.index_file, read_only=True)) as index:
        return index.phrases(words)


def archived(request: Request) -> Response:
    """The archived page as it was answered or rendered, in a sandbox, with nothing around it loaded."""
    portal = portal_of(request)
    with portal.reading() as collection:
        record = collection.state.page_by_row(row_asked(request))
        if record is None:
            raise HTTPException(404, "that address was not fetched")
        try:
            text = archived_document(portal, collection, record)
        except CollectionError as error:
            text = str(error)
    html = "html" in record.content_type or not record.content_type
    return Response(
        text[:MOST_HTML].encode("utf-8", "replace"),
        media_type="text/html; charset=utf-8" if html else "text/plain; charset=utf-8",
        headers={
            "Content-Security-Policy": SANDBOX,
            "X-Frame-Options": "SAMEORIGIN",
        },
    )


ROUTES: list[BaseRoute] = [
    Route("/page/{row:int}/read", read),
    Route("/page/{row:int}/archived", archived),
]
