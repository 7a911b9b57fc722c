"""The REST API under `/api/v1`: JSON, described by `/api/v1/openapi.json` and shown at `/api/v1/docs`.

An operation is an entry of `OPERATIONS` and a plain function of what was asked, whose docstring describes
it; it runs in a thread. Token, Host and Origin are checked by the portal's gate before. Lists take `limit`
and `offset` and say how many there are in all.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from honeyguide.collection.catalogue import SORTS, Sort, Wanted
from honeyguide.collection.changes import Change
from honeyguide.collection.collection import Status
from honeyguide.collection.estimate import Estimate
from honeyguide.collection.guarded import utc
from honeyguide.collection.moments import moment
from honeyguide.collection.page import CollectedPage, PageLink, Version
from honeyguide.collection.review_desk import decide
from honeyguide.collection.story import Story
from honeyguide.engine.control import ask
from honeyguide.errors import CollectionError, HoneyguideError
from honeyguide.job.topic_builder import topic_text
from honeyguide.store.disk_trouble import database_trouble
from honeyguide.store.records import PageRecord
from honeyguide.store.reviews import Decision, read_reviews, undo_review
from honeyguide.ui.begin import begin_crawl
from honeyguide.ui.export_files import OFFERED, file_name, made_files, media_types
from honeyguide.ui.jobs import Job
from honeyguide.ui.openapi import Failure, Operation, Parameter, Problem, document
from honeyguide.ui.portal import Portal
from honeyguide.ui.render import render
from honeyguide.ui.shelf import Shelf, shelf_of
from honeyguide.ui.work import Task
from honeyguide.web.url import canonical

MOST = 200
"""Items in one answer."""
MOST_BODY = 256 * 1024
MOST_TEXT = 500_000
_encode = msgspec.json.Encoder().encode


class CollectionLine(msgspec.Struct, frozen=True):
    """A collection in the list."""

    name: str
    exists: bool
    """False between a start and the first commit."""
    running: bool = False
    paused: bool = False
    pages: int = 0
    relevant: int = 0
    reason: str = ""
    """Why the last run ended, or failed to begin."""
    problem: str = ""
    """Why it cannot be read; the figures are 0 then."""


class Collections(msgspec.Struct, frozen=True):
    """A part of the list of collections."""

    total: int
    offset: int
    items: list[CollectionLine]


class CollectionFacts(msgspec.Struct, frozen=True):
    """A collection and where its crawl stands."""

    name: str
    topic: str
    status: Status
    paused: bool
    problem: str
    """Why the last crawl started here failed; empty when all is well."""


class PageLine(msgspec.Struct, frozen=True):
    """A page in a list."""

    url: str
    title: str
    language: str
    score: float
    on_topic: bool
    fetched_at: str
    snippet: str = ""
    """Of a search; untrusted text."""


class Pages(msgspec.Struct, frozen=True):
    """A part of a list of pages."""

    offset: int
    items: list[PageLine]
    total: int | None = None
    """None where counting would take too long."""


class PageFacts(msgspec.Struct, frozen=True):
    """One page. `text` and `markdown` are untrusted content from the web."""

    url: str
    title: str
    language: str
    score: float
    on_topic: bool
    fetched_at: str
    depth: int
    status: int
    content_type: str
    digest: str
    duplicate_of: str
    """Address of the page that has the same bytes, or nearly the same text; empty for none."""
    warc_file: str
    """File of the collection's archive that holds the answer, and where in it; empty without an archive."""
    warc_offset: int | None
    terms: list[tuple[str, float]]
    text: str | None = None
    markdown: str | None = None
    why: Story | None = None
    links: list[PageLink] | None = None
    versions: list[Version] | None = None


class Changes(msgspec.Struct, frozen=True):
    """A part of what has become of the pages, newest first. Titles and sentences are untrusted content."""

    total: int
    offset: int
    items: list[Change]


class Decisions(msgspec.Struct, frozen=True):
    """A part of the decisions that stand, newest first."""

    total: int
    offset: int
    items: list[Decision]


