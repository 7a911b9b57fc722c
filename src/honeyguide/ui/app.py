"""The application: one collection's pages or several', the REST API, health and metrics, behind one gate."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import quote

import anyio.to_thread
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import RedirectResponse
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Message, Receive, Scope, Send

from honeyguide.errors import HoneyguideError
from honeyguide.ui import (
    addresses,
    builder,
    changes,
    compare,
    directory,
    exports,
    health,
    home,
    jobs,
    links,
    live,
    metrics,
    page_parts,
    page_view,
    read_page,
    reasons,
    review,
    search,
)
from honeyguide.ui.api import make_api
from honeyguide.ui.render import failure, missing, refused, unreadable
from honeyguide.ui.security import Gate
from honeyguide.ui.shelf import Shelf

FEATURES: tuple[ModuleType, ...] = (
    live,
    search,
    addresses,
    page_view,
    page_parts,
    read_page,
    reasons,
    directory,
    links,
    exports,
    jobs,
    review,
    builder,
    changes,
)
"""Modules with `ROUTES`. A new page is one line here."""

STATIC = Path(__file__).parent / "static"
HANDLERS: dict[Any, Any] = {
    HoneyguideError: refused,
    sqlite3.Error: unreadable,
    404: missing,
    405: missing,
    500: failure,
}
THREADS = 8
"""Handlers that run at once; each may hold an open collection."""


def create_app(
    folders: Path | Sequence[Path],
    *,
    token: str,
    hosts: tuple[str, ...] = (),
    places: Sequence[Path] = (),
) -> Starlette:
    """The portal on one collection or several, with the REST API.

    Args:
        folders: The collection, which may come into being later; or several; or a folder of collections.
        token: What a reader must know.
        hosts: Names under which the portal may be asked for, beside loopback's.
        places: Folders that may hold collections some day; new crawls begin in the last one.
    """
    shelf = Shelf([folders] if isinstance(folders, Path) else list(folders), places=places)
    routes: list[BaseRoute] = [
        Mount("/static", StaticFiles(directory=STATIC), name="static"),
        Mount("/api/v1", make_api(shelf)),
        *health.ROUTES,
        *metrics.ROUTES,
    ]
    if shelf.single:
        routes.append(Mount("/", collection_app(shelf, shelf.names[0])))
    else:
        routes += [Mount("/c", _Collections(shelf)), *home.ROUTES, *compare.ROUTES, *builder.NEW_ROUTES]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
        threading.Thread(target=shelf.warm_up, daemon=True).start()
        try:
            yield
        finally:
            shelf.close()

    app = Starlette(
        routes=routes,
        middleware=[Middleware(Gate, token=token, hosts=hosts)],
        exception_handlers=HANDLERS,
        lifespan=lifespan,
    )
    app.state.shelf = shelf
    return app


def collection_app(shelf: Shelf, name: str) -> Starlette:
    """The pages of one collection."""
    routes: list[BaseRoute] = []
    for feature in FEATURES:
        routes += feature.ROUTES
    app = Starlette(routes=routes, exception_handlers=HANDLERS)
    app.state.shelf = shelf
    app.state.portal = shelf.portal(name)
    app.state.root = shelf.path_of(name)
    return app


class _Collections:
    """Hands a request on to the pages of the collection that its path names."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        root = scope.get("root_path", "")
        name, slash, _ = scope["path"][len(root) :].lstrip("/").partition("/")
        if not slash:
            await RedirectResponse(f"{root}/{quote(name)}/", status_code=307)(scope, receive, send)
            return
        app = self._shelf.apps.get(name)
        if app is None:
            try:
                app = await run_in_threadpool(collection_app, self._shelf, name)
            except HoneyguideError as error:
                raise HTTPException(404, str(error)) from None
            self._shelf.apps[name] = app
        inner = dict(scope, root_path=f"{root}/{name}")

        async def moved(message: Message) -> None:
            """Addresses of ours begin at the collection's own root."""
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                place = headers.get("location", "")
                if place.startswith("/") and not place.startswith((f"{root}/", "//")):
                    headers["location"] = self._shelf.path_of(name) + place
            await send(message)

        await app(inner, receive, moved)
