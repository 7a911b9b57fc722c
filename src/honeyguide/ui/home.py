"""The home page of a portal with several collections: a card for each, and the way to a new topic."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from honeyguide.errors import CollectionError
from honeyguide.store.layout import Layout
from honeyguide.store.shards import is_sharded, load, shard_folder
from honeyguide.ui.api import CollectionLine, line_of
from honeyguide.ui.render import page_of, render
from honeyguide.ui.shelf import Shelf, shelf_of

PER_PAGE = 24


class Card(msgspec.Struct, frozen=True):
    """A collection on the home page."""

    path: str
    topic: str
    line: CollectionLine
    active: str
    """When something last happened, in words."""


def home(request: Request) -> Response:
    """All collections, those that were at work last first."""
    shelf = shelf_of(request)
    page = page_of(request)
    names = sorted(shelf.names, key=lambda name: -last_written(shelf.portal(name).folder))
    chosen = names[(page - 1) * PER_PAGE : page * PER_PAGE]
    return render(
        request,
        "home.html",
        title="Collections",
        cards=[_card(shelf, name) for name in chosen],
        page=page,
        more=len(names) > page * PER_PAGE,
        total=len(names),
        place=str(shelf.root),
    )


def _card(shelf: Shelf, name: str) -> Card:
    return Card(
        shelf.path_of(name),
        shelf.portal(name).topic,
        line_of(shelf, name),
        ago(last_written(shelf.portal(name).folder)),
    )


def last_written(folder: Path) -> float:
    """When the state of a collection was last written by its crawl; 0 when there is none."""
    states = [Layout(folder).state_file]
    if is_sharded(folder):
        # Shards are merged for whoever reads them, so that state says when they were last looked at.
        with suppress(CollectionError):
            states = [Layout(shard_folder(folder, shard)).state_file for shard in load(folder).folders]
    times = []
    for state in states:
        for file in (state, state.with_name(state.name + "-wal")):
            with suppress(OSError):
                times.append(file.stat().st_mtime)
    return max(times, default=0.0)


def ago(at: float, now: float | None = None) -> str:
    """How long ago something was, in words.

    Example:
        >>> ago(100.0, 100.0 + 7200)
        '2 hours ago'
    """
    if not at:
        return ""
    passed = max(0.0, (time.time() if now is None else now) - at)
    for size, unit in ((86_400.0, "day"), (3_600.0, "hour"), (60.0, "minute")):
        count = int(passed // size)
        if count:
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return "just now"


ROUTES: list[BaseRoute] = [Route("/", home)]
