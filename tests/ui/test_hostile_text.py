"""Whatever a page wrote shows as text: all naughty strings and our own payloads, in real Chromium."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from payloads import PAYLOADS
from playwright.sync_api import Browser, BrowserContext
from portals import TOKEN, RunningPortal, running_portal
from selectolax.lexbor import LexborHTMLParser
from windows import Watched

from honeyguide.model import Outcome
from honeyguide.testing.made_collection import MadeCollection

pytestmark = pytest.mark.realtime

GROUP = 20
"""Strings a page of results shows."""
KNOWN = (
    "html head meta title link script body a header img span bdi nav ul li main h1 h2 p form label input"
    " button details summary div datalist option select ol svg rect mark table thead tbody tr th td code"
    " pre section dl dt dd small path line text circle kbd aside br textarea strong h3 time blockquote"
)
"""Elements that the portal's own pages have."""
FOREIGN = """(known) => {
  const wrong = [];
  for (const element of document.querySelectorAll("*")) {
    if (!known.split(" ").includes(element.localName)) wrong.push(`element ${element.localName}`);
    for (const { name, value } of element.attributes) {
      if (/^on|^style$|^srcdoc$|^formaction$/i.test(name)) wrong.push(`attribute ${name}`);
      const leads = /^(xlink:)?href$|^src$|^action$|^data$|^ping$/i.test(name);
      if (leads && !/^(https?:|\\/(?!\\/)|#)/.test(value)) wrong.push(`${name}=${value}`);
    }
  }
  for (const script of document.scripts)
    if (!script.getAttribute("src")?.startsWith("/static/")) wrong.push("script");
  for (const image of document.images)
    if (image.getAttribute("src") !== "/static/icon.svg") wrong.push("image");
  return wrong;
}"""


def plain(text: str) -> str:
    """A text without what HTML and SQLite cannot carry: controls, lone surrogates; spaces folded."""
    kept = (" " if unicodedata.category(one) in ("Cc", "Cs") or one == "\ufffd" else one for one in text)
    return " ".join("".join(kept).split())


@pytest.fixture(scope="module")
def strings(shared_data: Path) -> list[str]:
    naughty = json.loads((shared_data / "conformance/naughty-strings/blns.json").read_text())
    assert len(naughty) == 515
    assert len(PAYLOADS) >= 100
    return [*naughty, *PAYLOADS]


@pytest.fixture(scope="module")
def groups(strings: list[str]) -> list[list[str]]:
    return [strings[start : start + GROUP] for start in range(0, len(strings), GROUP)]


@pytest.fixture(scope="module")
def rows() -> list[int]:
    """Rows of the last page of each group, filled in by the fixture `portal`."""
    return []


@pytest.fixture(scope="module")
def portal(
    groups: list[list[str]], rows: list[int], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningPortal]:
    """A collection with every string as title, address, link text, reason, text and header."""
    folder = tmp_path_factory.mktemp("hostile") / "collection"
    with MadeCollection(folder, archive=True) as made:
        for number, group in enumerate(groups):
            parent = 0
            left_out = []
            head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
            for place, text in enumerate(group):
                flat = plain(text)
                head += f"X-{place}: {flat}\r\n"
                left_out.append(
                    made.dropped(
                        f"http://{number}.example/{place}/{flat}",
                        outcome=Outcome.TIMEOUT,
                        reason=text,
                        anchor=text,
                    )
                )
            for place, text in enumerate(group):
                # Some addresses are nothing but the payload: a stranger's collection may hold anything.
                url = text if ":" in text[:15] else f"http://{number}.example/?{place}={text}"
                last = place == len(group) - 1
                parent = made.page(
                    url, title=text, text=f"findme{number} {text}", anchor=text, parent=parent,
                    links=left_out if last else (), terms=((text, 0.5),),
                    head=(head + "\r\n").encode("utf-8", "replace") if last else b"",
                    body="\n".join(group).encode("utf-8", "replace") if last else b"",
                    at=1_700_000_000.0 + 100 * number + place,
                )  # fmt: skip
            rows.append(parent)
    with running_portal(folder) as running:
        yield running


class Window(Watched):
    """A window in which nothing may happen but reading."""

    def __init__(self, context: BrowserContext, portal: RunningPortal) -> None:
        super().__init__(context)
        self._portal = portal

    def open(self, path: str) -> None:
        self.page.goto(self._portal.url + path, wait_until="load")

    def texts(self, selector: str) -> list[str]:
        found: list[str] = self.page.eval_on_selector_all(selector, "all => all.map(one => one.textContent)")
        return [plain(text) for text in found]

    def check(self) -> None:
        """No dialog, no node or attribute that is not ours, no violation of the policy."""
        self.problems += self.page.evaluate(FOREIGN, KNOWN)
        super().check()


@pytest.fixture
def window(browser: Browser, portal: RunningPortal) -> Iterator[Window]:
    context = browser.new_context()
    opened = Window(context, portal)
    opened.open(f"/?token={TOKEN}")
    yield opened
    context.close()


