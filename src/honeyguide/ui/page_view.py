"""A page's own view: its story from the seed to the verdict, and its text."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from honeyguide.collection.collection import Collection
from honeyguide.collection.reasons import Reasons, marked
from honeyguide.collection.story import links_said, never_met, tell_row
from honeyguide.errors import CollectionError
from honeyguide.job.explain import order_explains
from honeyguide.job.verdict_reasons import VerdictReasons, verdict_reasons
from honeyguide.model import Seen
from honeyguide.store.history import VisitRecord
from honeyguide.store.records import PageRecord
from honeyguide.store.reviews import read_reviews
from honeyguide.store.state import State
from honeyguide.ui.models import MODELS
from honeyguide.ui.page_text import archived_text, row_asked
from honeyguide.ui.portal import Portal, portal_of
from honeyguide.ui.reasons import reasons_of
from honeyguide.ui.render import query_of, render, see_other
from honeyguide.web.url import host_key

MOST_TEXT = 200_000
"""Characters of a text that one answer shows."""
MOST_STEPS = 60
"""Steps of a path that are shown; longer ones lose their middle."""
MOST_COPIES = 20
MOST_MOMENTS = 50


class Moment(msgspec.Struct, frozen=True):
    """Something that happened to an address."""

    at: float
    """Epoch seconds; 0 when it is not known."""
    what: str
    row: int = 0
    """Of another page that it is about."""
    url: str = ""


def by_url(request: Request) -> Response:
    """Go to the view of an address in any spelling."""
    url = query_of(request).text("url", most=8_000)
    row = portal_of(request).row_of(url)
    if not row:
        raise CollectionError(never_met(url))
    return see_other(f"/page/{row}")


def page(request: Request) -> Response:
    """The story of an address, and its text when it was fetched."""
    portal = portal_of(request)
    row = row_asked(request)
    with portal.reading() as collection:
        story = tell_row(collection.state, row, events=False)
        record = collection.state.page_by_row(row)
        text, note = archived_text(portal, collection, record) if record else ("", "")
        rows = collection.state.path_from_seed(row)
        moments = _moments(portal, collection, row, record)
        parts = MODELS.held(portal, collection.state)
        loads = parts is None and any(portal.layout.models_folder.glob("order-*.npz"))
    steps = list(zip(rows, story.path, strict=False))
    left_out = max(0, len(steps) - MOST_STEPS)
    why = reasons_of(portal, record, text) if record else Reasons()
    more = VerdictReasons()
    if record and parts is not None:
        more = verdict_reasons(portal.folder, record.url, record.terms, model=parts.model)
    return render(
        request,
        "page.html",
        title=(record.title if record else "") or story.url,
        active="search",
        tab="page",
        row=row,
        story=story,
        record=record,
        pieces=marked(text[:MOST_TEXT], why.sentences),
        words=why.words,
        sentences=[" ".join(text[one.start : one.end].split()) for one in why.sentences],
        note=note or ("shown up to here; the source has all of it" if len(text) > MOST_TEXT else ""),
        steps=steps[: MOST_STEPS // 2] + steps[-MOST_STEPS // 2 :] if left_out else steps,
        left_out=left_out,
        links_said=links_said(record.score, record.facts) if record else "",
        against=more.against,
        missing=more.missing,
        moments=moments,
        loads=loads,
        sums=sums_of(order_explains(portal.layout.root, story.url, parts)) if parts else [],
    )


def priority(request: Request) -> Response:
    """Load what explains priorities; the page's script asks for it, then shows the page again."""
    portal = portal_of(request)
    with portal.reading() as collection:
        try:
            MODELS.of(portal, collection.state)
        except CollectionError as error:
            return JSONResponse({"ready": False, "problem": str(error)})
    return JSONResponse({"ready": True})


def sums_of(told: dict[str, object]) -> list[tuple[str, list[tuple[str, float]]]]:
    """What an order says that is a sum of named parts, each with its parts, the largest first."""
    found: list[tuple[str, list[tuple[str, float]]]] = []
    for name, parts in told.items():
        if (
            isinstance(parts, list)
            and parts
            and all(isinstance(each, list) and len(each) == 2 for each in parts)
        ):
            pairs = [(str(text), float(adds)) for text, adds in parts]
            found.append((name, sorted(pairs, key=lambda pair: -abs(pair[1]))))
    return found


def _moments(portal: Portal, collection: Collection, row: int, record: PageRecord | None) -> list[Moment]:
    """What happened to an address, in order: found, fetched, reviewed, and what repeats it."""
    state = collection.state
    link = state.url_by_row(row)
    moments = []
    parent = state.page_by_row(link.parent) if link is not None and link.parent else None
    if parent is not None:
        moments.append(Moment(parent.at, "found on", parent.row, parent.title or parent.url))
    if record is None:
        return moments
    visits = state.history.visits_of(row)
    first = visits[0].at if visits else record.at
    moments.append(Moment(first, f"fetched as page number {record.number:,}"))
    moments += _visited(visits)
    twin = record.duplicate_of or record.near_duplicate_of
    if twin:
        moments.append(
            Moment(
                record.at,
                "has the same text as" if record.duplicate_of else "nearly the same text as",
                twin,
                state.url_text(twin),
            )
        )
    moments += _copies(state, row)
    reviews = read_reviews(portal.folder)
    for one in reviews.standing:
        if one.url == record.url or (one.host and one.host == host_key(record.url)):
            by = "its host was " if one.host else ""
            moments.append(
                Moment(one.at, f"{by}{'accepted' if one.said == 'accept' else 'rejected'} by a reviewer")
            )
    return sorted(moments, key=lambda moment: moment.at)


def _visited(visits: list[VisitRecord]) -> list[Moment]:
    """What later visits found: every change, and the last one."""
    moments = []
    before = Seen.FIRST
    for visit in visits[1:]:
        if visit.what is Seen.CHANGED:
            said = "on topic" if visit.on_topic else "off topic"
            moments.append(Moment(visit.at, f"had changed; {said}, {visit.score:.3f}"))
        elif visit.what is Seen.GONE and before is not Seen.GONE:
            moments.append(Moment(visit.at, f"was gone ({visit.reason})"))
        elif visit.what is Seen.BACK:
            moments.append(Moment(visit.at, "was back"))
        before = visit.what if visit.what.is_answer else before
    if visits and visits[-1].what in _LAST:
        found = _LAST[visits[-1].what]
        moments.append(Moment(visits[-1].at, f"visited last ({len(visits)} times in all), {found}"))
    return moments[-MOST_MOMENTS:]


def _copies(state: State, row: int) -> list[Moment]:
    """Later pages with the same or nearly the same text: other versions of it."""
    found = state.connection.execute(
        "SELECT page.at, page.row, url.url, duplicate_of FROM page JOIN url ON url.row = page.row"
        " WHERE duplicate_of = ? OR near_duplicate_of = ? LIMIT ?",
        (row, row, MOST_COPIES),
    )
    return [
        Moment(
            at,
            "met again, the same text at" if exact == row else "met again, nearly the same text at",
            other,
            url,
        )
        for at, other, url, exact in found
    ]


_LAST = {
    Seen.SAME: "unchanged",
    Seen.TOUCHED: "with the same text",
    Seen.GONE: "still gone",
    Seen.FAILED: "without an answer that says anything",
}

ROUTES: list[BaseRoute] = [
    Route("/page", by_url),
    Route("/page/{row:int}", page),
    Route("/page/{row:int}/priority", priority),
]
