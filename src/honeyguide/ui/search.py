"""Search and browse: full text with snippets, and every page by host, language, date and score."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import msgspec
import numpy as np
from numpy.typing import NDArray
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from honeyguide.collection.catalogue import SORTS, Catalogue, Sort, Wanted
from honeyguide.collection.collection import Collection
from honeyguide.collection.directory import Directory, Subject
from honeyguide.errors import HoneyguideError
from honeyguide.store.index import FullText
from honeyguide.ui.directory import load_directory
from honeyguide.ui.facets import facets
from honeyguide.ui.portal import Portal, portal_of
from honeyguide.ui.render import LANGUAGES, Form, page_of, query_of, read_form, render, see_other
from honeyguide.ui.saved_searches import delete_search, save_search, saved_searches

PER_PAGE = 20
MOST_RANKED = 20_000
"""Matching pages that are ranked; what lies behind is not looked at."""
FIELDS = frozenset(
    ("q", "host", "language", "since", "until", "least", "most", "verdict", "copies", "sort", "subject")
)
"""What makes a search, and is kept when it is saved."""
SORT_LABELS = {
    "best": "best first",
    "newest": "newest first",
    "oldest": "oldest first",
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
    gone: float = 0.0
    """Since when the page is gone; 0 for one that is there."""
    repeats: int = 0
    """Row of the page that it repeats, or nearly repeats; 0 for none."""


class Asked(msgspec.Struct, frozen=True):
    """The fields of the search form."""

    words: str
    wanted: Wanted
    sort: Sort
    verdict: str
    since: str
    until: str
    subject: str = ""
    """Number of a subject of the directory."""


def search(request: Request) -> Response:
    """Results for the words and filters in the query; without words, all pages that pass the filters."""
    portal = portal_of(request)
    form = query_of(request)
    asked = read_query(form)
    page = page_of(request)
    made = load_directory(portal)
    subject = _subject(made, asked.subject)
    with portal.catalogue() as catalogue:
        languages = catalogue.language_counts()
        hosts = catalogue.host_counts(most=200)
        places = _places(portal, catalogue, asked, subject)
        narrower = facets(catalogue, places, made)
        rows = catalogue.rows[places]
        copies = int(catalogue.copies[places].sum())
    start = (page - 1) * PER_PAGE
    with portal.reading() as collection:
        lines = _lines(portal, collection, rows[start : start + PER_PAGE].tolist(), asked.words)
    query = {name: value for name, value in request.query_params.multi_items() if name in FIELDS and value}
    return render(
        request,
        "search.html",
        title=f"{asked.words} – Search" if asked.words else "Search",  # noqa: RUF001 - a dash
        active="search",
        asked=asked,
        page=page,
        lines=lines,
        more=len(rows) > start + PER_PAGE,
        total=len(rows),
        copies=copies,
        capped=bool(asked.words) and len(rows) >= MOST_RANKED,
        languages=[(code, count) for code, count in languages if code],
        hosts=hosts,
        sorts=SORT_LABELS,
        facets=narrower,
        chosen=_chosen(asked, subject),
        subject=subject.label if subject else "",
        saved=saved_searches(portal.folder),
        query=urlencode(query),
        narrowed=bool(query),
    )


async def keep(request: Request) -> Response:
    """Save a search under a name, or delete one."""
    form = await read_form(request)
    portal = portal_of(request)
    name, query = form.text("name", most=100), form.text("query", most=4_000)
    if form.text("action") == "delete":
        await run_in_threadpool(delete_search, portal.folder, name)
    else:
        await run_in_threadpool(save_search, portal.folder, name, query)
    return see_other("/search" + ("?" + query if query else ""))


def _subject(made: Directory | None, number: str) -> Subject | None:
    subjects = made.subjects if made else ()
    chosen = int(number) if number.isascii() and number.isdigit() and len(number) < 6 else 0
    return subjects[chosen - 1] if 0 < chosen <= len(subjects) else None


def _places(portal: Portal, catalogue: Catalogue, asked: Asked, subject: Subject | None) -> NDArray[np.int64]:
    """Places in the catalogue of the pages to list, in order."""
    if asked.words:
        index = FullText.open(portal.layout.index_file, read_only=True)
        try:
            ranked = np.array(index.ranked(asked.words, MOST_RANKED), np.int64)
        finally:
            index.close()
        places = catalogue.places_of(ranked)
        places = places[catalogue.passes(asked.wanted)[places]]
    else:
        places = catalogue.places_of(catalogue.find(asked.wanted, sort=asked.sort))
    if subject is not None:
        places = places[np.isin(catalogue.rows[places], np.array(subject.rows, np.int64))]
    return places


def _chosen(asked: Asked, subject: Subject | None) -> list[tuple[str, tuple[str, ...]]]:
    """What narrows the list now: words for each, and the fields that take it away."""
    wanted = asked.wanted
    found: list[tuple[str, tuple[str, ...]]] = []
    if subject is not None:
        found.append((subject.label, ("subject",)))
    if wanted.host:
        found.append((wanted.host, ("host",)))
    if wanted.language:
        found.append((LANGUAGES.get(wanted.language, wanted.language), ("language",)))
    if wanted.least is not None or wanted.most is not None:
        least, most = wanted.least, wanted.most
        low = f"from {least:g}" if least is not None else ""
        high = f"up to {most:.2g}" if most is not None else ""
        found.append((f"score {low} {high}".strip(), ("least", "most")))
    if asked.since or asked.until:
        found.append((f"fetched {asked.since or '…'} to {asked.until or '…'}", ("since", "until")))
    return found


def read_query(form: Form) -> Asked:
    """The form's fields, checked.

    Raises:
        HoneyguideError: a date or a number that is none.
    """
    verdict = form.text("verdict", "relevant")
    sort = form.text("sort", "best")
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
    named: Sort = next((one for one in SORTS if one == sort), "best")
    words, subject = form.text("q", most=1_000), form.text("subject", most=10)
    return Asked(words, wanted, named, verdict, since, until, subject)


def _day(text: str, *, after: int = 0) -> float | None:
    if not text:
        return None
    try:
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
        return (day + timedelta(days=after)).timestamp()
    except (ValueError, OverflowError):
        raise HoneyguideError(f"{text!r} is not a date; write it as 2025-12-31") from None


def _lines(portal: Portal, collection: Collection, rows: list[int], words: str) -> list[Line]:
    index = None
    if portal.layout.index_file.is_file():
        index = FullText.open(portal.layout.index_file, read_only=True)
    lines = []
    gone = collection.state.history.gone()
    try:
        for row in rows:
            page = collection.state.page_by_row(row)
            if page is None:
                continue
            shown: list[tuple[bool, str]] = []
            if index is not None and words:
                shown = pieces(index.snippet(row, words, markers=MARKERS))
            elif index is not None and page.on_topic:
                text = index.text(row)
                shown = [(False, text[:220] + ("…" if len(text) > 220 else ""))] if text else []
            since = gone[row][0] if row in gone else 0.0
            facts = (page.score, page.on_topic, page.language, page.at)
            repeats = page.duplicate_of or page.near_duplicate_of
            lines.append(Line(row, page.url, page.title, shown, *facts, since, repeats))
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


ROUTES: list[BaseRoute] = [
    Route("/search", search),
    Route("/search/saved", keep, methods=["POST"]),
]
