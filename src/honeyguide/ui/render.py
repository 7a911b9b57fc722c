"""From values to HTML, and from requests to values: everything escaped, everything bounded."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qs, urlencode

import jinja2
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from honeyguide.collection.story import fact_label
from honeyguide.errors import CollectionError, HoneyguideError
from honeyguide.model import Outcome
from honeyguide.store.disk_trouble import database_trouble

MOST_PAGES = 2_000
"""How far a list can be paged; beyond that, filters are the better way."""
MOST_FORM_BYTES = 256 * 1024

NAVIGATION = (
    ("live", "/", "Live"),
    ("review", "/review", "Review"),
    ("search", "/search", "Search"),
    ("changes", "/changes", "Changes"),
    ("directory", "/directory", "Directory"),
    ("links", "/links", "Links"),
    ("exports", "/exports", "Exports"),
    ("topic", "/topic", "Topic"),
)
"""Name, path and label of the entries above each page; `render(active=NAME)` marks one."""


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}" if isinstance(value, float) else ""


def _share(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{100 * value:.{digits}f} %"  # noqa: RUF001 - a dash for "none"


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"  # noqa: RUF001 - a dash for "none"


def _when(at: float | None) -> str:
    if not at:
        return ""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):
        return ""


def _outcome(name: str) -> str:
    """An outcome's label by its name."""
    known = Outcome.__members__.get(name.upper())
    return known.label if known is not None else name


def _setting(name: str) -> str:
    """The setting that changes an outcome; empty where none does."""
    known = Outcome.__members__.get(name.upper())
    return known.setting if known is not None else ""


