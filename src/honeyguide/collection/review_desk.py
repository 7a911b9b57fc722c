"""Reviewing a collection: the next pages to look at, decisions on them, and what the decisions say.

The portal and the command line both work through these functions. They read the collection and write nothing
but `reviews.jsonl`; a running crawl is told by the caller (`engine.control.ask(folder, reviews=1)`), one that
does not run takes the decisions in when it is resumed.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.collection.catalogue import Catalogue
from honeyguide.collection.guarded import host_of
from honeyguide.collection.review_precision import Precision, precision
from honeyguide.collection.review_queue import Candidates, Queued, review_queue
from honeyguide.errors import CollectionError
from honeyguide.store.records import PageRecord
from honeyguide.store.reviews import Decision, Drawn, Reviews, add_review
from honeyguide.store.state import State
from honeyguide.web.url import canonical, url_id


class Card(msgspec.Struct, frozen=True):
    """A page as the reviewer sees it."""

    row: int
    url: str
    host: str
    title: str
    score: float
    on_topic: bool
    language: str
    terms: tuple[tuple[str, float], ...]
    in_links: int
    drawn: Drawn
    reason: str
    """Why it is asked about."""


class Standing(msgspec.Struct, frozen=True):
    """What the decisions so far say."""

    accepted: int
    """Pages accepted one by one."""
    rejected: int
    hosts: int
    """Hosts with a decision on all their pages."""
    precision: Precision | None


def link_counts(state: State) -> NDArray[np.int64]:
    """How many fetched pages link to each row; reads the links of all pages."""
    _, targets = state.links()
    return np.bincount(targets, minlength=state.columns().size + 1).astype(np.int64)


def next_cards(
    state: State, catalogue: Catalogue, reviews: Reviews, *, in_links: NDArray[np.int64], limit: int = 10
) -> list[Card]:
    """The pages to look at next, best first.

    Args:
        state: Open for reading.
        catalogue: Refreshed on the same state.
        reviews: The decisions so far.
        in_links: From `link_counts`; may be of a little earlier.
        limit: Pages at most.
    """
    rows = catalogue.rows
    counts = np.zeros(len(rows), np.int64)
    known = rows < len(in_links)
    counts[known] = in_links[rows[known]]
    names = {name: row for row, name in enumerate(catalogue.host_names) if name}
    whole = [names[host] for host in reviews.hosts if host in names]
    done = [row for url in reviews.pages if (row := state.row_of(url_id(url)))]
    hidden = np.isin(catalogue.hosts, whole) if whole else np.zeros(len(rows), np.bool_)
    asked = Counter(names.get(host_of(url), 0) for url in reviews.pages)
    queue = review_queue(
        Candidates(
            rows, catalogue.scores, catalogue.on_topic, catalogue.hosts, counts, catalogue.copies | hidden
        ),
        reviewed=done,
        host_reviews=asked,
        limit=limit,
        seed=reviews.written,
    )
    return [_card(record, one, in_links) for one in queue if (record := state.page_by_row(one.row))]


def _card(record: PageRecord, queued: Queued, in_links: NDArray[np.int64]) -> Card:
    return Card(
        row=record.row,
        url=record.url,
        host=host_of(record.url),
        title=record.title,
        score=record.score,
        on_topic=record.on_topic,
        language=record.language,
        terms=record.terms,
        in_links=int(in_links[record.row]) if record.row < len(in_links) else 0,
        drawn=queued.drawn,
        reason=queued.reason,
    )


def decide(
    folder: Path,
    state: State,
    said: Literal["accept", "reject"],
    *,
    at: float,
    url: str = "",
    host: str = "",
    drawn: Drawn = "",
) -> Decision:
    """Write down a decision on a fetched page, or on all pages so far of a host.

    Raises:
        CollectionError: The collection has no such page, or no page of the host.
    """
    if host:
        names = {one.name: one.fetched for one, _ in state.hosts()}
        name = host.strip().lower()
        if not names.get(name):
            raise CollectionError(f"no page of host {name!r} was fetched; see `honeyguide status`")
        return add_review(folder, said, at=at, host=name, upto=state.page_count())
    address = canonical(url)
    record = state.page_by_row(state.row_of(url_id(address))) if address else None
    if record is None:
        raise CollectionError(f"the collection has no page {url!r}; give the address of a fetched page")
    return add_review(
        folder, said, at=at, url=record.url, drawn=drawn, score=record.score, on_topic=record.on_topic
    )


def standing(catalogue: Catalogue, reviews: Reviews) -> Standing:
    """Counts and the precision of the collection as reviewed."""
    pages = list(reviews.pages.values())
    seen = [one for one in pages if one.on_topic and one.score is not None]
    made = precision(
        catalogue.scores[catalogue.on_topic],
        np.array([one.score for one in seen], np.float64),
        np.array([one.said == "accept" for one in seen], np.bool_),
        by_chance=np.array([one.drawn == "random" for one in seen], np.bool_),
    )
    accepted = sum(one.said == "accept" for one in pages)
    return Standing(accepted, len(pages) - accepted, len(reviews.hosts), made)
