"""The story of one URL: how it was found, what it scored, what became of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final

import msgspec

from honeyguide.collection.guarded import utc
from honeyguide.collection.left_alone import left_alone
from honeyguide.errors import CollectionError
from honeyguide.model import BY_TEXT, Outcome
from honeyguide.store.records import UrlRecord
from honeyguide.store.state import State
from honeyguide.web.url import canonical, url_id

SLIGHT: Final = 0.005
"""Differences of scores that are not worth a word."""


class Step(msgspec.Struct, frozen=True):
    """One URL on the way from the seed."""

    url: str
    source: str
    """`seed`, `link`, `redirect`, ... (`found_by`)."""
    anchor: str
    priority: float
    score: float | None
    """Verdict of the page, where it was fetched."""


class Story(msgspec.Struct, frozen=True):
    """What `honeyguide why` prints."""

    url: str
    outcome: str
    reason: str
    """The rule that dropped it, the error, or what it waits for; empty for a fetched page."""
    path: tuple[Step, ...]
    priority: float
    factors: dict[str, float]
    """Named scores behind the priority, from the link order."""
    memo: dict[str, float]
    number: int | None
    """How many pages had been fetched with it; None when it was not fetched."""
    score: float | None
    on_topic: bool | None
    terms: tuple[tuple[str, float], ...]
    """Terms behind the verdict with their share of the score."""
    facts: dict[str, float]
    events: tuple[str, ...]
    """Journal entries about the URL, as text."""
    fetched_at: str = ""
    """When the page was fetched (UTC, ISO 8601); empty when it was not."""
    digest: str = ""
    """Of the answer's body."""
    warc_file: str = ""
    """File of the folder `archive` that holds the answer; empty without an archive."""
    warc_offset: int | None = None


FACTS: Final = {BY_TEXT: "by its words alone"}
"""Facts of verdicts whose names say too little to people."""


def fact_label(name: str) -> str:
    """The name of a fact of a verdict, for people.

    Example:
        >>> fact_label("by_text"), fact_label("log_likelihood")
        ('by its words alone', 'log likelihood')
    """
    return FACTS.get(name, name.replace("_", " "))


def found_by(state: State, record: UrlRecord) -> str:
    """How the crawl came to know a URL: its source, and `listed` where a sitemap or feed names it.

    To the crawl that is a link like any other.
    """
    above = state.url_by_row(record.parent) if record.source == "link" and record.parent else None
    return "listed" if above is not None and above.status is Outcome.LISTING else record.source


def links_said(score: float, facts: Mapping[str, float]) -> str:
    """What the links to a page did to its score, in words; empty where that is nothing to speak of.

    Example:
        >>> links_said(0.58, {"by_text": 0.41})
        'raised its score from 0.41 to 0.58'
    """
    own = facts.get(BY_TEXT, score)
    if abs(score - own) < SLIGHT:
        return ""
    return f"{'raised' if score > own else 'lowered'} its score from {own:.2f} to {score:.2f}"


def never_met(url: str) -> str:
    """What is said of an address that the collection does not know."""
    return f"the crawl never met {url}: no fetched page has a link to it that a crawl follows"


def tell(state: State, text: str) -> Story:
    """The story of a URL, in any spelling.

    Raises:
        CollectionError: It is not a valid URL, or the crawl never met it.
    """
    url = canonical(text)
    if url is None:
        raise CollectionError(f"{text!r} is not a valid URL; write it as https://...")
    row = state.row_of(url_id(url))
    if not row:
        raise CollectionError(never_met(url))
    return tell_row(state, row)


def tell_row(state: State, row: int, *, events: bool = True) -> Story:
    """The story of a URL by its row.

    Args:
        state: Of the collection.
        row: Of the URL.
        events: With its journal entries, for which the whole journal is read.

    Raises:
        CollectionError: There is no such row.
    """
    record = state.url_by_row(row)
    if record is None:
        raise CollectionError(f"the collection has no address number {row}; go there from a list")
    page = state.page_by_row(row)
    # A reordering changes many priorities at once and notes them in the log only, not in each URL's row.
    priority = state.columns().priority
    path = []
    for step in state.path_from_seed(row):
        link = state.url_by_row(step)
        known = state.page_by_row(step)
        if link is not None:
            path.append(
                Step(
                    link.url,
                    found_by(state, link),
                    link.anchor,
                    float(priority[step]),
                    known.score if known else None,
                )
            )
    entries = state.events_of(record.url) if events else []
    return Story(
        url=record.url,
        outcome="waiting" if record.status is Outcome.WAITING else record.status.name.lower(),
        reason=left_alone(state, [record.host], now=time.time())
        if record.status is Outcome.WAITING
        else record.reason,
        path=tuple(path),
        priority=float(priority[row]),
        factors=record.factors,
        memo=record.memo,
        number=page.number if page else None,
        score=page.score if page else None,
        on_topic=page.on_topic if page else None,
        terms=page.terms if page else (),
        facts=page.facts if page else {},
        fetched_at=utc(page.at).isoformat(timespec="seconds") if page else "",
        digest=page.digest if page else "",
        warc_file=page.file if page else "",
        warc_offset=page.offset if page and page.file else None,
        events=tuple(
            f"{event.number}: {event.kind} {msgspec.json.encode(event.data).decode()}" for event in entries
        ),
    )
