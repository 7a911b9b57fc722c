"""A window of real Chromium that remembers dialogs, errors and violations of the policy."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Error, Page

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
"""Where tests keep pictures; not in the repository."""
_RECORD = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(
  `${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
"""


class Watched:
    """One window; `page` is Playwright's."""

    def __init__(self, context: BrowserContext) -> None:
        self.context = context
        self.problems: list[str] = []
        context.add_init_script(_RECORD)
        self.page: Page = context.new_page()
        self.page.on("dialog", self._dialog)
        self.page.on("pageerror", self._error)
        self.page.on("console", self._console)

    def _dialog(self, dialog: Dialog) -> None:
        self.problems.append(f"dialog on {self.page.url}: {dialog.message}")
        dialog.dismiss()

    def _error(self, error: Error) -> None:
        self.problems.append(f"error on {self.page.url}: {error}")

    def _console(self, said: ConsoleMessage) -> None:
        if said.type in ("error", "warning"):
            self.problems.append(f"console on {self.page.url}: {said.text}")

    def check(self) -> None:
        """Nothing went wrong so far."""
        self.problems += self.page.evaluate("window.violations")
        assert self.problems == [], self.problems

    def until(self, condition: str, *, seconds: float = 30.0) -> None:
        """Wait until an expression is true; Playwright's own way needs `eval`, which the policy forbids."""
        for _ in range(int(seconds / 0.05)):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"never true on {self.page.url}: {condition}")

    def shoot(self, name: str, *, whole: bool = False) -> None:
        """Keep a picture of the window as it is."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=whole)
