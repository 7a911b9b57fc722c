"""`/healthz` and `/readyz`: whether the portal lives and can read what it serves; no token needed."""

from __future__ import annotations

import sqlite3

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from honeyguide.errors import HoneyguideError
from honeyguide.ui.shelf import shelf_of


def healthz(_: Request) -> Response:
    """The server answers."""
    return PlainTextResponse("ok\n")


def readyz(request: Request) -> Response:
    """Every collection that exists can be opened."""
    for _, portal in shelf_of(request).portals():
        try:
            if portal.exists:
                portal.watch.standing()
        except (HoneyguideError, sqlite3.Error, OSError):
            return PlainTextResponse("a collection cannot be read\n", status_code=503)
    return PlainTextResponse("ready\n")


ROUTES: list[BaseRoute] = [Route("/healthz", healthz), Route("/readyz", readyz)]
