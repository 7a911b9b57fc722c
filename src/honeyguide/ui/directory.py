"""The directory: the collection as a subject portal, by subject and by host."""

from __future__ import annotations

import threading
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from honeyguide.collection.directory import Directory
from honeyguide.ui.portal import Portal, portal_of
from honeyguide.ui.render import page_of, query_of, render, see_other
from honeyguide.ui.work import Task

PAGE = 50
"""Pages in one list."""
HOSTS = 200
JOB = "directory"

_kept: dict[Path, tuple[int, Directory]] = {}
_lock = threading.Lock()


def load_directory(portal: Portal) -> Directory | None:
    """The directory as last made; read again only when the file has changed."""
    path = portal.layout.directory_file
    try:
        changed = path.stat().st_mtime_ns
    except OSError:
        return None
    with _lock:
        known = _kept.get(path)
        if known is None or known[0] != changed:
            made = Directory.load(path)
            if made is None:
                return None
            known = _kept[path] = (changed, made)
        return known[1]


def _require(portal: Portal) -> Directory:
    made = load_directory(portal)
    if made is None:
        raise HTTPException(404, "the directory has not been made yet; make it on its page")
    return made


def directory(request: Request) -> Response:
    """Subjects with their first pages, and the hosts with most pages."""
    portal = portal_of(request)
    made = load_directory(portal)
    with portal.reading() as collection:
        pages = collection.state.page_count()
        subjects = [
            (subject, f"/directory/subject/{number}", collection.entries(subject.rows[:3], snippets=False))
            for number, subject in enumerate(made.subjects if made else (), 1)
        ]
    hosts = sorted(made.hosts, key=lambda host: (-len(host.rows), host.name))[:12] if made else []
    return render(
        request,
        "directory.html",
        title="Directory",
        active="directory",
        made=made,
        subjects=subjects,
        hosts=hosts,
        pages=pages,
        job=portal.jobs.get(JOB),
    )


def subject(request: Request) -> Response:
    """The pages of one subject."""
    portal = portal_of(request)
    made = _require(portal)
    number = int(request.path_params["number"])
    if not 1 <= number <= len(made.subjects):
        raise HTTPException(404, "there is no such subject; the directory may have been rebuilt")
    chosen = made.subjects[number - 1]
    return _listed(request, portal, chosen.label, chosen.rows, terms=chosen.terms)


def host(request: Request) -> Response:
    """The pages of one host."""
    portal = portal_of(request)
    name = query_of(request).text("name", most=300)
    chosen = next((each for each in _require(portal).hosts if each.name == name), None)
    if chosen is None:
        raise HTTPException(404, "there is no such host in the directory")
    return _listed(request, portal, chosen.name, chosen.rows, terms=())


def _listed(
    request: Request, portal: Portal, heading: str, rows: tuple[int, ...], *, terms: tuple[str, ...]
) -> Response:
    page = page_of(request)
    shown = rows[(page - 1) * PAGE : page * PAGE]
    with portal.reading() as collection:
        pages = collection.entries(shown)
    return render(
        request,
        "directory_list.html",
        title=heading,
        active="directory",
        heading=heading,
        terms=terms,
        pages=pages,
        total=len(rows),
        page=page,
        more=page * PAGE < len(rows),
    )


def hosts(request: Request) -> Response:
    """All hosts, by name or by number of pages, narrowed by a part of the name."""
    made = _require(portal_of(request))
    asked = query_of(request)
    part, order = asked.text("q", most=100).lower(), asked.text("order")
    found = [each for each in made.hosts if part in each.name]
    if order != "name":
        found.sort(key=lambda each: (-len(each.rows), each.name))
    page = page_of(request)
    return render(
        request,
        "directory_hosts.html",
        title="Hosts",
        active="directory",
        hosts=found[(page - 1) * HOSTS : page * HOSTS],
        total=len(found),
        part=part,
        order=order,
        page=page,
        more=page * HOSTS < len(found),
    )


def build(request: Request) -> Response:
    """Make the directory, or rebuild it."""
    portal = portal_of(request)
    with portal.reading():
        pass  # Says so at once when there is no collection.
    portal.jobs.start(JOB, Task("directory"))
    return see_other("/directory")


ROUTES: list[BaseRoute] = [
    Route("/directory", directory),
    Route("/directory", build, methods=["POST"]),
    Route("/directory/subject/{number:int}", subject),
    Route("/directory/hosts", hosts),
    Route("/directory/host", host),
]
