"""The topic builder: words and addresses, what would count as on topic, and the start of the crawl.

It serves two places: `/topic` of one collection, and `/new` of a portal with several. What would count is
shown while one types: the script sends the fields, the pages are fetched as a crawl would, once each.
"""

from __future__ import annotations

import asyncio
import os
import re
import threading
from contextlib import suppress

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from honeyguide.config.recipes import recipe_names
from honeyguide.config.schema import DEFAULT_RECIPE
from honeyguide.errors import HoneyguideError
from honeyguide.job.topic_builder import Inspection, Looked, checked_topic, inspect_topic, parted, topic_text
from honeyguide.store.plain import read_plain
from honeyguide.topic.tokens import built_in_table
from honeyguide.ui.begin import begin_crawl, launch, rejudge
from honeyguide.ui.portal import Portal
from honeyguide.ui.render import Form, read_form, render, see_other
from honeyguide.ui.shelf import shelf_of

MOST_TOPIC = 60_000
AROUND = 6
"""Pages that the given ones link to, judged for a look."""
FIELDS = ("name", "pasted", "taxonomy", "seeds", "negatives", "recipe", "max_pages")

_KEPT = Looked()
_LOOKING = threading.Lock()


def builder(request: Request) -> Response:
    """An empty form, or the topic of the collection."""
    portal = _portal(request)
    text = ""
    if portal is not None:
        with suppress(OSError):
            text = read_plain(portal.layout.topic_file).decode()[:MOST_TOPIC]
    return _shown(request, text=text)


async def change(request: Request) -> Response:
    """Build the topic from what was pasted, look at what it does, test a page, or start the crawl."""
    form = await read_form(request)
    return await run_in_threadpool(_change, request, form)


def _change(request: Request, form: Form) -> Response:
    action, text = form.text("action"), form.text("topic", most=MOST_TOPIC)
    try:
        if action in ("build", "begin"):
            text = _built(form)
        if action in ("start", "begin"):
            return see_other(_started(request, text) + "/")
        return _shown(request, text=text, form=form, seen=_looked(text, form.text("test", most=20_000)))
    except HoneyguideError as error:
        return _shown(request, text=text, form=form, problem=str(error))


async def look(request: Request) -> Response:
    """What the fields would count as on topic, for the script that asks while one types."""
    form = await read_form(request)
    return await run_in_threadpool(_look, form)


def _look(form: Form) -> Response:
    addresses = parted(form.text("seeds", most=20_000))[1] or parted(form.text("pasted", most=20_000))[1]
    try:
        # Words alone can be looked at, too; a topic file needs some address.
        text = _built(form, seeds="" if addresses else "https://example.invalid/")
        seen = _looked(text, around=AROUND if addresses and form.text("around") else 0)
    except HoneyguideError as error:
        return JSONResponse({"problem": str(error)})
    return JSONResponse(msgspec.to_builtins(seen))


def _looked(text: str, test: str = "", *, around: int = AROUND) -> Inspection:
    with _LOOKING:
        return asyncio.run(inspect_topic(text, test=test, kept=_KEPT, around=around, environment=os.environ))


def _built(form: Form, *, seeds: str = "") -> str:
    pages = form.number("max_pages", 1000) or 1000
    if not 1 <= pages <= 1e9:
        raise HoneyguideError("pages: write a whole number above 0")
    return topic_text(
        form.text("name", most=200),
        form.text("pasted", most=20_000),
        seeds=seeds or form.text("seeds", most=20_000),
        negatives=form.text("negatives", most=20_000),
        taxonomy=form.text("taxonomy", most=1_000),
        recipe=form.text("recipe", most=100),
        max_pages=int(pages),
    )


def _started(request: Request, text: str) -> str:
    """Begin the crawl; the root of its pages."""
    config = checked_topic(text)
    portal = _portal(request)
    if portal is None:
        shelf = shelf_of(request)
        stem = re.sub(r"[^\w]+", "-", config.topic.name.lower()).strip("-_")[:80] or "topic"
        name, number = stem, 1
        while name in shelf.names or (shelf.root / name).exists():
            number += 1
            name = f"{stem}-{number}"
        begin_crawl(shelf, name, text)
        return shelf.path_of(name)
    if portal.exists:
        rejudge(portal, text)
    else:
        launch(portal, text)
    return ""


def _portal(request: Request) -> Portal | None:
    """The collection's portal; None where a new collection is begun."""
    portal = getattr(request.app.state, "portal", None)
    assert portal is None or isinstance(portal, Portal)
    return portal


def _shown(
    request: Request,
    *,
    text: str,
    form: Form | None = None,
    seen: Inspection | None = None,
    problem: str = "",
) -> Response:
    portal = _portal(request)
    asked = {name: form.text(name, most=20_000) if form else "" for name in (*FIELDS, "test")}
    if not any(asked[name] for name in ("name", "pasted", "taxonomy")):
        asked |= _said_by(text)
    return render(
        request,
        "builder.html",
        title="Topic" if portal else "New topic",
        active="topic",
        status=400 if problem else 200,
        text=text,
        asked=asked,
        seen=seen,
        problem=problem,
        exists=portal is not None and portal.exists,
        place=str(shelf_of(request).root.resolve()) if portal is None else "",
        page="/topic" if portal else "/new",
        recipes=recipe_names(),
        default=DEFAULT_RECIPE,
        subjects=[name for one in built_in_table().entries.values() for name in (one.topic, *one.chinese)],
    )


def _said_by(text: str) -> dict[str, str]:
    """What a topic file says, as the fields of the form; nothing while it cannot be read."""
    try:
        config = checked_topic(text)
    except HoneyguideError:
        return {}
    topic = config.topic
    return {
        "name": topic.name,
        "pasted": "\n".join([", ".join(topic.keywords), *topic.examples]).strip(),
        "taxonomy": topic.taxonomy,
        "negatives": "\n".join(topic.negatives),
        "seeds": "\n".join(config.crawl.seeds),
        "recipe": config.crawl.recipe,
        "max_pages": str(config.crawl.max_pages or ""),
    }


def _routes(path: str) -> list[BaseRoute]:
    return [
        Route(path, builder),
        Route(path, change, methods=["POST"]),
        Route(f"{path}/look", look, methods=["POST"]),
    ]


ROUTES = _routes("/topic")
NEW_ROUTES = _routes("/new")
"""Of the home page's new topic."""
