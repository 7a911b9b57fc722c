"""What has become of the collection: new, changed, newly on topic, gone; and the same as a feed."""

from __future__ import annotations

import time
from collections import Counter
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from honeyguide.collection.change_feed import change_feed
from honeyguide.collection.changes import KINDS, MEANINGS
from honeyguide.collection.moments import moment
from honeyguide.ui.portal import portal_of
from honeyguide.ui.render import page_of, query_of, render

PAGE = 50
SENTENCES = 12
"""Sentences of a diff that are shown at once; the rest is behind a fold."""


def changes(request: Request) -> Response:
    """Changes since a day, newest first."""
    portal = portal_of(request)
    asked = query_of(request)
    since = asked.text("since", most=40) or "7d"
    kind = asked.text("kind", most=20)
    everything = bool(asked.text("all"))
    page = page_of(request)
    start = moment(since)
    with portal.reading() as collection:
        every = collection.changes(start, relevant=not everything, diffs=False)
        chosen = [change for change in every if kind not in KINDS or change.kind == kind]
        rows = {change.row for change in chosen[(page - 1) * PAGE : page * PAGE]}
        # Texts are compared only for what is shown.
        shown = [
            change
            for change in collection.changes(start, relevant=not everything, rows=rows)
            if change.row in rows
        ]
        visited = collection.state.history.count()
    return render(
        request,
        "changes.html",
        title="Changes",
        active="changes",
        since=datetime.fromtimestamp(start, UTC).strftime("%Y-%m-%d"),
        kind=kind if kind in KINDS else "",
        everything=everything,
        counts=Counter(change.kind for change in every),
        meanings=MEANINGS,
        shown=shown,
        sentences=SENTENCES,
        total=len(chosen),
        page=page,
        more=page * PAGE < len(chosen),
        visited=visited,
    )


def feed(request: Request) -> Response:
    """The newest changes as Atom."""
    portal = portal_of(request)
    with portal.reading() as collection:
        found = collection.changes(query_of(request).text("since", most=40) or "30d")
        name = collection.name
    text = change_feed(found, title=name, at=time.time(), address=str(request.url.replace(query="")))
    return Response(text, media_type="application/atom+xml")


ROUTES: list[BaseRoute] = [Route("/changes", changes), Route("/changes.atom", feed)]
