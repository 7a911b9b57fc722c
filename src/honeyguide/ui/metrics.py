"""`/metrics` in the text format of Prometheus; the names are documented in docs/portal.md."""

from __future__ import annotations

import sqlite3

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from honeyguide.errors import HoneyguideError
from honeyguide.job.metrics import FORMAT, Value, exposition
from honeyguide.job.metrics import NAMES as OF_CRAWLS
from honeyguide.ui.shelf import shelf_of
from honeyguide.ui.watch import Figures, Watch

NAMES = OF_CRAWLS | {
    "honeyguide_recall_estimate_ratio": ("gauge", "Estimated share of the topic that is found."),
    "honeyguide_collection_readable": (
        "gauge",
        "0 while the collection cannot be read; it has no other figures then.",
    ),
    "honeyguide_portal_readers": ("gauge", "Open live views."),
    "honeyguide_portal_look_seconds": ("gauge", "How long the last look at the collection took."),
}
"""Kind and meaning of each metric."""


def metrics(request: Request) -> Response:
    """All figures, for a scraper."""
    shelf = shelf_of(request)
    found = {}
    for name, portal in shelf.portals():
        if portal.exists or shelf.single:
            found["" if shelf.single else name] = _of(portal.watch)
    return PlainTextResponse(exposition(found, NAMES), media_type=FORMAT)


def _of(watch: Watch) -> dict[str, Value]:
    """Figures of one collection: a damaged one must not hide the others."""
    try:
        return _values(watch.figures(), watch)
    except (HoneyguideError, sqlite3.Error, OSError):
        return {"honeyguide_collection_readable": 0}


def _values(figures: Figures, watch: Watch) -> dict[str, Value]:
    now, standing = figures.overview, figures.standing
    return {
        "honeyguide_pages_total": now.pages,
        "honeyguide_relevant_pages_total": now.relevant,
        "honeyguide_requests_total": now.requests,
        "honeyguide_bytes_total": now.bytes,
        "honeyguide_crawl_seconds_total": now.seconds,
        "honeyguide_harvest_ratio": now.harvest,
        "honeyguide_recent_harvest_ratio": now.recent_harvest,
        "honeyguide_pages_per_second": now.rate,
        "honeyguide_known_urls": now.known,
        "honeyguide_waiting_urls": now.waiting,
        "honeyguide_ended_urls": [(line.name, line.urls) for line in now.outcomes],
        "honeyguide_hosts": now.hosts,
        "honeyguide_sessions": standing.sessions,
        "honeyguide_crawl_running": int(standing.running),
        "honeyguide_crawl_paused": int(standing.paused),
        "honeyguide_recall_estimate_ratio": figures.estimate.share if figures.estimate else None,
        "honeyguide_collection_readable": 1,
        "honeyguide_portal_readers": watch.readers,
        "honeyguide_portal_look_seconds": watch.look_seconds,
    }


ROUTES: list[BaseRoute] = [Route("/metrics", metrics)]
