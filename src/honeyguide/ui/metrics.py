"""`/metrics` in the text format of Prometheus; the names are documented in docs/portal.md."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from honeyguide.ui.shelf import shelf_of
from honeyguide.ui.watch import Figures, Watch

FORMAT = "text/plain; version=0.0.4; charset=utf-8"
NAMES: dict[str, tuple[str, str]] = {
    "honeyguide_pages_total": ("counter", "Pages fetched."),
    "honeyguide_relevant_pages_total": ("counter", "Pages judged on topic."),
    "honeyguide_requests_total": ("counter", "Requests sent, robots.txt included."),
    "honeyguide_bytes_total": ("counter", "Bytes of the fetched pages, decoded."),
    "honeyguide_crawl_seconds_total": ("counter", "Seconds of crawling, without pauses."),
    "honeyguide_harvest_ratio": ("gauge", "Share of the pages on topic."),
    "honeyguide_recent_harvest_ratio": ("gauge", "Share on topic of the last 200 pages."),
    "honeyguide_pages_per_second": ("gauge", "Pages a second over the last 30 seconds while it runs."),
    "honeyguide_known_urls": ("gauge", "Addresses known."),
    "honeyguide_waiting_urls": ("gauge", "Addresses in the frontier."),
    "honeyguide_ended_urls": ("gauge", "Addresses that ended, by outcome."),
    "honeyguide_hosts": ("gauge", "Hosts known."),
    "honeyguide_sessions": ("gauge", "Runs of the crawl so far."),
    "honeyguide_crawl_running": ("gauge", "1 while a crawl writes the collection."),
    "honeyguide_crawl_paused": ("gauge", "1 while that crawl is paused."),
    "honeyguide_recall_estimate_ratio": ("gauge", "Estimated share of the topic that is found."),
    "honeyguide_portal_readers": ("gauge", "Open live views."),
    "honeyguide_portal_look_seconds": ("gauge", "How long the last look at the collection took."),
}
"""Kind and meaning of each metric."""


def metrics(request: Request) -> Response:
    """All figures, for a scraper."""
    shelf = shelf_of(request)
    watches = {}
    for name, portal in shelf.portals():
        if portal.exists or shelf.single:
            watches["" if shelf.single else name] = portal.watch
    return PlainTextResponse(exposition(watches), media_type=FORMAT)


def exposition(watches: Mapping[str, Watch]) -> str:
    """The figures in the text format; with a label `collection` where it has a name."""
    found = {name: (watch, _values(watch.figures(), watch)) for name, watch in watches.items()}
    lines = []
    for metric, (kind, meaning) in NAMES.items():
        samples = []
        for name, (_, values) in found.items():
            value = values[metric]
            own = [f'collection="{_label(name)}"'] if name else []
            if isinstance(value, list):
                samples += [_sample(metric, [*own, f'outcome="{out}"'], count) for out, count in value]
            elif value is not None:
                samples.append(_sample(metric, own, value))
        if samples:
            lines += [f"# HELP {metric} {meaning}", f"# TYPE {metric} {kind}", *samples]
    return "\n".join(lines) + "\n"


def _sample(metric: str, labels: list[str], value: float) -> str:
    return f"{metric}{'{' + ','.join(labels) + '}' if labels else ''} {value!r}"


def _label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


def _values(figures: Figures, watch: Watch) -> dict[str, float | list[tuple[str, int]] | None]:
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
        "honeyguide_portal_readers": watch.readers,
        "honeyguide_portal_look_seconds": watch.look_seconds,
    }


ROUTES: list[BaseRoute] = [Route("/metrics", metrics)]