LANGUAGES = {
    "ar": "Arabic", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek", "en": "English",
    "es": "Spanish", "fa": "Persian", "fi": "Finnish", "fr": "French", "he": "Hebrew", "hi": "Hindi",
    "hu": "Hungarian", "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ko": "Korean", "nl": "Dutch",
    "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian",
    "sv": "Swedish", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip


def _language(code: str) -> str:
    """A language by its code; the code where it is a rare one."""
    return LANGUAGES.get(code, code or "language unknown")


def _is_web(url: object) -> bool:
    """Whether an address may become a link: never `javascript:` or `data:`."""
    return isinstance(url, str) and url.startswith(("http://", "https://"))


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {
        "number": _number,
        "share": _share,
        "score": _score,
        "when": _when,
        "outcome": _outcome,
        "setting": _setting,
        "language": _language,
        "fact": fact_label,
    }
    environment.tests["web"] = _is_web
    return environment


_TEMPLATES = _environment()


def render(
    request: Request, template: str, *, title: str, active: str = "", status: int = 200, **values: object
) -> HTMLResponse:
    """A page.

    Args:
        request: What it answers.
        template: File in `ui/templates`.
        title: For the window; the collection's name is added.
        active: Which entry of the navigation is marked.
        status: HTTP status.
        values: What the template shows.
    """
    state = request.app.state
    portal, shelf = getattr(state, "portal", None), getattr(state, "shelf", None)
    text = _TEMPLATES.get_template(template).render(
        request=request,
        title=title,
        active=active,
        root=root_of(request),
        collection=portal.folder.name if portal else "",
        topic=portal.topic if portal else "",
        navigation=NAVIGATION if portal else (),
        home=shelf is not None and not shelf.single,
        **values,
    )
    # Lone surrogates come from hostile pages and cannot be sent.
    return HTMLResponse(text.encode("utf-8", "replace"), status_code=status)


def root_of(request: Request) -> str:
    """What comes before the paths of a collection's pages: empty, or `/c/NAME` (quoted) among several."""
    return str(getattr(request.app.state, "root", ""))


def see_other(path: str, **query: object) -> RedirectResponse:
    """Answer a change: go on with a page of ours."""
    return RedirectResponse(path + ("?" + urlencode(query) if query else ""), status_code=303)


class Form:
    """Fields of a form or of a query, by name."""

    def __init__(self, fields: Mapping[str, list[str]]) -> None:
        self._fields = fields

    def text(self, name: str, default: str = "", *, most: int = 2_000) -> str:
        """The field's first value without space around it, cut to `most` characters."""
        return self._fields.get(name, [default])[0].strip()[:most]

    def all(self, name: str) -> list[str]:
        """All values of a field."""
        return list(self._fields.get(name, []))

    def number(self, name: str, default: float | None = None) -> float | None:
        """A number; the default when the field is empty or missing.

        Raises:
            HoneyguideError: it is not a number.
        """
        text = self.text(name, most=40)
        if not text:
            return default
        try:
            value = float(text.replace(",", "").replace("\u202f", ""))
        except ValueError:
            raise HoneyguideError(f"{name}: {text!r} is not a number; write it in digits") from None
        if not math.isfinite(value):
            raise HoneyguideError(f"{name}: {text!r} is not a number; write it in digits")
        return value


async def read_form(request: Request, *, most_bytes: int = MOST_FORM_BYTES) -> Form:
    """The urlencoded fields of a POST request.

    Raises:
        HoneyguideError: it is another kind of body, or too large.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "send the form as application/x-www-form-urlencoded")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most_bytes:
            raise HTTPException(413, f"the form has more than {most_bytes >> 10} KiB; send less")
    return _fields(body.decode("utf-8", "replace"))


def query_of(request: Request) -> Form:
    """The fields of a request's query."""
    return _fields(request.url.query[:20_000])


def _fields(text: str) -> Form:
    try:
        return Form(parse_qs(text, keep_blank_values=True, max_num_fields=5_000, errors="replace"))
    except ValueError:
        raise HoneyguideError("the form has too many fields; send fewer") from None


def page_of(request: Request) -> int:
    """Which page of a list is asked for, from 1."""
    text = query_of(request).text("page", "1")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 8 else 1
    return min(max(number, 1), MOST_PAGES)


def url_with(request: Request, **changes: object) -> str:
    """This page's own address with some fields of the query replaced; None takes one out."""
    fields = {
        name: value
        for name, value in request.query_params.multi_items()
        if name != "token" and name not in changes
    }
    fields |= {name: str(value) for name, value in changes.items() if value is not None}
    return request.url.path + ("?" + urlencode(fields) if fields else "")


_TEMPLATES.globals["url_with"] = url_with


async def refused(request: Request, error: Exception) -> Response:
    """A problem the user can act on, as a page."""
    if isinstance(error.__cause__, sqlite3.Error):  # the request is fine, what it asks of is not
        return _not_readable(request, str(error))
    none_yet = isinstance(error, CollectionError) and not _exists(request)
    return render(
        request,
        "error.html",
        title="Not possible",
        status=404 if none_yet else 400,
        message=str(error),
        none_yet=none_yet,
    )


def _exists(request: Request) -> bool:
    portal = getattr(request.app.state, "portal", None)
    return portal is None or portal.exists


async def unreadable(request: Request, error: Exception) -> Response:
    """A database that is damaged, or busy for too long."""
    assert isinstance(error, sqlite3.Error)
    return _not_readable(request, database_trouble(error))


def _not_readable(request: Request, message: str) -> Response:
    return render(request, "error.html", title="Not readable", status=503, message=message, none_yet=False)


async def missing(request: Request, error: Exception) -> Response:
    """No such page."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    message = error.detail if isinstance(error, HTTPException) else ""
    if message in ("", "Not Found"):
        message = f"There is no page at {request.url.path[:200]}. The address may be mistyped."
    return render(request, "error.html", title="Not found", status=status, message=message, none_yet=False)


async def failure(request: Request, error: Exception) -> Response:
    """A fault of ours: say so, without inner details."""
    return render(
        request,
        "error.html",
        title="Failure",
        status=500,
        message=f"the portal failed ({type(error).__name__}); the terminal it runs in says where",
        none_yet=False,
    )
