"""The Context Focused Crawler in the engine: set-up, queues, backlink mode, bootstrap, resume, failures."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from crawls import TOPIC_NAME, WEB, Index, finish, journal, linking, small_topic
from loopback import Recorder, config_for, page, recording

from honeyguide.cli.topic_context import context
from honeyguide.collection.collection import Collection
from honeyguide.config.load import changed
from honeyguide.engine.clock import VirtualClock
from honeyguide.job.crawl import Crawl
from honeyguide.lab.webs.generated import GeneratedFetcher
from honeyguide.lab.webs.generated.walk import examples
from honeyguide.lab.webs.served import Served
from honeyguide.model import Event, Examples, Topic


def topic() -> Topic:
    return msgspec.structs.replace(small_topic(), examples=tuple(examples(WEB, TOPIC_NAME, 6)))


def context_crawl(
    out: Path | None,
    recipe: str,
    pages: int,
    *,
    web: object = None,
    discovery: Any = None,
    **relevance: object,
) -> Crawl:
    clock = VirtualClock()
    config = Crawl(topic(), recipe=recipe, max_pages=pages).config
    sources = discovery or [{"source": "backlinks", "layer_cap": 6, "on_pages": recipe == "cfc-backlinks"}]
    tables: dict[str, dict[str, object]] = {"relevance": relevance} if relevance else {}
    if recipe != "cfc-bootstrap":
        config = changed(config, tables, discovery=sources)
    elif tables:
        config = changed(config, tables)
    services = {"web": web} if web is not None else None
    return Crawl(config, out=out, clock=clock, fetcher=GeneratedFetcher(WEB, clock), services=services)


def kinds(events: list[Event]) -> Counter[str]:
    return Counter(event.kind for event in events)


async def test_the_set_up_is_kept_with_the_collection_and_told_by_why(tmp_path: Path) -> None:
    events = await finish(context_crawl(tmp_path / "c", "cfc", 40, web=Index()))
    learned = next(event for event in events if event.kind == "learned")
    layers = learned.data["layers"]
    assert isinstance(layers, list)
    assert layers[0] == 6
    assert all(layers[1:])
    kept = msgspec.json.decode((tmp_path / "c" / "prepared.json").read_bytes(), type=Examples)
    assert kept.context is not None
    assert [len(layer) for layer in kept.context.layers] == layers
    for below, layer in zip(kept.context.layers, kept.context.layers[1:], strict=False):
        for node in layer:
            child = kept.context.documents[below[node.below].document]
            assert kept.context.documents[node.document].url in linking()[child.url]
            assert below[node.below].seed == node.seed
    with Collection.open(tmp_path / "c") as collection:
        urls = [one.url for one in collection.pages(relevant=None)]
        stories = [collection.why(url) for url in urls]
    assert all({"layer", "log_likelihood"} <= story.facts.keys() for story in stories)
    linked = [story for story in stories if story.factors]
    assert linked
    assert all({"layer", "log likelihood"} == story.factors.keys() for story in linked)


@pytest.mark.parametrize("recipe", ["cfc-backlinks", "cfc-bootstrap"])
async def test_stop_and_resume_give_the_same_journal(tmp_path: Path, recipe: str) -> None:
    options: dict[str, object] = (
        {"bootstrap_targets": 3, "confidence": 0.0} if recipe == "cfc-bootstrap" else {}
    )
    whole, parts = Index(), Index()
    events = await finish(context_crawl(tmp_path / "once", recipe, 90, web=whole, **options))
    for pages in (35, 60, 90):
        await finish(context_crawl(tmp_path / "parts", recipe, pages, web=parts, **options))
    assert kinds(events)["page"] == 90
    assert journal(tmp_path / "once") == journal(tmp_path / "parts")
    assert whole.questions == parts.questions, "a resumed crawl asks nothing again"


async def test_bootstrap_builds_graphs_from_its_own_links(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    crawl = context_crawl(tmp_path / "c", "cfc-bootstrap", 150, bootstrap_targets=5, confidence=0.0)
    events = await finish(crawl)
    assert crawl.crawler is not None
    assert crawl.crawler.model.generation >= 1  # type: ignore[attr-defined]
    assert any(event.kind == "reorder" and event.data["changed"] for event in events)
    with Collection.open(tmp_path / "c") as collection:
        layers = Counter(int(one.facts["layer"]) for one in collection.pages(relevant=None))
    assert layers.keys() > {0, 5}, "pages were put in layers that the crawl itself taught"
    context(tmp_path / "c", json=True)
    told = json.loads(capsys.readouterr().out)["own layers"]
    assert [row["layer"] for row in told] == [0, 1, 2, 3, 4]
    assert told[1]["places"]
    assert told[1]["terms"]


async def test_a_crawl_is_repeated_from_its_journal_without_asking(tmp_path: Path) -> None:
    index = Index()
    first = await finish(context_crawl(tmp_path / "first", "cfc-backlinks", 60, web=index))
    assert index.questions
    service = {"kind": "journal", "path": str(tmp_path / "first")}
    sources = [{"source": "backlinks", "layer_cap": 6, "on_pages": True, "service": service}]
    again = await finish(context_crawl(tmp_path / "again", "cfc-backlinks", 60, discovery=sources))
    assert [e.url for e in again if e.kind == "page"] == [e.url for e in first if e.kind == "page"]


async def test_an_earlier_collection_serves_as_backlink_source(tmp_path: Path) -> None:
    await finish(context_crawl(tmp_path / "first", "cfc-bootstrap", 250))
    service = {"kind": "crawl", "path": str(tmp_path / "first")}
    events = await finish(
        context_crawl(None, "cfc", 20, discovery=[{"source": "backlinks", "service": service}])
    )
    learned = next(event for event in events if event.kind == "learned")
    assert len(learned.data["layers"]) > 1  # type: ignore[arg-type]


PAGES = {
    "http://a.example/": page("http://b.example/", "/2"),
    "http://a.example/2": page("http://b.example/"),
    "http://b.example/": page("/owl"),
    "http://b.example/owl": page(text="the barn owl hunts mice at night and nests in barns"),
}
TROUBLES = {
    "down": lambda url: Served(503, ()),
    "rubbish": lambda url: Served(200, (), b"\x00\xff<html>"),
    "rate-limited": lambda url: Served(429, (("Retry-After", "7200"),)),
    "lying": lambda url: Served(200, (), json.dumps({"rows": ["javascript:1", 5, "http://"]}).encode()),
}


@pytest.mark.realtime
@pytest.mark.parametrize("trouble", TROUBLES)
async def test_the_crawl_goes_on_without_a_service_in_trouble(tmp_path: Path, trouble: str) -> None:
    def write(url: str) -> Served | None:
        return TROUBLES[trouble](url) if url.startswith("http://links.example/") else PAGES.get(url)

    service = {"kind": "http", "template": "http://links.example/?u={url}", "path": "rows.*"}
    async with recording(write) as server:
        config = _config(server, service)
        events = await finish(Crawl(config, out=tmp_path / "c"))
        asked = [url for url in server.urls if url.startswith("http://links.example/")]
    assert {event.url for event in events if event.kind == "page"} == set(PAGES)
    assert 1 <= len(asked) <= 8, "a service in trouble is not asked for ever"
    warned = [event for event in events if event.kind == "warning"]
    assert bool(warned) == (trouble != "lying")
    assert all(event.data["source"] == "backlinks" and event.data["note"] for event in warned)


def _config(server: Recorder, service: Mapping[str, object]) -> Any:
    return changed(
        config_for(["http://a.example/"], server.connect_to),
        {
            "topic": {"examples": ["http://b.example/owl", "http://b.example/"]},
            "crawl": {"recipe": "cfc-backlinks"},
            "relevance": {"least_features": 1, "target_quantile": 0.0},
        },
        discovery=[{"source": "backlinks", "service": service, "on_pages": True}],
    )


@pytest.mark.realtime
async def test_parents_from_a_live_service_are_fetched(tmp_path: Path) -> None:
    def write(url: str) -> Served | None:
        if url.startswith("http://links.example/"):
            return Served(200, (), json.dumps({"rows": ["http://hub.example/"]}).encode())
        return page("http://b.example/owl") if url == "http://hub.example/" else PAGES.get(url)

    service = {"kind": "http", "template": "http://links.example/?u={url}", "path": "rows.*", "rate": 1000.0}
    async with recording(write) as server:
        events = await finish(Crawl(_config(server, service), out=tmp_path / "c"))
    assert "http://hub.example/" in {event.url for event in events if event.kind == "page"}
    assert any(
        event.kind == "suggest" and "http://hub.example/" in event.data["urls"]  # type: ignore[operator]
        for event in events
        if not event.url
    )