class NewReview(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A decision on a fetched page, or on all pages of a host."""

    said: Literal["accept", "reject"]
    url: Annotated[str, msgspec.Meta(max_length=8000)] = ""
    host: Annotated[str, msgspec.Meta(max_length=255)] = ""


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """New limits of a crawl, for all its runs together."""

    max_pages: Annotated[int, msgspec.Meta(ge=1, le=10**9)] | None = None
    max_seconds: Annotated[int, msgspec.Meta(ge=1, le=10**9)] | None = None


class NewCrawl(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A crawl to begin: a topic file as text, or its parts."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    """Of the collection's folder."""
    topic: Annotated[str, msgspec.Meta(max_length=60_000)] = ""
    """A topic file; else the next three."""
    keywords: list[Annotated[str, msgspec.Meta(min_length=1, max_length=200)]] = []
    seeds: list[Annotated[str, msgspec.Meta(min_length=1, max_length=8000)]] = []
    recipe: Annotated[str, msgspec.Meta(max_length=100)] = ""
    max_pages: Annotated[int, msgspec.Meta(ge=1, le=10**9)] = 1000


class Accepted(msgspec.Struct, frozen=True):
    """The request was passed on to the crawl, which follows it within a second or two."""

    name: str
    asked: str


class NewExport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file to make."""

    format: str
    all_pages: bool = False
    text: bool = False


class ExportJob(msgspec.Struct, frozen=True):
    """An export and how far it is."""

    format: str
    state: str
    """`none`, `waiting`, `running`, `done` or `failed`."""
    done: int = 0
    total: int = 0
    problem: str = ""
    files: list[str] = []
    """Names to download under `exports/files/NAME`."""


class Exports(msgspec.Struct, frozen=True):
    """All formats."""

    items: list[ExportJob]


class Asked:
    """A request with its parameters checked."""

    def __init__(self, request: Request, operation: Operation, body: Any) -> None:
        self.shelf: Shelf = shelf_of(request)
        self.body = body
        self._values: dict[str, Any] = {}
        known = {one.name: one for one in operation.parameters}
        for name in request.query_params:
            if name not in known:
                raise HTTPException(422, f"there is no parameter {name[:50]!r}; see /api/v1/docs")
        for name, one in known.items():
            if one.place == "path":
                text = request.path_params.get(name)
            else:
                given = request.query_params.getlist(name)
                if len(given) > 1 and one.schema.get("type") != "array":
                    raise HTTPException(422, f"{name} is there {len(given)} times; give it once")
                text = ",".join(given) if given else None
            self._values[name] = _checked(one, text)

    def __getitem__(self, name: str) -> Any:
        """A parameter's value."""
        return self._values[name]

    @property
    def name(self) -> str:
        """The collection in the path."""
        return str(self["name"])

    @property
    def portal(self) -> Portal:
        """The collection in the path.

        Raises:
            HTTPException: There is none.
        """
        try:
            portal = self.shelf.portal(self.name)
        except HoneyguideError as error:
            raise HTTPException(404, str(error)) from None
        if not portal.exists:
            raise HTTPException(404, f"the crawl {self.name!r} has not begun yet; ask again in a second")
        return portal


def _checked(one: Parameter, text: str | None) -> Any:
    if text is None:
        if one.required:
            raise HTTPException(422, f"{one.name} is missing: {one.meaning}")
        return one.schema.get("default")
    if "\0" in text or len(text) > 8000:
        raise HTTPException(422, f"{one.name}: too long, or not text")
    kind = one.schema.get("type")
    if kind == "integer":
        low, high = one.schema["minimum"], one.schema["maximum"]
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit()) or len(digits) > 12 or not low <= int(text) <= high:
            raise HTTPException(422, f"{one.name}: write a whole number from {low} to {high}")
        return int(text)
    choices = one.schema.get("enum")
    if choices and text not in choices:
        raise HTTPException(422, f"{one.name}: use one of {', '.join(choices)}")
    if kind == "array":
        parts = [part for part in text.split(",") if part]
        wrong = [part for part in parts if part not in one.schema["items"]["enum"]]
        if wrong:
            raise HTTPException(422, f"{one.name}: use any of {', '.join(one.schema['items']['enum'])}")
        return parts
    return text


def collections(asked: Asked) -> Collections:
    """All collections."""
    names = asked.shelf.names
    start = asked["offset"]
    chosen = names[start : start + asked["limit"]]
    return Collections(len(names), start, [line_of(asked.shelf, name) for name in chosen])


def line_of(shelf: Shelf, name: str) -> CollectionLine:
    """What a list says of a collection."""
    portal = shelf.portal(name)
    if not portal.exists:
        return CollectionLine(
            name, exists=False, running=portal.launcher.running, reason=portal.launcher.problem
        )
    try:
        with portal.reading() as collection:
            status = collection.status()
        standing = portal.watch.standing()
    except sqlite3.Error as error:
        return CollectionLine(name, exists=True, problem=database_trouble(error))
    except HoneyguideError as error:
        return CollectionLine(name, exists=True, problem=str(error))
    return CollectionLine(
        name, True, standing.running, standing.paused, status.pages, status.relevant, standing.reason
    )


