"""Search and browse: full text with snippets, and every page by host, language, date and score."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from honeyguide.collection.catalogue import SORTS, Sort, Wanted
from honeyguide.collection.collection import Collection
from honeyguide.errors import HoneyguideError
from honeyguide.store.index import FullText
from honeyguide.ui.portal import Portal, portal_of
from honeyguide.ui.render import Form, page_of, query_of, render

PER_PAGE = 20
SORT_LABELS = {
    "newest": "newest first",
    "oldest": "oldest first",
    "best": "best score",
    "worst": "lowest score",
}
MARKERS = ("\ue000", "\ue001")
"""Around matches in snippets: private characters, which the index takes out of texts."""


class Line(msgspec.Struct, frozen=True):
    """One result."""

    row: int
    url: str
    title: str
    pieces: list[tuple[bool, str]]
    """The snippet cut up: whether a piece matches, and its text."""
    score: float
    on_topic: bool
    language: str
    at: float


class Asked(msgspec.Struct, frozen=True):
    """The fields of the search form."""

    words: str
    wanted: Wanted
    sort: Sort
    verdict: str
    since: str
    until: str


def search(request: Request) -> Response:
    """Results for the words and filters in the query; without words, all pages that pass the filters."""
    portal = portal_of(request)
    asked = read_query(query_of(request))
    page = page_of(request)
    with portal.catalogue() as catalogue:
        languages = catalogue.language_counts()
        hosts = catalogue.host_counts(most=200)
    lines, total = matching(portal, asked, page) if asked.words else browse(portal, asked, page)
    return render(
        request,
        "search.html",
        title=f"{asked.words} – Search" if asked.words else "Search",  # noqa: RUF001 - a dash
        active="search",
        asked=asked,
        page=page,
        lines=lines[:PER_PAGE],
        more=len(lines) > PER_PAGE,
        total=total,
        languages=[(code, count) for code, count in languages if code],
        hosts=hosts,
        sorts=SORT_LABELS,
    )


def read_query(form: Form) -> Asked:
    """The form's fields, checked.

    Raises:
        HoneyguideError: a date or a number that is none.
    """
    verdict = form.text("verdict", "relevant")
    sort = form.text("sort", "newest")
    since, until = form.text("since"), form.text("until")
    wanted = Wanted(
        on_topic={"relevant": True, "off": False}.get(verdict),
        host=form.text("host", most=255),
        language=form.text("language", most=20),
        since=_day(since),
        until=_day(until, after=1),
        least=form.number("least"),
        most=form.number("most"),
        copies=form.text("copies") != "no",
    )
    named: Sort = next((one for one in SORTS if one == sort), "newest")
    return Asked(form.text("q", most=1_000), wanted, named, verdict, since, until)


def _day(text: str, *, after: int = 0) -> float | None:
    if not text:
        return None
    try:
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
        return (day + timedelta(days=after)).timestamp()
    except (ValueError, OverflowError):
        raise HoneyguideError(f"{text!r} is not a date; write it as 2025-12-31") from None


def matching(portal: Portal, asked: Asked, page: int) -> tuple[list[Line], int | None]:
    """Pages that match the words, one more than is shown, and how many there are."""
    wanted = asked.wanted
    filters = {
        "host": wanted.host.partition(":")[0],
        "language": wanted.language,
        "minimum_score": wanted.least or 0.0,
        "maximum_score": wanted.most,
        "since": wanted.since,
        "until": wanted.until,
    }
    index = FullText.open(portal.layout.index_file, read_only=True)
    try:
        found = index.search(
            asked.words,
            PER_PAGE + 1,
            (page - 1) * PER_PAGE,
            markers=MARKERS,
            **filters,  # type: ignore[arg-type]
        )
    finally:
        index.close()
    lines = [
        Line(hit.row, hit.url, hit.title, pieces(hit.snippet), hit.score, True, hit.language, hit.at)
        for hit in found
    ]
    short = len(found) <= PER_PAGE and (found or page == 1)
    return lines, (page - 1) * PER_PAGE + len(found) if short else None


def browse(portal: Portal, asked: Asked, page: int) -> tuple[list[Line], int | None]:
    """Pages that pass the filters, and how many there are."""
    with portal.catalogue() as catalogue:
        rows = catalogue.find(asked.wanted, sort=asked.sort)
    start = (page - 1) * PER_PAGE
    with portal.reading() as collection:
        return _lines(portal, collection, rows[start : start + PER_PAGE + 1].tolist()), len(rows)


def _lines(portal: Portal, collection: Collection, rows: list[int]) -> list[Line]:
    index = None
    if portal.layout.index_file.is_file():
        index = FullText.open(portal.layout.index_file, read_only=True)
    lines = []
    try:
        for row in rows:
            page = collection.state.page_by_row(row)
            if page is None:
                continue
            text = index.text(row) if index is not None and page.on_topic else ""
            start = [(False, text[:220] + ("…" if len(text) > 220 else ""))] if text else []
            lines.append(
                Line(row, page.url, page.title, start, page.score, page.on_topic, page.language, page.at)
            )
    finally:
        if index is not None:
            index.close()
    return lines


def pieces(snippet: str) -> list[tuple[bool, str]]:
    r"""A snippet with markers as pieces that match and pieces that do not.

    Example:
        >>> pieces("a \ue000bee\ue001 hive")
        [(False, 'a '), (True, 'bee'), (False, ' hive')]
    """
    first, last = MARKERS
    cut: list[tuple[bool, str]] = []
    for part in snippet.split(first):
        inside, marked, rest = part.partition(last)
        if marked:
            cut += [(True, inside), (False, rest)]
        else:
            cut.append((False, inside))
    return [(match, text) for match, text in cut if text]


ROUTES: list[BaseRoute] = [Route("/search", search)]
