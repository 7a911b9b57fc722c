"""A real headless Chromium for the portal's tests, one for each module, and what went wrong in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
RECORD = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(
  `${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, or a skip where there is none."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("no chromium on this machine: install Debian's package `chromium`")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


class Watched:
    """A browser window that remembers dialogs, errors and violations of the policy."""

    def __init__(self, context: BrowserContext) -> None:
        self.context = context
        self.problems: list[str] = []
        context.add_init_script(RECORD)
        self.page: Page = context.new_page()
        self.page.on(
            "dialog", lambda dialog: (self.problems.append(f"dialog {dialog.message}"), dialog.dismiss())
        )
        self.page.on("pageerror", lambda error: self.problems.append(f"script error {error}"))
        self.page.on(
            "console",
            lambda said: (
                self.problems.append(f"console {said.text}") if said.type in ("error", "warning") else None
            ),
        )

    def check(self) -> None:
        """Nothing went wrong so far."""
        self.problems += self.page.evaluate("window.violations")
        assert self.problems == []

    def shoot(self, name: str, *, whole: bool = False) -> None:
        """Keep a picture of the window as it is."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=whole)


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    """A fresh window of 1280 by 900."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield Watched(context)
    context.close()
