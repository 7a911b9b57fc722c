"""`honeyguide lab hostile`."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from honeyguide.cli.output import note, print_table
from honeyguide.lab.webs.hostile import CASES, HostileServer


def hostile(*, port: int = 8099, only_list: bool = False, json: bool = False) -> None:
    """Serve every misbehaviour a crawler has to survive, until interrupted.

    Args:
        port: Port on 127.0.0.1; 0 takes a free one.
        only_list: List the cases and end.
        json: Print the list as JSON.
    """
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(port, only_list=only_list, json=json))


async def _serve(port: int, *, only_list: bool, json: bool) -> None:
    server = HostileServer()
    server.port = port
    if not only_list:
        await server.start(port)
    rows = [
        {
            "name": case.name,
            "summary": case.summary,
            "url": server.url(case),
            "outcomes": sorted(outcome.name.lower() for outcome in case.outcomes),
        }
        for case in CASES.values()
    ]
    columns = {"name": "case", "summary": "what the server does", "outcomes": "right outcomes"}
    print_table(rows, columns, json=json)
    if only_list:
        return
    note(f"serving {len(rows)} cases at http://CASE.localhost:{server.port}/ (Ctrl-C ends it)")
    note(f"with curl: curl --connect-to ::127.0.0.1:{server.port} http://gzip-bomb.localhost/")
    try:
        await asyncio.Event().wait()
    finally:
        await server.stop()
