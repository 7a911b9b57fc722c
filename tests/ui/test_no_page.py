"""In real Chromium: what the live view says of crawls that have no page."""

from __future__ import annotations

import re
import time
from pathlib import Path

import msgspec
from playwright.sync_api import expect
from portals import running_portal
from windows import Watched

from honeyguide.model import Outcome
from honeyguide.store.state import State
from honeyguide.testing.made_collection import MadeCollection


def test_a_crawl_that_could_fetch_nothing_says_why(watched: Watched, tmp_path: Path) -> None:
    with MadeCollection(tmp_path / "c") as made:
        made.dropped("http://shut.example/", outcome=Outcome.CLIENT_ERROR, reason="HTTP 403")
    with running_portal(tmp_path / "c") as portal:
        watched.page.goto(portal.entrance)
        said = "No page could be fetched: HTTP error 4xx (HTTP 403) at http://shut.example/. Name other"
        expect(watched.page.locator("#doing")).to_contain_text(said)
        watched.check()


def test_a_crawl_that_waits_says_for_whom(watched: Watched, tmp_path: Path) -> None:
    with MadeCollection(tmp_path / "c") as made:
        made.address("http://busy.example/", host="busy.example")
    with State.open(tmp_path / "c" / "state.sqlite") as state, running_portal(tmp_path / "c") as portal:
        ((host, _),) = state.hosts()  # and this process holds the lock, as a crawl does
        state.save_hosts([(msgspec.structs.replace(host, ready_at=time.time() + 3600, failures=1), 0.0)])
        state.start_session(time.time(), version="test")
        state.commit()
        watched.page.goto(portal.entrance)
        said = re.compile(
            r"Waiting: busy\.example is left alone until .* UTC, after a failed request\. So far 0 of 0"
        )
        expect(watched.page.locator("#doing")).to_contain_text(said)
        watched.check()