def create(asked: Asked) -> Accepted:
    """Begin a new crawl."""
    wanted: NewCrawl = asked.body
    if not wanted.topic:
        if not wanted.keywords or not wanted.seeds:
            raise HTTPException(422, "give keywords and seeds, or a whole topic file as topic")
        for seed in wanted.seeds:
            if canonical(seed) is None:
                raise HTTPException(422, f"seeds: {seed[:100]!r} is not a valid URL; write it as https://...")
    text = wanted.topic or topic_text(
        wanted.name,
        ", ".join(wanted.keywords),
        seeds="\n".join(wanted.seeds),
        recipe=wanted.recipe,
        max_pages=wanted.max_pages,
    )
    begin_crawl(asked.shelf, wanted.name, text)
    return Accepted(wanted.name, "start")


def one(asked: Asked) -> CollectionFacts:
    """Where a crawl stands."""
    portal = asked.portal
    standing = portal.watch.standing()
    with portal.reading() as collection:
        status = msgspec.structs.replace(
            collection.status(), running=standing.running, reason=standing.reason
        )
        return CollectionFacts(asked.name, collection.name, status, standing.paused, portal.launcher.problem)


def pages(asked: Asked) -> Pages:
    """Its pages."""
    portal = asked.portal
    verdict = {"relevant": True, "off": False}.get(asked["verdict"])
    wanted = Wanted(on_topic=verdict, host=asked["host"] or "", language=asked["language"] or "")
    sort: Sort = next(one for one in SORTS if one == asked["sort"])
    with portal.catalogue() as catalogue:
        rows = catalogue.find(wanted, sort=sort)
    start = asked["offset"]
    with portal.reading() as collection:
        found = [collection.state.page_by_row(row) for row in rows[start : start + asked["limit"]].tolist()]
    return Pages(start, [_line(record) for record in found if record], total=len(rows))


def search(asked: Asked) -> Pages:
    """Full-text search over the pages on topic."""
    start = asked["offset"]
    with asked.portal.reading() as collection:
        hits = collection.search(
            asked["q"],
            asked["limit"],
            start,
            host=asked["host"] or "",
            language=asked["language"] or "",
            unique=asked["copies"] == "without",
            as_of=asked["as_of"] or None,
        )
    lines = [
        PageLine(hit.url, hit.title, hit.language, hit.score, True, _when(hit.at), hit.snippet)
        for hit in hits
    ]
    return Pages(start, lines, total=start + len(hits) if len(hits) < asked["limit"] else None)


def page(asked: Asked) -> PageFacts:
    """One page: facts, and what `include` names."""
    portal = asked.portal
    include = asked["include"] or []
    if canonical(asked["url"]) is None:
        raise HTTPException(422, f"url: {asked['url'][:100]!r} is not a valid URL; write it as https://...")
    with portal.reading() as collection:
        try:
            found = collection.page(asked["url"])
        except HoneyguideError as error:
            raise HTTPException(404, str(error)) from None
        record = found.record
        twin = record.duplicate_of or record.near_duplicate_of
        return PageFacts(
            url=record.url,
            title=record.title,
            language=record.language,
            score=record.score,
            on_topic=record.on_topic,
            fetched_at=found.fetched_at,
            depth=record.depth,
            status=record.status,
            content_type=record.content_type,
            digest=record.digest,
            duplicate_of=collection.state.url_text(twin) if twin else "",
            warc_file=record.file,
            warc_offset=record.offset if record.file else None,
            terms=list(record.terms),
            text=found.text()[:MOST_TEXT] if "text" in include else None,
            markdown=_markdown(found) if "markdown" in include else None,
            why=found.why() if "why" in include else None,
            links=found.links() if "links" in include else None,
            versions=found.versions() if "versions" in include else None,
        )


def _markdown(found: CollectedPage) -> str:
    return found.markdown()[:MOST_TEXT]


def _line(record: PageRecord) -> PageLine:
    return PageLine(
        record.url, record.title, record.language, record.score, record.on_topic, _when(record.at)
    )


def _when(at: float) -> str:
    return utc(at).isoformat(timespec="seconds")


def reviews(asked: Asked) -> Decisions:
    """Decisions that stand."""
    held = read_reviews(asked.portal.folder).standing[::-1]
    start = asked["offset"]
    return Decisions(len(held), start, held[start : start + asked["limit"]])


