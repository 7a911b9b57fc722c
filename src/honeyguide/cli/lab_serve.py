"""`honeyguide lab serve`."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

from honeyguide.cli.output import print_facts
from honeyguide.job.crawl import run_here
from honeyguide.lab.webs.recorded.serving import RecordedSite
from honeyguide.lab.webs.recorded.web import Recorded, open_web
from honeyguide.lab.webs.serve import WebServer


def serve(web: str, /, *, port: int = 8099, log: Path | None = None, json: bool = False) -> None:
    """Serve a recorded web over HTTP on this machine, by virtual host and as a forward proxy.

    Args:
        web: Its name, folder or WARC file.
        port: Port on 127.0.0.1; 0 takes a free one.
        log: File for one JSON line a request.
        json: Print where it listens as JSON.
    """
    recorded = open_web(web)
    run_here(lambda: _serve(recorded, port=port, log=log, json=json))


async def _serve(recorded: Recorded, *, port: int, log: Path | None, json: bool) -> None:
    # Before anything is printed: whoever reads it may end this at once.
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    server = WebServer(RecordedSite(recorded), log=log)
    await server.start(port)
    address = f"127.0.0.1:{server.port}"
    first = recorded.urls[0]
    facts: dict[str, object] = {
        "web": recorded.name,
        "pages": len(recorded),
        "proxy": f"http://{address}",
        "try": f"curl --proxy http://{address} {first}",
        "crawl": f'[network] allow_net = ["127.0.0.0/8"], connect_to = {{ "*" = "{address}" }}',
        "stop": "Ctrl-C",
    }
    print_facts(facts, json=json)
    print(end="", flush=True)
    try:
        await stopped.wait()
    finally:
        await server.stop()
