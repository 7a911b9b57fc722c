"""The pictures of the guides, taken from a real crawl: `make screenshots`, or

    python tests/support/screenshots.py docs/images

A generated web is served on loopback and crawled by two recipes; Chromium looks at the portal as a reader
would, desktop in light and phone in dark. `broken` says what is wrong with a picture; the tests use it too.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parent))

from portals import RunningPortal, running_portal

from honeyguide.config.load import freeze
from honeyguide.lab.demo import SPEC, demo_config
from honeyguide.lab.webs.generated import GeneratedWeb
from honeyguide.lab.webs.serve import start_server

PAGES = 700
BROAD, PHONE = (1200, 800), (390, 780)
LEAST_COLOURS = 24
MOST_OF_ONE = 0.97
"""A page is more than paper: at most this share of it has one colour."""


class Shot(NamedTuple):
    """One picture of the guides."""

    name: str
    path: str
    width: int = BROAD[0]
    height: int = BROAD[1]
    scheme: Literal["light", "dark"] = "light"


SHOTS = (
    Shot("home", "/"),
    Shot("builder", "/new"),
    Shot("live", "/c/beekeeping/", height=1100),
    Shot("review", "/c/beekeeping/review", height=900),
    Shot("search", "/c/beekeeping/search?q=honey+queen"),
    Shot("read", "/c/beekeeping/page/{row}/read?q=honey"),
    Shot("page", "/c/beekeeping/page/{row}", height=1000),
    Shot("directory", "/c/beekeeping/directory"),
    Shot("compare", "/compare?left=beekeeping&right=beekeeping-breadth-first"),
    Shot("phone", "/c/beekeeping/", *PHONE, "dark"),
    Shot("review-phone", "/c/beekeeping/review", *PHONE, "dark"),
)


def broken(path: Path) -> str:
    """What is wrong with a picture: empty when nothing is."""
    with Image.open(path) as picture:
        small = picture.convert("RGB").resize((picture.width // 2, picture.height // 2))
        colours, counts = np.unique(np.asarray(small).reshape(-1, 3), axis=0, return_counts=True)
    if len(colours) < LEAST_COLOURS:
        return f"only {len(colours)} colours: a blank page?"
    share = float(counts.max() / counts.sum())
    return f"{share:.0%} of it has one colour: a blank page?" if share > MOST_OF_ONE else ""


def shoot(browser: Browser, portal: RunningPortal, shot: Shot, out: Path, row: int = 1) -> list[str]:
    """Take one picture; what the browser complained of."""
    context = browser.new_context(
        viewport={"width": shot.width, "height": shot.height}, color_scheme=shot.scheme
    )
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(f"{shot.name}: {error}"))
    page.goto(portal.entrance)
    reply = page.goto(portal.url + shot.path.format(row=row))
    if reply is None or reply.status != 200:
        problems.append(f"{shot.name}: status {reply.status if reply else 'none'}")
    settle(page)
    page.screenshot(path=out / f"{shot.name}.png")
    context.close()
    return problems


def settle(page: Page) -> None:
    """Wait until the page shows what it has to show."""
    if page.locator("#fields").count():
        page.fill("[name=name]", "Beekeeping")
        page.locator("[name=pasted]").press_sequentially("honey, queen bee, beehive, swarm, pollen")
        page.wait_for_selector("#seen #terms .tag")
    if page.locator("#later").count():
        page.wait_for_selector(".balance, #later:not(:text('Being worked out'))")
    if page.locator("#curve").count():  # its stream never rests
        page.wait_for_selector("body[data-ticks]:not([data-ticks='1']) [data-why] .words")
    else:
        page.wait_for_load_state("networkidle")
    page.evaluate("document.activeElement?.blur()")


def crawled(place: Path, port: int) -> None:
    """Two crawls of one topic: what the guides show."""
    web = GeneratedWeb(SPEC)
    topic = "beekeeping" if "beekeeping" in web.topics else web.topics[0]
    for name, recipe in (("beekeeping", "scout"), ("beekeeping-breadth-first", "breadth-first")):
        file = place.parent / f"{name}.toml"
        file.write_text(freeze(demo_config(web, topic, port, recipe)))
        command = [sys.executable, "-m", "honeyguide", "crawl", str(file), "--trust", "--quiet"]
        command += ["--out", str(place / name), "--max-pages", str(PAGES)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's Chromium."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        raise SystemExit("no chromium on this machine: install Debian's package `chromium`")
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])


def main(out: Path) -> int:
    """Take all pictures; 1 when one of them is blank or broken."""
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as base, start_server(SPEC) as server, chromium() as browser:
        place = Path(base) / "collections"
        crawled(place, server.port)
        with running_portal(place) as portal:
            time.sleep(1.0)
            found = portal.get("/c/beekeeping/search?q=honey").text
            row = int(found.partition("/c/beekeeping/page/")[2].partition("/")[0])
            portal.post("/c/beekeeping/directory")
            while "Make the directory" in portal.get("/c/beekeeping/directory").text:
                time.sleep(0.5)
            for shot in SHOTS:
                problems += shoot(browser, portal, shot, out, row)
                if wrong := broken(out / f"{shot.name}.png"):
                    problems.append(f"{shot.name}: {wrong}")
                sys.stdout.write(f"{out / shot.name}.png\n")
    sys.stderr.writelines(f"{problem}\n" for problem in problems)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