def review(asked: Asked) -> Decision:
    """Accept or reject; the crawl learns from it."""
    portal, wanted = asked.portal, asked.body
    if bool(wanted.url) == bool(wanted.host):
        raise HTTPException(422, "give either url or host")
    with portal.reading() as collection:
        try:
            made = decide(
                portal.folder, collection.state, wanted.said, at=time.time(), url=wanted.url, host=wanted.host
            )
        except CollectionError as error:
            raise HTTPException(404, str(error)) from None
    _learn(portal)
    return made


def undo(asked: Asked) -> Decision:
    """Take back a decision, by default the last."""
    portal = asked.portal
    made = undo_review(portal.folder, at=time.time(), number=asked["number"])
    _learn(portal)
    return made


def _learn(portal: Portal) -> None:
    ask(portal.folder, reviews=1)
    if not portal.watch.standing().running:
        portal.applier.soon(lambda: not portal.watch.standing().running)


def estimate(asked: Asked) -> Estimate | None:
    """How much of the topic is found; null while it is too early."""
    return asked.portal.watch.figures().estimate


def changes(asked: Asked) -> Changes:
    """What is new, changed (with what changed in the text), newly on topic, gone or back since a moment."""
    offset, limit = asked["offset"], asked["limit"]
    with asked.portal.reading() as collection:
        start = moment(asked["since"] or "7d")
        found = collection.changes(start, diffs=False)
        rows = {change.row for change in found[offset : offset + limit]}
        return Changes(len(found), offset, collection.changes(start, rows=rows) if rows else [])


def start(asked: Asked) -> Accepted:
    """Go on with a stopped crawl."""
    portal, limits = asked.portal, asked.body
    if portal.watch.standing().running:
        raise HTTPException(409, "the crawl is running already")
    options = [
        f"--{name.replace('_', '-')}={value}"
        for name, value in (("max_pages", limits.max_pages), ("max_seconds", limits.max_seconds))
        if value is not None
    ]
    try:
        portal.launcher.start(["resume", str(portal.folder.resolve()), "--quiet", *options])
    except HoneyguideError as error:
        raise HTTPException(409, str(error)) from None
    return Accepted(asked.name, "start")


def _steer(asked: Asked, what: str) -> Accepted:
    portal = asked.portal
    standing = portal.watch.standing()
    if not standing.running:
        raise HTTPException(409, "no crawl is running on this collection; start it first")
    if what == "stop":
        ask(portal.folder, session=standing.session, stop=True)
    else:
        ask(portal.folder, session=standing.session, paused=what == "pause")
    return Accepted(asked.name, what)


def pause(asked: Asked) -> Accepted:
    """Pause."""
    return _steer(asked, "pause")


def resume(asked: Asked) -> Accepted:
    """End a pause."""
    return _steer(asked, "resume")


def stop(asked: Asked) -> Accepted:
    """Stop in order."""
    return _steer(asked, "stop")


def exports(asked: Asked) -> Exports:
    """Formats, and what is made."""
    portal = asked.portal
    return Exports([_export(portal, form.name) for form in OFFERED])


def export(asked: Asked) -> ExportJob:
    """Make a file in the background."""
    portal, wanted = asked.portal, asked.body
    form = next((each for each in OFFERED if each.name == wanted.format), None)
    if form is None:
        raise HTTPException(422, f"format: use one of {', '.join(each.name for each in OFFERED)}")
    task = Task("export", form.name, all_pages=wanted.all_pages, text=wanted.text and form.text)
    portal.jobs.start(f"export-{form.name}", task)
    return _export(portal, form.name)


def export_state(asked: Asked) -> ExportJob:
    """How far an export is."""
    if asked["format"] not in {each.name for each in OFFERED}:
        raise HTTPException(404, "there is no such format; see /exports")
    return _export(asked.portal, asked["format"])


def _export(portal: Portal, name: str) -> ExportJob:
    form = next(each for each in OFFERED if each.name == name)
    names = {
        file_name(form, all_pages=all_pages, text=text)
        for all_pages in (False, True)
        for text in (False, True)
    }
    files = sorted(names & made_files(portal.layout).keys())
    job: Job | None = portal.jobs.get(f"export-{name}")
    if job is None:
        return ExportJob(name, "done" if files else "none", files=files)
    return ExportJob(name, job.state, job.done, job.total, job.problem, files)