def test_titles_addresses_and_snippets(window: Window, groups: list[list[str]]) -> None:
    for number, group in enumerate(groups):
        window.open(f"/search?q=findme{number}")
        window.check()
        shown = window.texts(".results .title")
        addresses = window.texts(".results .url")
        wanted = {plain(text) for text in group if plain(text)}
        assert wanted <= set(shown), wanted - set(shown)
        for text in wanted:
            assert any(text in address for address in addresses), text
        for title, snippet in zip(shown, window.texts(".results .snippet"), strict=True):
            # Long strings are cut, between two words.
            rest = snippet.removeprefix(f"findme{number}").strip()
            assert title.startswith(rest.removesuffix("…").strip()) or title not in wanted, title


def test_link_texts_and_errors(window: Window, strings: list[str]) -> None:
    seen_anchors: set[str] = set()
    seen_reasons: set[str] = set()
    pages = (len(strings) + 49) // 50
    for number in range(1, pages + 1):
        window.open(f"/urls?outcome=timeout&page={number}")
        window.check()
        seen_anchors |= set(window.texts("td:nth-child(3)"))
        seen_reasons |= set(window.texts("td:nth-child(4)"))
    wanted = {plain(text) for text in strings}
    assert wanted <= seen_anchors
    assert wanted <= seen_reasons


def test_headers_source_and_path(window: Window, groups: list[list[str]], rows: list[int]) -> None:
    for group, row in zip(groups, rows, strict=True):
        wanted = [plain(text) for text in group]
        window.open(f"/page/{row}/source")
        window.check()
        head, source = window.texts("pre.text")
        for place, text in enumerate(wanted):
            assert f"X-{place}: {text}".strip() in head
            assert text in source
        window.open(f"/page/{row}")
        window.check()
        assert window.texts("h1") == [wanted[-1] or window.texts(".url")[0]]
        path = window.texts("#why .path li")
        assert len(path) == len(group)
        for text, step in zip(wanted, path, strict=True):
            assert text in step


def test_links_of_pages(window: Window, groups: list[list[str]], rows: list[int]) -> None:
    for group, row in list(zip(groups, rows, strict=True))[::6]:
        window.open(f"/page/{row}/links")
        window.check()
        assert len(window.texts("tbody tr")) == len(group)


def test_live_view_builds_text_nodes(window: Window, groups: list[list[str]]) -> None:
    window.open("/")
    window.page.wait_for_selector("#pages tr .title")
    window.until("document.body.dataset.ticks >= 1")
    titles = window.texts("#pages .title")
    wanted = [plain(text) for text in reversed(groups[-1])][: len(titles)]
    assert [title for title, text in zip(titles, wanted, strict=False) if text and title != text] == []
    window.check()


def test_reflected_strings(window: Window, portal: RunningPortal, strings: list[str]) -> None:
    """What is asked for comes back in a field, a title and an error: all over HTTP, some on screen."""
    for text in strings:
        for path, selector in (("/search", "input[name=q]"), ("/page", ".message")):
            field = "q" if path == "/search" else "url"
            reply = portal.get(f"{path}?{urlencode({field: text}, errors='replace')}")
            if reply.status == 303:
                continue  # an address that is in the collection
            assert reply.status in (200, 400), (path, text)
            page = LexborHTMLParser(reply.text)
            assert [one.attributes.get("src") for one in page.css("script")] == [], text
            assert [one.attributes.get("src") for one in page.css("img")] == ["/static/icon.svg"], text
            assert page.css("[onerror],[onload],[onfocus],[style],iframe,object,embed,base,style") == [], text
            node = page.css_first(selector)
            assert node is not None
            shown = node.attributes.get("value") if path == "/search" else node.text()
            assert plain(text) in plain(shown or ""), text
    for text in PAYLOADS[::8]:
        window.open(f"/search?{urlencode({'q': text})}")
        window.check()
        window.open(f"/page?{urlencode({'url': text})}")
        # Chromium's console tells of the status, 400; that is all it may tell.
        window.problems = [one for one in window.problems if "status of 400" not in one]
        window.check()


def test_review_and_topic_builder(window: Window, strings: list[str]) -> None:
    wanted, skipped = {plain(text) for text in strings}, list[str]()
    for _ in range(12):
        window.open("/review" + (f"?skip={','.join(skipped)}" if skipped else ""))
        window.until("document.querySelectorAll('#frontier').length === 1")
        window.check()
        assert window.texts("#card .title")[0] in wanted | {""} or "://" in window.texts("#card .title")[0]
        skipped.append(str(window.page.get_attribute("#card .title a", "href")).rpartition("/")[2])
    for text in strings[::60]:
        window.open("/topic")
        window.page.fill("[name=name]", "owls")
        window.page.fill("[name=pasted]", "owl")
        window.page.click("details.card > summary")
        window.page.fill("[name=test]", text)
        window.page.fill("[name=topic]", text)
        window.page.click("#look")
        window.page.wait_for_selector("#problem, #terms")
        window.problems = [one for one in window.problems if "400 (Bad Request)" not in one]
        window.check()
