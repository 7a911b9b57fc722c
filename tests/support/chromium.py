"""A real headless Chromium for end-to-end tests, or a skip with a message."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Dialog, Error, Page

EXECUTABLE = Path("/usr/bin/chromium")
SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"


class Watched:
    """A browser page, and whatever went wrong on it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.problems: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", self._error)
        page.on("dialog", self._dialog)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"{message.type}: {message.text}")

    def _error(self, error: Error) -> None:
        self.problems.append(f"error: {error}")

    def _dialog(self, dialog: Dialog) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def picture(self, name: str) -> Path:
        """Keep a screenshot as an artefact."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        path = SCREENSHOTS / f"{name}.png"
        self.page.screenshot(path=path)
        return path


@contextmanager
def chromium_page(*, width: int = 1200, height: int = 900, dark: bool = False) -> Iterator[Watched]:
    """A fresh browser with one page; skips the test where there is no Chromium."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    if not EXECUTABLE.is_file():
        pytest.skip(f"no {EXECUTABLE}: install Debian's package chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=str(EXECUTABLE), args=["--no-sandbox"])
        try:
            page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
            )
            yield Watched(page)
        finally:
            browser.close()