def export_file(asked: Asked) -> Response:
    """Download a file."""
    name = asked["file"]
    kind = media_types().get(name)
    path: Path = asked.portal.layout.exports_folder / name
    if kind is None or path.is_symlink() or not path.is_file():
        raise HTTPException(404, "there is no such file; make the export first")
    return FileResponse(path, media_type=kind, filename=name, content_disposition_type="attachment")


def events(asked: Asked) -> Response:
    """The figures once a second, as server-sent events."""
    return StreamingResponse(
        asked.portal.watch.stream(),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


def _text(name: str, meaning: str, *, required: bool = False, place: str = "query") -> Parameter:
    schema: dict[str, Any] = {"type": "string"}
    if required:
        schema["minLength"] = 1
    return Parameter(name, meaning, schema, place, required)


def _whole(name: str, meaning: str, default: int | None, low: int, high: int) -> Parameter:
    schema: dict[str, Any] = {"type": "integer", "minimum": low, "maximum": high}
    if default is not None:
        schema["default"] = default
    return Parameter(name, meaning, schema)


def _choice(name: str, meaning: str, default: str, choices: Sequence[str]) -> Parameter:
    return Parameter(name, meaning, {"type": "string", "enum": list(choices), "default": default})


NAME = _text("name", "the collection", place="path")
PAGING = (
    _whole("limit", "items in this answer", 20, 1, MOST),
    _whole("offset", "items before them", 0, 0, 10**9),
)
FILTERS = (
    _text("host", "only this host and those below it"),
    _text("language", "only this language (ISO 639-1)"),
)
INCLUDE = Parameter(
    "include",
    "further parts, comma-separated",
    {"type": "array", "items": {"type": "string", "enum": ["text", "markdown", "why", "links", "versions"]}},
)
_ONE = "/collections/{name}"

OPERATIONS: tuple[Operation, ...] = (
    Operation("GET", "/collections", "listCollections", collections, PAGING, None, Collections),
    Operation("POST", "/collections", "createCollection", create, (), NewCrawl, Accepted, 201),
    Operation("GET", _ONE, "getCollection", one, (NAME,), None, CollectionFacts),
    Operation(
        "GET",
        f"{_ONE}/pages",
        "listPages",
        pages,
        (
            NAME,
            *PAGING,
            _choice("verdict", "which pages", "relevant", ("relevant", "off", "all")),
            _choice("sort", "in which order", "newest", SORTS),
            *FILTERS,
        ),
        None,
        Pages,
    ),
    Operation(
        "GET",
        f"{_ONE}/search",
        "search",
        search,
        (
            NAME,
            _text("q", 'words, or "a phrase"', required=True),
            _text("as_of", "as the pages were on this day, or at this time"),
            _choice("copies", "pages that repeat a better result", "with", ("with", "without")),
            *PAGING,
            *FILTERS,
        ),
        None,
        Pages,
    ),
    Operation(
        "GET",
        f"{_ONE}/page",
        "getPage",
        page,
        (NAME, _text("url", "its address, in any spelling", required=True), INCLUDE),
        None,
        PageFacts,
    ),
    Operation("GET", f"{_ONE}/reviews", "listReviews", reviews, (NAME, *PAGING), None, Decisions),
    Operation(
        "POST",
        f"{_ONE}/reviews",
        "addReview",
        review,
        (NAME,),
        NewReview,
        Decision,
        201,
    ),
    Operation(
        "DELETE",
        f"{_ONE}/reviews",
        "undoReview",
        undo,
        (NAME, _whole("number", "of the decision", None, 1, 10**9)),
        None,
        Decision,
    ),
    Operation(
        "GET",
        f"{_ONE}/changes",
        "listChanges",
        changes,
        (NAME, _text("since", "a day such as 2026-11-01, a time, or how long ago such as 7d"), *PAGING),
        None,
        Changes,
    ),
    Operation(
        "GET",
        f"{_ONE}/estimate",
        "getEstimate",
        estimate,
        (NAME,),
        None,
        Estimate | None,
    ),
    Operation("POST", f"{_ONE}/start", "startCrawl", start, (NAME,), Limits, Accepted, 202),
    Operation("POST", f"{_ONE}/pause", "pauseCrawl", pause, (NAME,), None, Accepted, 202),
    Operation("POST", f"{_ONE}/resume", "resumeCrawl", resume, (NAME,), None, Accepted, 202),
    Operation("POST", f"{_ONE}/stop", "stopCrawl", stop, (NAME,), None, Accepted, 202),
    Operation("GET", f"{_ONE}/exports", "listExports", exports, (NAME,), None, Exports),
    Operation(
        "POST",
        f"{_ONE}/exports",
        "makeExport",
        export,
        (NAME,),
        NewExport,
        ExportJob,
        202,
    ),
    Operation(
        "GET",
        f"{_ONE}/exports/{{format}}",
        "getExport",
        export_state,
        (NAME, _text("format", "of the export", place="path")),
        None,
        ExportJob,
    ),
    Operation(
        "GET",
        f"{_ONE}/exports/files/{{file}}",
        "downloadExport",
        export_file,
        (NAME, _text("file", "its name", place="path")),
        media_type="application/octet-stream",
    ),
    Operation(
        "GET",
        f"{_ONE}/events",
        "watch",
        events,
        (NAME,),
        media_type="text/event-stream",
    ),
)


def _route(operation: Operation) -> Route:
    decode: Callable[[bytes], Any] | None = None
    if operation.body:
        decode = msgspec.json.Decoder(operation.body).decode

    async def answer(request: Request) -> Response:
        body = None
        if decode is not None:
            try:
                body = decode(await _body(request, optional=not operation.body_required))
            except msgspec.MsgspecError as error:
                raise HTTPException(422, f"the body: {error}; see /api/v1/docs") from None
        asked = Asked(request, operation, body)
        made = await run_in_threadpool(operation.handler, asked)
        if isinstance(made, Response):
            return made
        return Response(_encode(made), status_code=operation.status, media_type="application/json")

    return Route(operation.path, answer, methods=[operation.method])


async def _body(request: Request, *, optional: bool) -> bytes:
    if (
        optional
        and request.headers.get("content-length", "0") == "0"
        and "transfer-encoding" not in request.headers
    ):
        return b"{}"
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, "send the body as application/json")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BODY:
            raise HTTPException(413, f"the body has more than {MOST_BODY >> 10} KiB; send less")
    return bytes(body)


