"""The application: routes of all features, behind one gate."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType

import anyio.to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

from honeyguide.errors import HoneyguideError
from honeyguide.ui import (
    addresses,
    builder,
    directory,
    exports,
    jobs,
    links,
    live,
    metrics,
    page_parts,
    page_view,
    review,
    search,
)
from honeyguide.ui.portal import Portal
from honeyguide.ui.render import failure, missing, refused, unreadable
from honeyguide.ui.security import Gate

FEATURES: tuple[ModuleType, ...] = (
    live,
    search,
    addresses,
    page_view,
    page_parts,
    metrics,
    directory,
    links,
    exports,
    jobs,
    review,
    builder,
)
"""Modules with `ROUTES`. A new page is one line here."""

STATIC = Path(__file__).parent / "static"
THREADS = 8
"""Handlers that run at once; each may hold an open collection."""


def create_app(folder: Path, *, token: str, hosts: tuple[str, ...] = ()) -> Starlette:
    """The portal on one collection.

    Args:
        folder: The collection; it may come into being later.
        token: What a reader must know.
        hosts: Names under which the portal may be asked for, beside loopback's.
    """
    portal = Portal(folder)
    routes: list[BaseRoute] = [Mount("/static", StaticFiles(directory=STATIC), name="static")]
    for feature in FEATURES:
        routes += feature.ROUTES

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        threading.Thread(target=portal.warm_up, daemon=True).start()
        try:
            yield
        finally:
            portal.close()

    app = Starlette(
        routes=routes,
        middleware=[Middleware(Gate, token=token, hosts=hosts)],
        exception_handlers={
            HoneyguideError: refused,
            sqlite3.Error: unreadable,
            404: missing,
            405: missing,
            500: failure,
        },
        lifespan=lifespan,
    )
    app.state.portal = portal
    return app
