"""Real Chromium behind a pool, for tests; skipped where there is none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from honeyguide.fetch.browser import BrowserPool
from honeyguide.fetch.browser_messages import Answer, NotRendered, Rendered, RenderJob, RenderLimits, Wanted
from honeyguide.fetch.browser_program import find_browser, has_playwright

HTML = (("Content-Type", "text/html; charset=utf-8"),)


def need_browser() -> str:
    """The browser's program, or a skip."""
    program = find_browser() if has_playwright() else ""
    if not program:
        pytest.skip("no chromium on this machine: install Debian's package `chromium`")
    return program


async def render(
    pool: BrowserPool, body: str, *, limits: RenderLimits | None = None, asked: list[Wanted] | None = None
) -> Rendered | NotRendered:
    """Render a page of `http://page.example/` whose requests all get 404."""

    async def ask(wanted: Wanted) -> Answer:
        if asked is not None:
            asked.append(wanted)
        return Answer(wanted.number, 404)

    job = RenderJob("http://page.example/", body.encode(), HTML, limits or RenderLimits(seconds=6.0))
    return await pool.render(job, ask)


def html_of(result: Rendered | NotRendered) -> str:
    """The rendered document."""
    assert isinstance(result, Rendered), result
    return result.html.decode()


def why_not(result: Rendered | NotRendered) -> str:
    """Why there is none."""
    assert isinstance(result, NotRendered), result.html[:2000]
    return result.reason


def running(pids: list[int]) -> list[int]:
    """Those processes that are still there, zombies not counted."""
    found = []
    for pid in pids:
        status = Path(f"/proc/{pid}/status")
        if status.exists() and "State:\tZ" not in status.read_text():
            found.append(pid)
    return found


def alive(pid: int) -> bool:
    """Whether a process is there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
