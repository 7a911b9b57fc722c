"""Hubs, authorities and near-duplicate groups."""

from __future__ import annotations

import time
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from honeyguide.collection.duplicate_groups import DuplicateGroup
from honeyguide.ui.jobs import Job
from honeyguide.ui.portal import Portal, portal_of
from honeyguide.ui.render import page_of, query_of, render
from honeyguide.ui.work import FoundLinks, Task

PAGE = 50
GROUPS = 20
_SHOWN = 20
"""Pages of a group that are shown; the rest are counted."""
_FRESH = 30.0
"""Seconds a result is shown without looking for newer pages."""
_VIEWS = ("hubs", "authorities", "duplicates")


def links(request: Request) -> Response:
    """One of the three rankings, computed in the background when the collection has grown."""
    portal = portal_of(request)
    asked = query_of(request)
    view = asked.text("view") if asked.text("view") in _VIEWS else "hubs"
    everything, within = bool(asked.text("all")), bool(asked.text("within"))
    found, job = _found(portal, everything=everything, within=within)
    page = page_of(request)
    shown: list[object] = []
    total = 0
    if found is not None and view == "duplicates":
        total, size = len(found.groups), GROUPS
        shown = _groups(portal, found.groups[(page - 1) * size : page * size])
    elif found is not None:
        ranked = found.analysis.hubs if view == "hubs" else found.analysis.authorities
        total, size = len(ranked), PAGE
        shown = list(ranked[(page - 1) * size : page * size])
    return render(
        request,
        "links.html",
        title="Links",
        active="links",
        view=view,
        everything=everything,
        within=within,
        found=found,
        shown=shown,
        total=total,
        page=page,
        more=page * (GROUPS if view == "duplicates" else PAGE) < total,
        job=job,
    )


def _found(portal: Portal, *, everything: bool, within: bool) -> tuple[FoundLinks | None, Job | None]:
    """The newest result for these options and, if a newer one is being computed, its job."""
    name = f"links{'-all' if everything else ''}{'-within' if within else ''}"
    with portal.reading() as collection:
        pages = collection.state.page_count()
    job = portal.jobs.get(name)
    before = job.result if job is not None and isinstance(job.result, FoundLinks) else None
    if job is not None and not job.busy:
        # While a crawl runs there is always something newer; one computation after another would be too much.
        recent = time.monotonic() - job.ended_at < _FRESH
        if recent or (before is not None and before.analysis.pages == pages):
            return before, job
    if job is None or not job.busy:
        task = Task("links", all_pages=everything, within_hosts=within)
        job = portal.jobs.start(name, task, into=FoundLinks, meanwhile=before)
    return (job.result if isinstance(job.result, FoundLinks) else None), job


def _groups(portal: Portal, groups: Sequence[DuplicateGroup]) -> list[object]:
    """Each group with the pages of it that are shown and what each is to the first."""
    shown: list[object] = []
    with portal.reading() as collection:
        for group in groups:
            kinds = dict.fromkeys(group.near, "nearly the same text") | dict.fromkeys(
                group.equal, "the same bytes"
            )
            kinds[group.first] = "fetched first"
            entries = collection.entries(group.rows[:_SHOWN], snippets=False)
            shown.append((group, [(entry, kinds[entry.row]) for entry in entries]))
    return shown


ROUTES: list[BaseRoute] = [Route("/links", links)]
