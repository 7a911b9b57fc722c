"""The REST API on a real crawl over HTTP: begin, watch, pause, go on, stop, start again."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from endless import endless_site
from openapi_answers import ask
from portals import TOKEN, RunningPortal, running_portal

pytestmark = pytest.mark.realtime
ONE = "/api/v1/collections/owls"


@pytest.fixture
def portal(tmp_path: Path) -> Iterator[RunningPortal]:
    with running_portal(None, places=[tmp_path]) as running:
        yield running


def until(portal: RunningPortal, true: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The collection's facts once they are so."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        status, facts = ask(portal, "GET", ONE)
        if status == 200 and true(facts):
            return dict(facts)
        time.sleep(0.05)
    raise AssertionError(facts)


def figures(portal: RunningPortal, count: int) -> list[dict[str, Any]]:
    """The first figures of the stream of events."""
    connection = http.client.HTTPConnection("127.0.0.1", portal.port, timeout=60)
    connection.request("GET", f"{ONE}/events", headers={"Authorization": f"Bearer {TOKEN}"})
    answer = connection.getresponse()
    assert answer.getheader("Content-Type", "").startswith("text/event-stream")
    found: list[dict[str, Any]] = []
    name = ""
    while len(found) < count:
        line = answer.readline().decode().rstrip("\n")
        name = line.removeprefix("event: ") if line.startswith("event: ") else name
        if line.startswith("data: ") and name == "figures":
            found.append(json.loads(line.removeprefix("data: ")))
    connection.close()
    return found


def test_a_crawl_from_its_beginning_to_its_end(portal: RunningPortal) -> None:
    with endless_site() as site:
        topic = (
            f'[topic]\nname = "owls"\nkeywords = ["owl"]\n[crawl]\nseeds = ["{site}"]\n'
            "max_pages = 100000\ntrap_zones = false\n"
            '[politeness]\ndelay = 0.05\nip_delay = 0.0\n[network]\nallow_net = ["127.0.0.0/8"]\n'
        )
        assert ask(portal, "POST", "/api/v1/collections", {"name": "owls", "topic": topic})[0] == 201
        until(portal, lambda facts: facts["status"]["running"] and facts["status"]["pages"] > 1)
        first, second = figures(portal, 2)
        assert first["standing"]["running"]
        assert second["at"] > first["at"]
        assert second["overview"]["pages"] > 1
        assert ask(portal, "POST", "/api/v1/collections", {"name": "owls", "topic": topic})[0] == 400
        bodies: tuple[object, ...] = ({}, None)  # one is not needed
        for body in bodies:
            status, said = ask(portal, "POST", f"{ONE}/start", body)
            assert (status, said["error"]["status"]) == (409, 409)

        assert ask(portal, "POST", f"{ONE}/pause") == (202, {"name": "owls", "asked": "pause"})
        until(portal, lambda facts: facts["paused"])
        at_rest = figures(portal, 3)[-1]["overview"]["pages"]  # the first may be of a moment ago
        assert figures(portal, 2)[-1]["overview"]["pages"] == at_rest
        assert ask(portal, "POST", f"{ONE}/resume")[0] == 202
        until(portal, lambda facts: not facts["paused"] and facts["status"]["pages"] > at_rest + 1)

        assert ask(portal, "POST", f"{ONE}/stop")[0] == 202
        stopped = until(portal, lambda facts: not facts["status"]["running"])
        assert stopped["status"]["reason"] == "stopped from the portal"
        assert ask(portal, "POST", f"{ONE}/stop")[0] == 409

        more = stopped["status"]["pages"] + 3
        assert ask(portal, "POST", f"{ONE}/start", {"max_pages": more})[0] == 202
        ended = until(
            portal, lambda facts: facts["status"]["pages"] >= more and not facts["status"]["running"]
        )
    assert ended["status"]["pages"] == more
    assert ended["status"]["reason"] == f"budget of {more} pages is spent"
    assert ended["problem"] == ""


def test_a_crawl_that_cannot_begin_says_why(portal: RunningPortal) -> None:
    wrong = {"name": "owls", "topic": "[topic]\nname = 3\n"}
    status, said = ask(portal, "POST", "/api/v1/collections", wrong)
    assert status == 400
    assert "'name' in [topic]" in said["error"]["message"]
    refused = {"name": "owls", "keywords": ["owl"], "seeds": ["http://127.0.0.1:9/"]}
    status, said = ask(portal, "POST", "/api/v1/collections", refused)
    assert status in (201, 400)
    if status == 201:
        told = until(portal, lambda facts: not facts["status"]["running"] and bool(facts["problem"]))
        assert "not a public address" in told["problem"]
