"""`honeyguide mcp`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Literal

from honeyguide.cli.output import print_facts
from honeyguide.errors import HoneyguideError, MissingExtra


def mcp(
    *folders: Path,
    transport: Literal["stdio", "http"] = "stdio",
    host: str = "127.0.0.1",
    port: int = 8643,
    token: str | None = None,
    crawl_pages: int = 0,
    crawl_seconds: int = 600,
    crawl_hosts: tuple[str, ...] = (),
    allow_net: tuple[str, ...] = (),
    json: bool = False,
) -> None:
    """Let agents search and read collections by the Model Context Protocol.

    Args:
        folders: Collections, or a folder that holds collections.
        transport: `stdio` for an agent that starts this command, `http` for one that connects to it.
        host: Interface to listen on (http); any other than this machine's own needs --token.
        port: Port to listen on (http); 0 takes a free one.
        token: What clients must send as `Authorization: Bearer` (http); by default a fresh one. Also read
            from HONEYGUIDE_TOKEN.
        crawl_pages: Let agents start crawls of at most this many pages; by default they may start none.
        crawl_seconds: Time limit of such a crawl, in seconds.
        crawl_hosts: Only these hosts, and those below them.
        allow_net: Private networks that such a crawl may contact, such as 127.0.0.0/8.
        json: Print where it listens as JSON (http).
    """
    try:
        from honeyguide.integrations.mcp import CrawlLimits, http_app, make_mcp
        from honeyguide.ui.shelf import holds_collections
    except ImportError as error:
        raise MissingExtra("the MCP server", "mcp") from error
    from honeyguide.store.layout import Layout

    if not folders:
        raise HoneyguideError("name a collection, or a folder of collections: honeyguide mcp collections")
    for folder in folders:
        if not holds_collections(folder):
            Layout.open(folder)
    server = make_mcp(folders, CrawlLimits(crawl_pages, crawl_seconds, crawl_hosts, allow_net))
    if transport == "stdio":
        if sys.stdin.isatty():
            print("honeyguide: waiting for an MCP client on standard input", file=sys.stderr)
        server.run("stdio")
        return
    import uvicorn

    from honeyguide.ui.server import Place, chosen_token, listen, own_names

    secret = chosen_token(host, token or os.environ.get("HONEYGUIDE_TOKEN") or None)
    bound = listen(host, port)
    place = Place(host, bound.getsockname()[1], secret)
    print_facts({"mcp": f"{place.url}mcp", "token": secret, "stop": "Ctrl-C"}, json=json)
    print(end="", flush=True)
    app = http_app(server, token=secret, hosts=own_names(host))
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, lifespan="on")
    asyncio.run(uvicorn.Server(config).serve(sockets=[bound]))
