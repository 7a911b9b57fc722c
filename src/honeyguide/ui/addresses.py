"""Known addresses by how they ended, or those that wait, best first: the frontier and what was left out."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from honeyguide.collection.story import found_by
from honeyguide.errors import HoneyguideError
from honeyguide.model import Outcome
from honeyguide.ui.portal import portal_of
from honeyguide.ui.render import page_of, query_of, render

PER_PAGE = 50


def addresses(request: Request) -> Response:
    """A list of addresses of one outcome, of one host if it is named."""
    portal = portal_of(request)
    form = query_of(request)
    name, host = form.text("outcome", "waiting", most=40), form.text("host", most=255)
    outcome = next((one for one in Outcome if one.name.lower() == name), None)
    if outcome is None:
        known = ", ".join(one.name.lower() for one in Outcome)
        raise HoneyguideError(f"there is no outcome {name!r}; choose one of {known}")
    page = page_of(request)
    start = (page - 1) * PER_PAGE
    rows, priorities, total = portal.watch.addresses(outcome, host=host, start=start, most=PER_PAGE)
    lines = []
    with portal.reading() as collection:
        for row, priority in zip(rows, priorities, strict=True):
            record = collection.state.url_by_row(row)
            if record is not None:
                lines.append((record, found_by(collection.state, record), priority))
        counts = portal.watch.outcome_counts()
    return render(
        request,
        "addresses.html",
        title=f"Addresses: {name}",
        active="live",
        outcome=name,
        host=host,
        lines=lines,
        page=page,
        total=total,
        more=total > start + PER_PAGE,
        counts=counts,
    )


ROUTES: list[BaseRoute] = [Route("/urls", addresses)]
