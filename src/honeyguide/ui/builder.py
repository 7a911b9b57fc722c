"""The topic builder: paste words or addresses, see what the model learned, test any page, start the crawl."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from honeyguide.config.recipes import recipe_names
from honeyguide.errors import HoneyguideError
from honeyguide.job.topic_builder import Inspection, checked_topic, inspect_topic, topic_text
from honeyguide.model import Document
from honeyguide.store.plain import read_plain
from honeyguide.ui.begin import launch
from honeyguide.ui.portal import Portal, portal_of
from honeyguide.ui.render import Form, read_form, render, see_other

MOST_TOPIC = 60_000
FIELDS = ("name", "pasted", "seeds", "negatives", "recipe", "max_pages")

_KEPT: dict[str, Document] = {}
"""Pages fetched for a look, for the next look."""
_LOOKING = threading.Lock()


def builder(request: Request) -> Response:
    """An empty form, or the topic of the collection."""
    portal = portal_of(request)
    text = ""
    with suppress(OSError):
        text = read_plain(portal.layout.topic_file).decode()[:MOST_TOPIC]
    return _shown(request, portal, text=text)


async def change(request: Request) -> Response:
    """Build the topic from what was pasted, look at what it does, test a page, or start the crawl."""
    portal = portal_of(request)
    form = await read_form(request)
    return await run_in_threadpool(_change, request, portal, form)


def _change(request: Request, portal: Portal, form: Form) -> Response:
    action, text = form.text("action"), form.text("topic", most=MOST_TOPIC)
    try:
        if action == "build":
            text = _built(form)
        if action == "start":
            _start(portal, text)
            return see_other("/")
        with _LOOKING:
            seen = asyncio.run(inspect_topic(text, test=form.text("test", most=20_000), kept=_KEPT))
        return _shown(request, portal, text=text, form=form, seen=seen)
    except HoneyguideError as error:
        return _shown(request, portal, text=text, form=form, problem=str(error))


def _built(form: Form) -> str:
    pages = form.number("max_pages", 1000) or 1000
    if not 1 <= pages <= 1e9:
        raise HoneyguideError("pages: write a whole number above 0")
    return topic_text(
        form.text("name", most=200),
        form.text("pasted", most=20_000),
        seeds=form.text("seeds", most=20_000),
        negatives=form.text("negatives", most=20_000),
        recipe=form.text("recipe", most=100),
        max_pages=int(pages),
    )


def _start(portal: Portal, text: str) -> None:
    """Begin the crawl of a folder that has no collection yet."""
    checked_topic(text)
    if portal.exists:
        raise HoneyguideError(
            "there is a collection in this folder already; save the topic as a file and start it with"
            " `honeyguide crawl FILE --out FOLDER --ui`"
        )
    launch(portal, text)


def _shown(
    request: Request,
    portal: Portal,
    *,
    text: str,
    form: Form | None = None,
    seen: Inspection | None = None,
    problem: str = "",
) -> Response:
    asked = {name: form.text(name, most=20_000) if form else "" for name in (*FIELDS, "test")}
    if not asked["name"] and not asked["pasted"]:
        asked |= _said_by(text)
    return render(
        request,
        "builder.html",
        title="Topic",
        active="topic",
        status=400 if problem else 200,
        text=text,
        asked=asked,
        seen=seen,
        problem=problem,
        exists=portal.exists,
        recipes=recipe_names(),
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
        "negatives": "\n".join(topic.negatives),
        "seeds": "\n".join(config.crawl.seeds),
        "recipe": config.crawl.recipe,
        "max_pages": str(config.crawl.max_pages or ""),
    }


ROUTES: list[BaseRoute] = [Route("/topic", builder), Route("/topic", change, methods=["POST"])]
