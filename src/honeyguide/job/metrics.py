"""Figures of a crawl for Prometheus: their names, the text format, and a small server beside a running crawl.

The portal answers with the same names (`honeyguide.ui.metrics`), so one dashboard serves both.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Protocol

from aiohttp import web

from honeyguide.errors import HoneyguideError
from honeyguide.job.crawl import Crawl
from honeyguide.model import Outcome

FORMAT = "text/plain; version=0.0.4; charset=utf-8"
USUAL_HOST = "127.0.0.1"
Value = float | list[tuple[str, int]] | None
"""A number, numbers by outcome, or None for what is not known."""
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
}
"""Kind and meaning of each metric of a crawl."""
OF_SHARDS: dict[str, tuple[str, str]] = {
    "honeyguide_shards": ("gauge", "Shards of the crawl."),
    "honeyguide_shard_restarts_total": ("counter", "Shards that were lost and started again."),
}
"""The same of a crawl of several shards."""


def exposition(
    values: Mapping[str, Mapping[str, Value]], names: Mapping[str, tuple[str, str]] = NAMES
) -> str:
    """Figures in the text format.

    Args:
        values: Figures by collection; a collection with a name gets the label `collection`.
        names: Kind and meaning of the metrics to write.

    Example:
        >>> print(exposition({"": {"honeyguide_hosts": 3}}, {"honeyguide_hosts": ("gauge", "Hosts known.")}))
        # HELP honeyguide_hosts Hosts known.
        # TYPE honeyguide_hosts gauge
        honeyguide_hosts 3
        <BLANKLINE>
    """
    lines = []
    for metric, (kind, meaning) in names.items():
        samples = []
        for name, found in values.items():
            value = found.get(metric)
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


class Measured(Protocol):
    """A crawl that tells its figures by itself: one of several shards."""

    @property
    def begun(self) -> bool:
        """Whether it crawls by now."""
        ...

    def figures(self) -> Mapping[str, Value]:
        """Its figures, by the names in `NAMES`."""
        ...


def values_of(job: Crawl) -> dict[str, Value]:
    """The figures of a crawl in this process; call it from the crawl's own thread."""
    now, tally, crawler = job.progress, job.tally, job.crawler
    values: dict[str, Value] = {
        "honeyguide_pages_total": tally.pages,
        "honeyguide_relevant_pages_total": tally.relevant,
        "honeyguide_requests_total": tally.requests,
        "honeyguide_bytes_total": tally.bytes,
        "honeyguide_crawl_seconds_total": tally.seconds,
        "honeyguide_harvest_ratio": tally.harvest,
        "honeyguide_recent_harvest_ratio": now.recent_harvest,
        "honeyguide_pages_per_second": now.rate,
        "honeyguide_sessions": job.session,
        "honeyguide_crawl_running": int(crawler is not None and not job.reason),
    }
    if crawler is not None:
        counts = crawler.frontier.counts
        values |= {
            "honeyguide_known_urls": crawler.frontier.known,
            "honeyguide_waiting_urls": crawler.waiting,
            "honeyguide_ended_urls": [
                (outcome.name.lower(), count)
                for outcome, count in counts.items()
                if outcome is not Outcome.WAITING
            ],
            "honeyguide_hosts": len(crawler.frontier.hosts()),
            "honeyguide_crawl_paused": int(crawler.paused),
        }
    return values


def parse_place(text: str) -> tuple[str, int]:
    """Host and port of `9109`, `0.0.0.0:9109` or `[::1]:9109`.

    Raises:
        HoneyguideError: There is no port in it.

    Example:
        >>> parse_place("9109"), parse_place("[::1]:9109")
        (('127.0.0.1', 9109), ('::1', 9109))
    """
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) < 65536):
        raise HoneyguideError(f"{text!r} has no port; write it as 9109 or 127.0.0.1:9109")
    return host.strip("[]") or USUAL_HOST, int(port)


@asynccontextmanager
async def serve_metrics(
    job: Crawl | Measured, host: str = USUAL_HOST, port: int = 9109
) -> AsyncIterator[int]:
    """Answer `/metrics`, `/healthz` and `/readyz` while a crawl runs; gives the port.

    There is no token: whoever can connect reads these figures, and nothing else.

    Args:
        job: The crawl, in the same event loop.
        host: Interface to listen at.
        port: Port to listen at; 0 takes a free one.

    Raises:
        HoneyguideError: The address is taken, or not of this machine.
    """

    async def metrics(_: web.Request) -> web.Response:
        found = values_of(job) if isinstance(job, Crawl) else job.figures()
        return web.Response(
            body=exposition({"": found}, NAMES | OF_SHARDS).encode(), headers={"Content-Type": FORMAT}
        )

    async def alive(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def ready(_: web.Request) -> web.Response:
        begun = job.crawler is not None if isinstance(job, Crawl) else job.begun
        return web.Response(text="ready\n" if begun else "not yet\n", status=200 if begun else 503)

    app = web.Application()
    app.router.add_get("/metrics", metrics)
    app.router.add_get("/healthz", alive)
    app.router.add_get("/readyz", ready)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            problem = os.strerror(error.errno) if error.errno else str(error)
            raise HoneyguideError(
                f"metrics at {host}:{port}: {problem}; choose another address or port"
            ) from error
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()
