"""Backlink services: local ones, and those that speak HTTP, against real servers on loopback."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from loopback import Recorder, recording

from honeyguide.discovery import rate_limit
from honeyguide.discovery.backlinks.base import BacklinkService, Parents
from honeyguide.discovery.backlinks.context import GraphLimits, context_graph
from honeyguide.discovery.backlinks.json_service import JsonService
from honeyguide.discovery.backlinks.mediawiki import MediaWiki
from honeyguide.discovery.backlinks.rationed import Rationed
from honeyguide.discovery.backlinks.recorded_links import RecordedLinks
from honeyguide.discovery.backlinks.service import Within, make_service
from honeyguide.discovery.backlinks.source import Backlinks
from honeyguide.discovery.base import Ask
from honeyguide.engine.clock import VirtualClock
from honeyguide.engine.live import ServiceHttp
from honeyguide.errors import TopicError
from honeyguide.fetch.egress import EgressGuard
from honeyguide.fetch.http import HttpFetcher
from honeyguide.fetch.options import FetchOptions
from honeyguide.lab.webs.served import Served
from honeyguide.model import ContextGraph, Document, Event, Examples, Page, Topic

PAGE = "https://site.example/page?a=1"
JSON = (("Content-Type", "application/json"),)


def as_json(value: object, status: int = 200, *more: tuple[str, str]) -> Served:
    return Served(status, (*JSON, *more), json.dumps(value).encode())


@asynccontextmanager
async def asking(write: Callable[[str], Served | None]) -> AsyncIterator[tuple[ServiceHttp, Recorder]]:
    async with recording(write) as server:
        options = FetchOptions(connect_to=server.connect_to, deadline=2.0)
        async with HttpFetcher(options, clock=time.time, guard=EgressGuard([])) as fetcher:
            yield ServiceHttp(fetcher), server


def links_to(url: str) -> Served | None:
    asked = parse_qs(urlsplit(url).query)
    rows = [{"source": {"url": f"https://p{i}.example/"}} for i in range(4)]
    return as_json({"target": asked["u"], "rows": rows}) if asked["u"] == [PAGE] else as_json({"rows": []})


@pytest.mark.realtime
async def test_json_service_asks_by_template_and_reads_by_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKS_KEY", "s3cret/key")
    async with asking(links_to) as (http, server):
        service = JsonService(
            http,
            template="http://api.example/?u={url}&h={host}&n={limit}&k={key}",
            path="rows.*.source.url",
            key_env="LINKS_KEY",
            key_header="X-Key",
        )
        found = await service.parents(PAGE, 3)
        nothing = await service.parents("https://other.example/", 3)
    assert found == Parents(("https://p0.example/", "https://p1.example/", "https://p2.example/"), 1)
    assert nothing == Parents((), 1)
    assert "h=site.example&n=3&k=s3cret%2Fkey" in server.urls[0]
    assert b"x-key: s3cret/key" in server.heads[0].replace(b"X-Key", b"x-key")


@pytest.mark.realtime
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Served(200, JSON, b"<html>oops"), "not JSON"),
        (Served(200, JSON, b"[" * 100_000), "not JSON"),
        (as_json({"error": "no such thing"}), "nothing at rows"),
        (as_json([1, 2, 3]), "nothing at rows"),
        (Served(500, (), b""), "HTTP 500"),
        (Served(301, (("Location", "http://evil.example/"),), b""), "HTTP 301"),
    ],
)
async def test_rubbish_is_a_note(answer: Served, said: str) -> None:
    async with asking(lambda url: answer) as (http, _):
        service = JsonService(http, template="http://api.example/?u={url}", path="rows.*.url")
        found = await service.parents(PAGE, 3)
    assert found.failed
    assert said in found.note
    assert found.urls == ()


@pytest.mark.realtime
async def test_values_of_other_kinds_are_left_out() -> None:
    rows = {"rows": [{"url": "https://a.example/"}, {"url": 7}, {"url": None}, "x", {"url": "javascript:1"}]}
    async with asking(lambda url: as_json(rows)) as (http, _):
        service = JsonService(http, template="http://api.example/?u={url}", path="rows.*.url")
        found = await Rationed(service, VirtualClock()).ask(PAGE, 9, patience=0)
    assert found.urls == ("https://a.example/",)


@pytest.mark.realtime
async def test_a_service_that_is_down() -> None:
    async with asking(links_to) as (_, server):
        port = server.port
    options = FetchOptions(connect_to={"*.example": f"127.0.0.1:{port}"}, deadline=2.0)
    async with HttpFetcher(options, clock=time.time, guard=EgressGuard([])) as fetcher:
        service = JsonService(ServiceHttp(fetcher), template="http://api.example/?u={url}", path="rows.*.url")
        asked = Rationed(service, VirtualClock())
        answers = [await asked.ask(f"https://site.example/{i}", 5, patience=99) for i in range(5)]
    assert [one.failed for one in answers] == [True, True, True, False, False]
    assert "connection" in answers[0].note
    assert "repeated failures" in answers[4].note
    assert answers[4].requests == 0


@pytest.mark.realtime
async def test_retry_after_is_kept_and_the_question_asked_again() -> None:
    said = [as_json({}, 429, ("Retry-After", "30")), as_json({"rows": [{"url": "https://p.example/"}]})]
    clock = VirtualClock()
    started = clock.now()
    async with asking(lambda url: said.pop(0)) as (http, _):
        service = JsonService(http, template="http://api.example/?u={url}", path="rows.*.url", rate=10.0)
        found = await Rationed(service, clock).ask(PAGE, 5, patience=60)
    assert found.urls == ("https://p.example/",)
    assert found.requests == 2
    assert clock.now() - started == pytest.approx(30.0, abs=0.01)


@pytest.mark.realtime
async def test_without_patience_nobody_waits_for_a_rate_limited_service() -> None:
    clock = VirtualClock()
    started = clock.now()
    async with asking(lambda url: as_json({}, 429, ("Retry-After", "3600"))) as (http, server):
        service = JsonService(http, template="http://api.example/?u={url}", path="rows.*.url")
        asked = Rationed(service, clock)
        first = await asked.ask(PAGE, 5, patience=2)
        second = await asked.ask("https://site.example/other", 5, patience=2)
    assert (first.failed, first.requests) == (True, 1)
    assert (second.failed, second.requests) == (False, 0)
    assert "too soon" in second.note
    assert len(server.urls) == 1
    assert clock.now() == started


class Slow:
    remote = True
    rate = 1000.0

    async def parents(self, url: str, limit: int) -> Parents:
        await asyncio.sleep(60)
        return Parents()


@pytest.mark.realtime
async def test_a_slow_service_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "DEADLINE", 0.05)
    found = await Rationed(Slow(), VirtualClock()).ask(PAGE, 5, patience=1)
    assert found.failed
    assert "no answer within" in found.note


class Counting:
    """A service that knows everything, and counts."""

    rate = 2.0

    def __init__(self, *, remote: bool = True) -> None:
        self.remote = remote
        self.asked: list[str] = []

    async def parents(self, url: str, limit: int) -> Parents:
        self.asked.append(url)
        return Parents((f"{url}up", f"{url}up", url, "HTTP://A.example", "not an address"), 1)


async def test_nothing_is_asked_twice_nor_too_fast() -> None:
    service, clock = Counting(), VirtualClock()
    started = clock.now()
    asked = Rationed(service, clock)
    for _ in range(2):
        for name in "abc":
            found = await asked.ask(f"https://{name}.example/", 9, patience=5)
    assert found.urls == ("https://c.example/up", "http://a.example/")
    assert len(service.asked) == 3
    assert clock.now() - started == pytest.approx(1.0)


async def test_several_requests_of_one_answer_count_for_the_rate() -> None:
    class Long(Counting):
        async def parents(self, url: str, limit: int) -> Parents:
            self.asked.append(url)
            return Parents((f"{url}up",), requests=4)

    clock = VirtualClock()
    started = clock.now()
    asked = Rationed(Long(), clock)
    for name in "ab":
        await asked.ask(f"https://{name}.example/", 9, patience=5)
    assert clock.now() - started == pytest.approx(4 / 2.0), "four requests at two a second"


def wiki(url: str) -> Served | None:
    """`api.php` as MediaWiki documents it: backlinks in two parts, external links in one."""
    asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    assert asked["action"] == "query"
    assert asked["format"] == "json"
    if asked["list"] == "exturlusage":
        assert (asked["euquery"], asked["euprotocol"]) == ("site.example/page?a=1", "https")
        links = {"Barn owl": "https://site.example/page?a=1", "Tyto": "//site.example/page?a=1"}
        links["Another page"] = "https://site.example/page?a=12"
        rows = [{"pageid": 7, "ns": 0, "title": title, "url": url} for title, url in links.items()]
        return as_json({"batchcomplete": True, "query": {"exturlusage": rows}})
    if asked["bltitle"] == "Nobody":
        return as_json({"batchcomplete": True, "query": {"backlinks": []}})
    if asked["bltitle"] == "Busy":
        said = {"code": "maxlag", "info": "Waiting for 10.0.0.1: 9 seconds lagged"}
        return as_json({"error": said}, 200, ("Retry-After", "5"))
    if "blcontinue" not in asked:
        return as_json(
            {
                "continue": {"blcontinue": "0|42", "continue": "-||"},
                "query": {"backlinks": [{"pageid": 1, "ns": 0, "title": "Tawny owl"}]},
            }
        )
    assert (asked["blcontinue"], asked["bltitle"]) == ("0|42", "Barn owl")
    return as_json({"query": {"backlinks": [{"pageid": 2, "ns": 0, "title": "Führer & Co/é"}]}})


@pytest.mark.realtime
async def test_mediawiki_what_links_here_and_external_links() -> None:
    async with asking(wiki) as (http, _):
        service = MediaWiki(http, api="http://wiki.example/w/api.php")
        inside = await service.parents("http://wiki.example/wiki/Barn_owl", 10)
        outside = await service.parents(PAGE, 10)
        nobody = await service.parents("http://wiki.example/wiki/Nobody", 10)
        busy = await service.parents("http://wiki.example/wiki/Busy", 10)
    assert inside.urls == (
        "http://wiki.example/wiki/Tawny_owl",
        "http://wiki.example/wiki/F%C3%BChrer_&_Co/%C3%A9",
    )
    assert inside.requests == 2
    assert outside == Parents(("http://wiki.example/wiki/Barn_owl", "http://wiki.example/wiki/Tyto"), 1)
    assert nobody == Parents((), 1)
    assert busy.failed
    assert busy.retry_after == 5.0
    assert "9 seconds lagged" in busy.note


@pytest.mark.realtime
async def test_something_that_is_no_mediawiki() -> None:
    async with asking(lambda url: as_json({"hello": 1})) as (http, _):
        found = await MediaWiki(http, api="http://wiki.example/w/api.php").parents(PAGE, 10)
    assert found.failed
    assert "not from a MediaWiki" in found.note


class Recording:
    def backlinks(
        self, url: str, coverage: float | None = None, *, limit: int | None = None
    ) -> tuple[str, ...]:
        return tuple(f"https://{coverage}.example/{i}" for i in range(9))[:limit]


@pytest.mark.realtime
async def test_recorded_web_with_a_coverage() -> None:
    service = make_service({"kind": "web", "coverage": 0.25}, Within(web=Recording()))
    assert (await service.parents(PAGE, 2)).urls == ("https://0.25.example/0", "https://0.25.example/1")
    assert isinstance(make_service(None, Within(web=Recording())), RecordedLinks)


@pytest.mark.realtime
@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({}, "choose kind from"),
        ({"kind": "telepathy"}, "telepathy"),
        ({"kind": "http", "template": "http://a.example/"}, "path"),
        ({"kind": "http", "template": "http://a.example/", "path": "x"}, "add one of them"),
        ({"kind": "http", "template": "http://a.example/{uri}", "path": "x"}, "{url}"),
        ({"kind": "http", "template": "http://a.example/{url", "path": "x"}, "bad template"),
        ({"kind": "http", "template": "http://a.example/{url}{key}", "path": "x"}, "both or neither"),
        (
            {
                "kind": "http",
                "template": "http://a.example/{url}{key}",
                "path": "x",
                "key_env": "NO_SUCH_KEY",
            },
            "set it",
        ),
        ({"kind": "http", "template": "http://a.example/{url}", "path": "x", "rate": 0}, "rate"),
        ({"kind": "mediawiki", "api": "no address"}, "https://"),
        ({"kind": "edge-list", "path": "no/such/file.csv"}, "correct its path"),
        ({"kind": "edge-list", "path": "x", "colour": "red"}, "colour"),
        ({"kind": "crawl", "path": "no/such/collection"}, "no/such/collection"),
        ({"kind": "journal", "path": "no/such/collection"}, "no/such/collection"),
        ({"kind": "web"}, "in the lab only"),
    ],
)
def test_bad_services_are_refused_with_one_line(table: dict[str, object], said: str) -> None:
    with pytest.raises(TopicError, match=said.replace("{", r"\{")) as refused:
        make_service(table, Within(http=ServiceHttp(object())))  # type: ignore[arg-type]
    assert "\n" not in str(refused.value)


def hit(number: int) -> Ask:
    url = f"https://hit{number}.example/"
    return Ask("page", Topic("owls"), Page(url=url, id=number))


def with_service(service: BacklinkService, *, backlink_budget: int) -> Backlinks:
    source = Backlinks(on_pages=True, clock=VirtualClock(), backlink_budget=backlink_budget)
    source._service = Rationed(service, VirtualClock())
    return source


@pytest.mark.realtime
async def test_backlink_mode_stays_within_its_budget_across_a_resume() -> None:
    service = Counting(remote=False)
    source = with_service(service, backlink_budget=3)
    answers = [await source.suggest(hit(number)) for number in range(2)]
    assert answers[0].suggestions[0].reason == "links to https://hit0.example/"
    events = [
        Event(
            number,
            0.0,
            "suggest",
            "",
            {"source": "backlinks", "requests": one.requests, "urls": [], "reasons": []},
        )
        for number, one in enumerate(answers)
    ]
    resumed = with_service(service, backlink_budget=3)
    resumed.recall(events)
    left = [await resumed.suggest(hit(number)) for number in range(2, 5)]
    assert [one.requests for one in left] == [1, 0, 0]
    assert "budget of 3 requests is spent" in left[1].note
    assert len(service.asked) == 3


def test_occasions_follow_the_mode(tmp_path: Path) -> None:
    assert Backlinks(clock=VirtualClock()).occasions == frozenset()
    assert Backlinks(clock=VirtualClock(), on_pages=True).occasions == {"page"}
    with pytest.raises(ValueError, match="must not be"):
        Backlinks(clock=VirtualClock(), layer_cap=0)


class Reading:
    """A set-up over a made-up web where every page has the parents `url/0`, `url/1`, ..."""

    seed = 0

    def __init__(self, seeds: int) -> None:
        self.topic = Topic("owls")
        self.examples = Examples(
            positives=tuple(Document("owl", url=f"https://s{i}.example/") for i in range(seeds))
        )
        self.recorded: list[str] = []

    async def read(self, urls: Sequence[str]) -> dict[str, Document]:
        return {url: Document(url, url=url) for url in urls if not url.endswith("/2/")}

    def record(self, source: str, url: str, answer: object) -> None:
        self.recorded.append(url)

    def learned(self, source: str, facts: dict[str, object]) -> None:
        pass

    def now(self) -> float:
        return 0.0


class Noting(Reading):
    def record(self, source: str, url: str, answer: object) -> None:
        self.recorded.append(str(getattr(answer, "note", "")))


async def test_without_a_service_the_journal_says_that_nobody_was_asked() -> None:
    setup = Noting(2)
    assert await Backlinks(clock=VirtualClock()).prepare(setup) is setup.examples
    assert len(setup.recorded) == 1
    assert "nobody was asked" in setup.recorded[0]


class Branching(Counting):
    async def parents(self, url: str, limit: int) -> Parents:
        self.asked.append(url)
        return Parents(tuple(f"{url}{i}/" for i in range(3))[:limit], 1)


async def grown(setup: Reading, **limits: int) -> ContextGraph:
    service = Rationed(Branching(remote=False), VirtualClock())
    return await context_graph(setup, service, GraphLimits(**limits), source="backlinks")


async def test_context_graph_layer_by_layer() -> None:
    setup = Reading(2)
    graph = await grown(setup, depth=2)
    # Every third page cannot be read, and stands in no layer.
    assert [len(layer) for layer in graph.layers] == [2, 4, 8]
    assert graph.depth == 2
    assert not graph.sampled
    assert (graph.requests, graph.fetched) == (6, 6 + 12)
    assert setup.recorded[:2] == ["https://s0.example/", "https://s1.example/"]
    for below, layer in zip(graph.layers, graph.layers[1:], strict=False):
        for node in layer:
            child = graph.documents[below[node.below].document].url
            assert graph.documents[node.document].url.startswith(child)


async def test_limits_leave_every_layer_its_share() -> None:
    graph = await grown(Reading(2), depth=3, pages=12, requests=100)
    assert graph.fetched <= 12
    assert len(graph.layers) == 4, "the outer layers were not starved by the first"
    assert graph.sampled
    assert any("too few to read" in said for said in graph.notes)
    few = await grown(Reading(5), depth=2, requests=4)
    assert few.requests <= 4
    assert any("too few to ask" in said for said in few.notes)
    capped = await grown(Reading(1), depth=3, layer_cap=2)
    assert max(len(layer) for layer in capped.layers) <= 2
    assert capped.sampled
    assert (await grown(Reading(5), depth=2, requests=4)) == few


async def test_examples_from_files_have_no_backlinks() -> None:
    setup = Reading(0)
    setup.examples = Examples(positives=(Document("owl"),))
    graph = await grown(setup)
    assert [len(layer) for layer in graph.layers] == [1]
    assert graph.depth == 0
    assert setup.recorded == []
