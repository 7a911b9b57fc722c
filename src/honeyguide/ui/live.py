"""The live view: how the crawl stands, moving while it runs, and the means to steer it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from honeyguide.collection.overview import Overview
from honeyguide.collection.uncertain import uncertain
from honeyguide.engine.control import ask, checked_limits, with_limits
from honeyguide.errors import HoneyguideError
from honeyguide.store.reviews import read_reviews
from honeyguide.ui.portal import Portal, portal_of
from honeyguide.ui.render import Form, read_form, render, see_other
from honeyguide.ui.watch import Figures, Standing, stands

LIMITS = (
    ("max_pages", "Pages"),
    ("max_relevant", "Pages on topic"),
    ("max_seconds", "Seconds"),
)
"""Limits that can be changed here, with their labels."""
LEAST_PAGES = 50
"""Before so many pages there is not enough to ask about."""
LEAST_CLOSE = 10
CLOSE_SHARE = 0.03
"""Offer a review when at least this share of the pages is unsure."""
ENOUGH = 30
"""Decisions after which it is no longer offered."""
_OBEYS_WITHIN = 3.0
"""Seconds a page waits for the crawl to say that it has obeyed; it goes on either way."""


def live(request: Request) -> Response:
    """The figures as they are now; the stream moves them from there."""
    portal = portal_of(request)
    if not portal.exists:
        return render(request, "waiting.html", title="Live", active="live", problem=portal.launcher.problem)
    figures = portal.watch.latest or quick_figures(portal)
    return render(
        request,
        "live.html",
        title="Live",
        active="live",
        figures=figures,
        limits=LIMITS,
        problem=portal.launcher.problem,
        offer=offer_of(portal),
    )


def offer_of(portal: Portal) -> str:
    """Why a review would help now; empty while it would not, or right after one."""
    reviews = read_reviews(portal.folder)
    with portal.catalogue() as catalogue:
        shown = catalogue.shown & ~catalogue.copies
        made = uncertain(catalogue.scores[shown], catalogue.on_topic[shown])
        pages = catalogue.size
    if made is None or pages < LEAST_PAGES or made.near < max(LEAST_CLOSE, pages * CLOSE_SHARE):
        return ""
    return made.advice if len(reviews.pages) < ENOUGH else ""


def quick_figures(portal: Portal) -> Figures:
    """What can be said without reading the frontier: enough for a first paint on the largest collection."""
    with portal.reading() as collection:
        standing = stands(collection.state, portal.layout)
        tally = collection.state.setting("tally")
    known = tally if isinstance(tally, dict) else {}
    names = set(Overview.__struct_fields__)
    overview = msgspec.convert({key: value for key, value in known.items() if key in names}, Overview)
    if overview.pages:
        overview = msgspec.structs.replace(overview, harvest=overview.relevant / overview.pages)
    return Figures(time.time(), standing, overview)


def growth(request: Request) -> Response:
    """Pages on topic against pages fetched as a small picture, for the home page."""
    curve = portal_of(request).watch.figures().overview.curve
    return Response(
        growth_picture([(point.pages, point.relevant) for point in curve]),
        media_type="image/svg+xml",
        headers={"Cache-Control": "no-cache"},
    )


def growth_picture(curve: Sequence[tuple[int, int]]) -> str:
    """The curve as SVG: an image of its own, so it names its colours (good on light and on dark)."""
    width, height, foot = 300, 80, 76
    points, last = "", f"0 {foot}"
    pages, most = (curve[-1][0], max(1, curve[-1][1])) if curve else (1, 1)
    for page, found in [(0, 0), *curve]:
        last = f"{(width - 6) * page / pages:.1f} {foot - (foot - 6) * found / most:.1f}"
        points += f"{'L' if points else 'M'}{last}"
    x, y = last.split()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">'
        f'<path d="M0 {foot}H{width}" stroke="#8a8578" stroke-opacity="0.35"/>'
        f'<path d="{points}L{x} {foot}Z" fill="#e0a100" fill-opacity="0.16"/>'
        f'<path d="{points}" fill="none" stroke="#d29700" stroke-width="2.5" stroke-linejoin="round"/>'
        f'<circle cx="{x}" cy="{y}" r="4" fill="#d29700"/></svg>'
    )


async def events(request: Request) -> Response:
    """The figures as server-sent events, once a second."""
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(
        portal_of(request).watch.stream(), media_type="text/event-stream", headers=headers
    )


async def control(request: Request) -> Response:
    """Pause, go on, stop, change the budget, or start again."""
    form = await read_form(request)
    portal = portal_of(request)
    limits = await run_in_threadpool(_steer, portal, form)
    # What the next page shows is what the crawl does, so give it a moment.
    for _ in range(int(_OBEYS_WITHIN / 0.1)):
        if _obeyed(form.text("action"), limits, await run_in_threadpool(portal.watch.standing)):
            break
        await asyncio.sleep(0.1)
    await run_in_threadpool(portal.watch.figures, newest=True)
    return see_other("/#steer")  # where the keyboard goes on


def _obeyed(action: str, limits: dict[str, float | None], standing: Standing) -> bool:
    return {
        "pause": standing.paused or not standing.running,
        "resume": not standing.paused,
        "stop": not standing.running,
        "continue": standing.running,
        "budget": standing.budget is None or with_limits(standing.budget, limits) == standing.budget,
    }.get(action, True)


def _steer(portal: Portal, form: Form) -> dict[str, float | None]:
    """Pass a request on to the crawl; the limits that were asked for."""
    action = form.text("action")
    limits = checked_limits({name: form.number(name) for name, _ in LIMITS}) if action in _WITH_LIMITS else {}
    standing = portal.watch.standing()
    if action == "continue":
        if standing.running:
            raise HoneyguideError("the crawl is running; change its budget instead")
        options = [
            f"--{name.replace('_', '-')}={limits[name]}"
            for name in ("max_pages", "max_seconds")
            if limits[name] is not None
        ]
        portal.launcher.start(["resume", str(portal.folder.resolve()), "--quiet", *options])
        return limits
    if not standing.running:
        raise HoneyguideError("no crawl is running on this collection; continue it first")
    if action in ("pause", "resume"):
        ask(portal.folder, session=standing.session, paused=action == "pause")
    elif action == "stop":
        ask(portal.folder, session=standing.session, stop=True)
    elif action == "budget":
        ask(portal.folder, session=standing.session, budget=limits)
    else:
        raise HoneyguideError(f"there is no action {action!r}; use the buttons of the live view")
    return limits


_WITH_LIMITS = frozenset({"budget", "continue"})

ROUTES: list[BaseRoute] = [
    Route("/", live),
    Route("/growth.svg", growth),
    Route("/events", events),
    Route("/control", control, methods=["POST"]),
]
