"""The home page of a portal with several collections: the list of them, and a new crawl."""

from __future__ import annotations

import re

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from honeyguide.config.recipes import recipe_names
from honeyguide.errors import HoneyguideError
from honeyguide.job.topic_builder import topic_text
from honeyguide.ui.api import line_of
from honeyguide.ui.begin import begin_crawl
from honeyguide.ui.render import Form, page_of, read_form, render, see_other
from honeyguide.ui.shelf import Shelf, shelf_of

PER_PAGE = 50
FIELDS = ("name", "keywords", "seeds", "recipe", "max_pages")


def home(request: Request) -> Response:
    """All collections with their figures."""
    return _shown(request)


async def begin(request: Request) -> Response:
    """Start a new crawl, then show it."""
    form = await read_form(request)
    return await run_in_threadpool(_begin, request, form)


def _begin(request: Request, form: Form) -> Response:
    shelf = shelf_of(request)
    try:
        return see_other(_started(shelf, form) + "/")
    except HoneyguideError as error:
        return _shown(request, form=form, problem=str(error))


def _started(shelf: Shelf, form: Form) -> str:
    pages = form.number("max_pages", 1000) or 1000
    if not 1 <= pages <= 1e9:
        raise HoneyguideError("pages: write a whole number above 0")
    title = form.text("name", most=200)
    name = re.sub(r"[^\w]+", "-", title.lower()).strip("-_")[:100]
    text = topic_text(
        title,
        form.text("keywords", most=20_000),
        seeds=form.text("seeds", most=20_000),
        recipe=form.text("recipe", most=100),
        max_pages=int(pages),
    )
    begin_crawl(shelf, name, text)
    return shelf.path_of(name)


def _shown(request: Request, *, form: Form | None = None, problem: str = "") -> Response:
    shelf = shelf_of(request)
    page = page_of(request)
    names = shelf.names
    chosen = names[(page - 1) * PER_PAGE : page * PER_PAGE]
    return render(
        request,
        "home.html",
        title="Collections",
        status=400 if problem else 200,
        lines=[(shelf.path_of(name), line_of(shelf, name)) for name in chosen],
        page=page,
        more=len(names) > page * PER_PAGE,
        place=str(shelf.root),
        asked={name: form.text(name, most=20_000) if form else "" for name in FIELDS},
        recipes=recipe_names(),
        problem=problem,
    )


ROUTES: list[BaseRoute] = [Route("/", home), Route("/", begin, methods=["POST"])]
