"""Pages that need a browser, in a crawl: real HTTP servers, real Chromium."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from application import Application
from browsers import need_browser
from loopback import Canary, config_for, crawl_all, outcome_of, page, recording, redirect
from portals import running_portal
from warcio.archiveiterator import ArchiveIterator

from honeyguide.collection.collection import Collection
from honeyguide.config.schema import Config
from honeyguide.engine.render_figures import RenderFigures, render_figures
from honeyguide.engine.rendering import HostNeeds, gained, taken_from
from honeyguide.errors import MissingExtra
from honeyguide.fetch import browser_program
from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.served import Served
from honeyguide.model import Outcome, Page

SITE = "http://spa.example/"


@pytest.mark.realtime
async def test_an_application_is_crawled_and_kept_as_readers_see_it(tmp_path: Path) -> None:
    need_browser()
    folder = tmp_path / "owls"
    async with recording(Application(3)) as server:
        config = config_for([SITE], server.connect_to, fetch={"browsers": 1})
        _, events = await crawl_all(config, folder)
        asked = list(server.urls)
    pages = {event.url: event.data for event in events if event.kind == "page"}
    assert sorted(pages) == [SITE, f"{SITE}owl/1", f"{SITE}owl/2"]
    assert all(data["on_topic"] for data in pages.values())
    assert pages[f"{SITE}owl/1"]["title"] == "Barn owl 1"
    # Each document once, the script once for all pages, and no image.
    assert [url for url in asked if asked.count(url) > 1] == []
    assert f"{SITE}app.js" in asked
    assert f"{SITE}logo.png" not in asked
    outcome, reason = outcome_of(folder, f"{SITE}owl/2")
    assert outcome is Outcome.FETCHED
    assert reason.startswith("rendered by Chromium")
    assert "an empty root element (root)" in reason
    _check_archive(folder)
    with Collection.open(folder) as collection:
        figures = render_figures(collection.state)
        assert (figures.shells, figures.rendered, figures.failed) == (3, 3, 0)
        assert figures.needing == ["spa.example"]
        kept = collection.page(f"{SITE}owl/1")
        assert "barn 7" in kept.parsed().text
        assert b"barn 7" in kept.body()[0]
        assert not kept.record.duplicate_of
        exported = tmp_path / "owls.warc.gz"
        collection.export(exported, format="warc")
    assert _kinds(exported).count("conversion") == 3
    with running_portal(folder) as portal:
        row = kept.record.row
        assert "hunts at night" in portal.get(f"/page/{row}/archived").text
        assert "rendered by Chromium" in portal.get(f"/page/{row}").text
    await _read_again(folder, config)


def _kinds(path: Path) -> list[str]:
    with path.open("rb") as file:
        return [record.rec_type for record in ArchiveIterator(file, check_digests="raise")]


def _check_archive(folder: Path) -> None:
    """The answer as received, and the rendered document in a record that refers to it."""
    (path,) = (folder / "archive").glob("*.warc.gz")
    answers: dict[str, str] = {}
    rendered = 0
    with path.open("rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            head = record.rec_headers
            body = record.content_stream().read()
            target = head.get_header("WARC-Target-URI")
            if record.rec_type == "response":
                answers[head.get_header("WARC-Record-ID")] = target
                assert target.endswith("robots.txt") or b"barn" not in body
            if record.rec_type == "conversion":
                rendered += 1
                assert answers[head.get_header("WARC-Refers-To")] == target
                assert head.get_header("Content-Type") == "text/html; charset=utf-8"
                assert b"hunts at night" in body
                assert b"<script" not in body
    assert rendered == 3


async def _read_again(folder: Path, config: Config) -> None:
    """A lost index is built from the rendered documents, without asking anybody."""
    (folder / "index.sqlite").unlink()
    await crawl_all(config, folder)
    with Collection.open(folder) as collection:
        assert len(collection.search("barn owl", limit=10)) == 3


@pytest.mark.slow
@pytest.mark.realtime
async def test_a_rendered_page_is_rendered_again_though_its_shell_is_the_same(tmp_path: Path) -> None:
    need_browser()
    folder = tmp_path / "owls"
    application = Application(2)
    async with recording(application) as server:
        config = config_for([SITE], server.connect_to, fetch={"browsers": 1})
        await crawl_all(config, folder)
        application.write("/owl/1", "It moved to the church tower, where the barn owl hunts at night. " * 5)
        crawl = Crawl(config, out=folder)
        seen = {event.url: event.data.get("what") async for event in crawl.recrawl()}
    assert seen[f"{SITE}owl/1"] == "changed"
    assert seen[SITE] == "touched"
    with Collection.open(folder) as collection:
        assert "church tower" in collection.page(f"{SITE}owl/1").parsed().text


@pytest.mark.realtime
async def test_without_a_browser_shells_are_counted_and_never_on_topic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("honeyguide.job.assemble.has_playwright", lambda: False)
    async with recording(Application(3)) as server:
        config = config_for([SITE], server.connect_to)
        _, events = await crawl_all(config, tmp_path / "owls")
        with pytest.raises(MissingExtra, match=r"honeyguide\[browser\]"):
            await crawl_all(config_for([SITE], {}, fetch={"render": "always"}), tmp_path / "always")
    (one,) = events
    assert one.data["on_topic"] is False
    assert "rendering" not in one.data
    with Collection.open(tmp_path / "owls") as collection:
        assert render_figures(collection.state) == RenderFigures(shells=1)
    assert outcome_of(tmp_path / "owls", SITE)[1] == "its HTML is a shell: an empty root element (root)"


@pytest.mark.realtime
async def test_a_page_that_cannot_be_rendered_is_taken_as_it_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "browser"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv(browser_program.PROGRAM, str(broken))
    async with recording({f"{SITE}": page("/two"), f"{SITE}two": page()}) as server:
        config = config_for([SITE], server.connect_to, fetch={"render": "always", "browsers": 1})
        _, events = await crawl_all(config, tmp_path / "owls")
    assert [event.data["on_topic"] for event in events] == [True, True]
    assert all("not rendered (the browser did not start" in str(one.data["rendering"]) for one in events)
    with Collection.open(tmp_path / "owls") as collection:
        figures = render_figures(collection.state)
    assert (figures.shells, figures.rendered, figures.failed) == (0, 0, 2)
    assert json.dumps(figures.reasons)


def test_hosts_are_learned_and_forgotten() -> None:
    needs = HostNeeds(["known.example"], size=3)
    assert needs.needs("known.example")
    assert not needs.tried("app.example", gained=True)
    assert needs.tried("app.example", gained=True)
    for _ in range(3):
        assert not needs.in_vain("plain.example")
        needs.tried("plain.example", gained=False)
    assert needs.in_vain("plain.example")
    for number in range(3):
        needs.tried(f"{number}.example", gained=True)
    assert not needs.needs("app.example")
    assert not needs.in_vain("plain.example")


def test_what_the_received_page_asks_of_crawlers_holds() -> None:
    received = Page(SITE, 1, text="Menu", noindex=True, canonical="http://spa.example/home", shell="empty")
    shown = Page(
        SITE, 1, text="Owls hunt at night. " * 30, canonical="http://spa.example/home", nofollow=True
    )
    taken = taken_from(received, shown)
    assert gained(received, shown)
    assert not gained(received, received)
    assert taken.noindex
    assert taken.nofollow
    assert taken.canonical == ""
    assert taken.shell == "empty"


@pytest.mark.slow
@pytest.mark.realtime
async def test_hostile_pages_in_a_crawl_as_their_servers_see_them(tmp_path: Path) -> None:
    """A flood, a loop, private addresses, closed paths: every page is kept, and nobody is asked too much."""
    need_browser()
    canary = Canary()
    inside = f"http://127.0.0.1:{canary.port}/"
    scripts = {
        "flood": "for (let i = 0; i < 300; i++) fetch('/data/' + i)",
        "deluge": "for (let i = 0; i < 10000; i++) fetch('/data/' + i)",
        "loop": "while (true) {}",
        "inside": f"fetch('{inside}'); fetch('/to-inside'); new Image().src = '{inside}image'",
        "shut": "fetch('/closed/secret')",
        "away": f"location.href = '{inside}'",
    }
    pages: dict[str, Served] = {
        "http://shut.example/robots.txt": Served(200, (), b"User-agent: *\nDisallow: /closed"),
        "http://shut.example/closed/secret": page(),
        "http://inside.example/to-inside": redirect(inside),
    }
    for name, script in scripts.items():
        body = f"<title>owl</title><p>barn owl {name}</p><script>{script}</script>"
        pages[f"http://{name}.example/"] = Served(200, (("Content-Type", "text/html"),), body.encode())
    async with recording(pages) as server:
        fetch = {"browsers": 1, "render_seconds": 4.0, "render_requests": 20, "render_memory": "600 MiB"}
        seeds = [f"http://{name}.example/" for name in scripts]
        _, events = await crawl_all(config_for(seeds, server.connect_to, fetch=fetch), tmp_path / "owls")
        asked = list(server.urls)
    assert canary.calls() == 0
    canary.close()
    assert {event.url for event in events if event.kind == "page"} == set(seeds)
    assert "http://shut.example/closed/secret" not in asked
    assert "http://inside.example/to-inside" in asked
    assert 0 < len([url for url in asked if "flood.example/data/" in url]) <= 20
    assert len([url for url in asked if "deluge.example/data/" in url]) <= 20
    told = {event.url: str(event.data.get("rendering")) for event in events}
    assert "could not be read within 4 s" in told["http://loop.example/"]
    assert told["http://shut.example/"].startswith("rendered by Chromium")
    assert outcome_of(tmp_path / "owls", inside)[0] is Outcome.EGRESS
