"""The exports page: make files of the collection, download them, read its datasheet."""

from __future__ import annotations

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route

from honeyguide.collection.exports.formats import Format
from honeyguide.errors import HoneyguideError
from honeyguide.ui.export_files import (
    OFFERED,
    Made,
    file_name,
    made_files,
    media_types,
    read_datasheet,
)
from honeyguide.ui.jobs import Job
from honeyguide.ui.portal import Portal, portal_of
from honeyguide.ui.render import read_form, render, see_other
from honeyguide.ui.work import Task


class _Offer(msgspec.Struct, frozen=True):
    """A format with the files of it that are there."""

    form: Format
    files: tuple[Made, ...]
    job: Job | None


def exports(request: Request) -> Response:
    """All formats, what is made of them, and what is being made."""
    portal = portal_of(request)
    with portal.reading() as collection:
        tally = collection.state.setting("tally")
    spent = tally if isinstance(tally, dict) else {}
    there = made_files(portal.layout)
    offers = []
    for form in OFFERED:
        names = {
            file_name(form, all_pages=all_pages, text=text)
            for all_pages in (False, True)
            for text in (False, True)
        }
        names |= {"datasheet.html"} if form.name == "datasheet" else set()
        files = tuple(there[name] for name in sorted(names) if name in there)
        offers.append(_Offer(form, files, portal.jobs.get(_job_name(form.name))))
    return render(request, "exports.html", title="Exports", active="exports", offers=offers, spent=spent)


async def begin(request: Request) -> Response:
    """Make a file in the background."""
    form = await read_form(request)
    wanted = next((each for each in OFFERED if each.name == form.text("format")), None)
    if wanted is None:
        raise HoneyguideError(f"{form.text('format')!r} is not a format; choose one on the page")
    portal = portal_of(request)
    await run_in_threadpool(
        _begin, portal, wanted, all_pages=bool(form.text("all")), text=bool(form.text("text"))
    )
    return see_other("/datasheet" if form.text("then") == "datasheet" else "/exports")


def _begin(portal: Portal, form: Format, *, all_pages: bool, text: bool) -> None:
    with portal.reading():
        pass  # Says so at once when there is no collection.
    portal.jobs.start(_job_name(form.name), Task("export", form.name, all_pages=all_pages, text=text))


def download(request: Request) -> Response:
    """One of our files, as a download and nothing else."""
    name = request.path_params["name"]
    kind = media_types().get(name)
    path = portal_of(request).layout.exports_folder / name
    if kind is None or path.is_symlink() or not path.is_file():
        raise HTTPException(404, "there is no such export; make it on the exports page")
    return FileResponse(path, media_type=kind, filename=name, content_disposition_type="attachment")


def datasheet(request: Request) -> Response:
    """The datasheet, section by section."""
    portal = portal_of(request)
    with portal.reading() as collection:
        pages = collection.state.page_count()
    return render(
        request,
        "datasheet.html",
        title="Datasheet",
        active="exports",
        document=read_datasheet(portal.layout),
        made=made_files(portal.layout).get("datasheet.md"),
        job=portal.jobs.get(_job_name("datasheet")),
        pages=pages,
    )


def _job_name(name: str) -> str:
    return f"export-{name}"


ROUTES: list[BaseRoute] = [
    Route("/exports", exports),
    Route("/exports", begin, methods=["POST"]),
    Route("/exports/{name}", download),
    Route("/datasheet", datasheet),
]
