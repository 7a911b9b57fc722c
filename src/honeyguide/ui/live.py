"""The live view: how the crawl stands, moving while it runs, and the means to steer it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from honeyguide.ui.portal import portal_of
from honeyguide.ui.render import render


def live(request: Request) -> Response:
    """The figures as they are now."""
    with portal_of(request).reading() as collection:
        status = collection.status()
    return render(request, "live.html", title="Live", active="live", status_now=status)


ROUTES: list[BaseRoute] = [Route("/", live)]
