"""The portal, its REST API and the MCP server on a crawl of real shards, from its beginning to its end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openapi_answers import ask
from portals import RunningPortal, running_portal
from shards import command, recording_aside, topic_file, write

from honeyguide.integrations.mcp import make_mcp
from honeyguide.store.shards import shard_folder

pytest.importorskip("mcp")
from mcp import Client

pytestmark = [pytest.mark.slow, pytest.mark.realtime, pytest.mark.filterwarnings("ignore::ResourceWarning")]
ONE = "/api/v1/collections/many"
PAGE = "http://site0.example/"


def until(
    portal: RunningPortal, true: Callable[[dict[str, Any]], bool], seconds: float = 90
) -> dict[str, Any]:
    """The collection's facts once they are so."""
    end = time.monotonic() + seconds
    facts: Any = None
    while time.monotonic() < end:
        status, facts = ask(portal, "GET", ONE)
        if status == 200 and true(facts):
            return dict(facts)
        time.sleep(0.2)
    raise AssertionError(facts)


def decided(out: Path, shard: str) -> str:
    """What people decided, as a shard knows it."""
    file = shard_folder(out, shard) / "reviews.jsonl"
    return file.read_text() if file.exists() else ""


async def said(client: Client, tool: str, **arguments: object) -> str:
    result = await client.call_tool(tool, {"collection": "many", **arguments})
    return "\n".join(part.text for part in result.content)  # type: ignore[union-attr]


async def steered(place: Path, out: Path) -> int:
    """Pause, look around, go on, decide and stop, as an operator does in the portal; the pages at the end."""
    with running_portal(None, places=[place]) as portal:
        until(portal, lambda facts: facts["status"]["running"] and facts["status"]["pages"] > 5)
        assert ask(portal, "POST", f"{ONE}/pause")[0] == 202
        until(portal, lambda facts: bool(facts["paused"]))
        await asyncio.sleep(2.0)  # requests under way end
        at_rest = until(portal, lambda facts: bool(facts["paused"]))["status"]["pages"]
        await asyncio.sleep(2.0)
        assert until(portal, lambda facts: bool(facts["paused"]))["status"]["pages"] == at_rest
        for path in ("/", "/search?q=owl", "/review", "/urls", "/links", "/exports", "/datasheet"):
            assert portal.ask("GET", f"/c/many{path}").status == 200, path
        assert ask(portal, "POST", f"{ONE}/resume")[0] == 202
        until(portal, lambda facts: facts["status"]["pages"] > at_rest + 3)
        verdict = {"said": "reject", "url": PAGE}
        assert ask(portal, "POST", f"{ONE}/reviews", verdict)[0] in (200, 201, 202)
        until(portal, lambda _: all(PAGE in decided(out, shard) for shard in ("00", "01")))
        assert ask(portal, "POST", f"{ONE}/stop")[0] == 202
        stopped = until(portal, lambda facts: not facts["status"]["running"])
        assert stopped["status"]["reason"] == "stopped from the portal"
        status, found = ask(portal, "GET", f"{ONE}/search?q=owl")
        assert status == 200, found
        assert found["items"], found
    return int(stopped["status"]["pages"])


async def test_a_crawl_of_shards_in_the_portal(tmp_path: Path) -> None:
    out = tmp_path / "many"
    with recording_aside(write) as server:
        file = topic_file(tmp_path, server.port, recipe="scout", delay=0.5)
        process = command("crawl", str(file), "--trust", "--out", str(out), "--shards", "2", "--quiet")
        try:
            pages = await steered(tmp_path, out)
            process.communicate(timeout=120)
        finally:
            process.kill()
    async with Client(make_mcp([out])) as client:
        assert f'"pages": {pages}' in await said(client, "status")
        assert "site" in await said(client, "search", words="owl")
        assert "owl" in await said(client, "read_page", url=PAGE)
        assert "fetched" in await said(client, "why", url=PAGE)
