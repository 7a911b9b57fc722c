"""Review: the pages that teach most, accepted or rejected with the keyboard; the crawl learns from it."""

from __future__ import annotations

import time
from contextlib import suppress

import msgspec
import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from honeyguide.collection.catalogue import Catalogue
from honeyguide.collection.guarded import host_of
from honeyguide.collection.reasons import Reasons, marked
from honeyguide.collection.review_desk import Card, decide, next_cards, standing
from honeyguide.engine.control import ask
from honeyguide.engine.retraining import APPLIED, applied
from honeyguide.errors import CollectionError, HoneyguideError
from honeyguide.model import Outcome
from honeyguide.store.reviews import Drawn, Reviews, read_reviews, undo_review
from honeyguide.ui.page_text import archived_page
from honeyguide.ui.portal import Portal, portal_of
from honeyguide.ui.reasons import reasons_of
from honeyguide.ui.render import Form, page_of, query_of, read_form, render, see_other

AHEAD = 5
"""Pages shown after the one in question."""
ALIKE = 0.03
"""Pages whose scores differ less stand where the page in question stands."""
MOST_SKIPPED = 60
MOST_TEXT = 6_000
PER_PAGE = 50
TOP = 12
"""Waiting addresses shown."""
_LOOKED_AT = 200
"""Of which those shown are the best."""


class Taken(msgspec.Struct, frozen=True):
    """How far the crawl has taken decisions in, and what waits at the top now."""

    written: int
    taken: int
    busy: bool
    problem: str
    learned: dict[str, int]
    """What came of it the last time."""
    frontier: tuple[tuple[str, float], ...]
    relevant: int = 0
    """Pages on topic now."""


def review(request: Request) -> Response:
    """The page in question, with what is ahead and what the decisions so far say."""
    portal = portal_of(request)
    skipped = _skipped(query_of(request).text("skip"))
    reviews = read_reviews(portal.folder)
    with portal.reading() as collection, portal.catalogue() as catalogue:
        counts = portal.link_counter.counts(catalogue.size)
        limit = len(skipped) + 1 + AHEAD
        cards = next_cards(collection.state, catalogue, reviews, in_links=counts, limit=limit)
        cards = [card for card in cards if card.row not in skipped]
        stands = standing(catalogue, reviews)
        text = _text(portal, cards[0]) if cards else ""
        alike = _alike(catalogue, cards[0]) if cards else 0
        record = collection.state.page_by_row(cards[0].row) if cards else None
    why = reasons_of(portal, record, text) if record is not None else Reasons()
    return render(
        request,
        "review.html",
        title="Review",
        active="review",
        card=cards[0] if cards else None,
        ahead=cards[1:],
        pieces=marked(text, why.sentences),
        words=why.words,
        alike=alike,
        was=query_of(request).text("was", most=12),
        skipped=skipped,
        standing=stands,
        last=reviews.last,
        written=reviews.written,
        taken=taken(portal, reviews),
    )


def decisions(request: Request) -> Response:
    """All decisions that stand, newest first, each with a way to take it back."""
    portal = portal_of(request)
    page = page_of(request)
    held = read_reviews(portal.folder).standing[::-1]
    start = (page - 1) * PER_PAGE
    return render(
        request,
        "review_decisions.html",
        title="Decisions",
        active="review",
        decisions=held[start : start + PER_PAGE],
        page=page,
        more=len(held) > start + PER_PAGE,
        total=len(held),
    )


async def change(request: Request) -> Response:
    """Accept, reject or undo; then the next page."""
    portal = portal_of(request)
    form = await read_form(request)
    was = await run_in_threadpool(_change, portal, form)
    back = form.text("back")
    if back == "decisions":
        return see_other("/review/decisions")
    skipped = ",".join(map(str, _skipped(form.text("skip"))))
    return see_other("/review", **({"skip": skipped} if skipped else {}), was=was)


def state(request: Request) -> Response:
    """How far decisions are taken in, for the page's script."""
    portal = portal_of(request)
    return JSONResponse(msgspec.to_builtins(taken(portal, read_reviews(portal.folder))))


def taken(portal: Portal, reviews: Reviews) -> Taken:
    """How far the crawl has taken decisions in."""
    rows, priorities, _ = portal.watch.addresses(Outcome.WAITING, host="", start=0, most=_LOOKED_AT)
    with portal.reading() as collection:
        done = applied(collection.state.setting(APPLIED))
        behind_all = {host.name: penalty for host, penalty in collection.state.hosts() if penalty}
        named = [
            (collection.state.url_text(row), priority) for row, priority in zip(rows, priorities, strict=True)
        ]
        # Hosts may have been put behind all others.
        named = [(url, priority - behind_all.get(host_of(url), 0.0)) for url, priority in named]
        frontier = tuple(sorted(named, key=lambda one: -one[1])[:TOP])
    behind = reviews.written != done.written
    running = portal.watch.standing().running
    return Taken(
        written=reviews.written,
        taken=done.written,
        busy=portal.applier.busy or (behind and running),
        problem=portal.applier.problem,
        learned=done.learned,
        frontier=frontier,
        relevant=_relevant(portal),
    )


def _relevant(portal: Portal) -> int:
    with portal.catalogue() as catalogue:
        return int(catalogue.on_topic.sum())


def _alike(catalogue: Catalogue, card: Card) -> int:
    """How many other pages the model places where it places this one: they turn with it."""
    return int((np.abs(catalogue.scores[~catalogue.copies] - card.score) < ALIKE).sum()) - 1


def _change(portal: Portal, form: Form) -> int:
    """Write the decision down; how many pages were on topic before it."""
    before = _relevant(portal)
    said = form.text("said")
    if said == "undo":
        number = form.number("number")
        undo_review(portal.folder, at=time.time(), number=None if number is None else int(number))
    elif said in ("accept", "reject"):
        drawn: Drawn = "random" if form.text("drawn") == "random" else "chosen"
        with portal.reading() as collection:
            decide(
                portal.folder,
                collection.state,
                "accept" if said == "accept" else "reject",
                at=time.time(),
                url="" if form.text("host") else form.text("url", most=10_000),
                host=form.text("host"),
                drawn=drawn,
            )
    else:
        raise HoneyguideError(f"there is no decision {said!r}; accept, reject or undo")
    ask(portal.folder, reviews=1)
    if not portal.watch.standing().running:
        portal.applier.soon(lambda: not portal.watch.standing().running)
    return before


def _text(portal: Portal, card: Card) -> str:
    """The page's main text, as far as a reviewer wants to read; empty when the archive does not hold it."""
    with suppress(CollectionError), portal.reading() as collection:
        record = collection.state.page_by_row(card.row)
        if record is not None and record.file:
            page = archived_page(collection, portal.layout.archive_folder, record, blocks=False)
            return page.content[:MOST_TEXT]
    return ""


def _skipped(text: str) -> tuple[int, ...]:
    found = (int(part) for part in text.split(",") if part.isascii() and part.isdigit() and len(part) < 10)
    return tuple(dict.fromkeys(found))[-MOST_SKIPPED:]


ROUTES: list[BaseRoute] = [
    Route("/review", review),
    Route("/review", change, methods=["POST"]),
    Route("/review/decisions", decisions),
    Route("/review/state", state),
]