def problem(status: int, message: str) -> JSONResponse:
    """An error as the API says it."""
    return JSONResponse(msgspec.to_builtins(Failure(Problem(status, message))), status_code=status)


async def _refused(_: Request, error: Exception) -> Response:
    return problem(503 if isinstance(error.__cause__, sqlite3.Error) else 400, str(error))


async def _unreadable(_: Request, error: Exception) -> Response:
    assert isinstance(error, sqlite3.Error)
    return problem(503, database_trouble(error))


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail = error.detail
    if detail == HTTPStatus(error.status_code).phrase:  # said by the router
        path = request.url.path[:200]
        what = {404: f"there is nothing at {path}", 405: f"{request.method} is not possible at {path}"}
        detail = f"{what.get(error.status_code, detail)}; see /api/v1/docs"
    answer = problem(error.status_code, detail)
    answer.headers.update(error.headers or {})
    return answer


async def _failure(_: Request, error: Exception) -> Response:
    return problem(500, f"the portal failed ({type(error).__name__}); the terminal it runs in says where")


def openapi(_: Request) -> Response:
    """The OpenAPI document."""
    return JSONResponse(document(OPERATIONS))


def docs(request: Request) -> Response:
    """A page that shows it."""
    return render(
        request, "api.html", title="REST API", active="api", operations=OPERATIONS, schemas=_shown_schemas()
    )


def _shown_schemas() -> list[tuple[str, str]]:
    components = document(OPERATIONS)["components"]["schemas"]
    return [
        (name, msgspec.json.format(_encode(schema), indent=2).decode()) for name, schema in components.items()
    ]


def root(_: Request) -> Response:
    """Where to go on."""
    return JSONResponse(
        {"openapi": "/api/v1/openapi.json", "docs": "/api/v1/docs", "collections": "/api/v1/collections"}
    )


def make_api(shelf: Shelf) -> Starlette:
    """The API as an application of its own, to be mounted at `/api/v1`."""
    by_path: dict[str, list[Route]] = {}
    for operation in OPERATIONS:
        by_path.setdefault(operation.path, []).append(_route(operation))
    routes: list[BaseRoute] = [Route("/", root), Route("/openapi.json", openapi), Route("/docs", docs)]
    # Literal paths first: `exports/files/NAME` is not a format called `files`.
    for path in sorted(by_path, key=lambda one: (-one.count("/"), one)):
        routes += by_path[path]
    app = Starlette(
        routes=routes,
        exception_handlers={
            HoneyguideError: _refused,
            sqlite3.Error: _unreadable,
            HTTPException: _http,
            500: _failure,
        },
    )
    app.state.shelf = shelf
    return app
