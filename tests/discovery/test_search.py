from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback import recording

from honeyguide.discovery.base import Ask, suggest_data
from honeyguide.discovery.search import Hits, MetaSearch, SearchResult
from honeyguide.discovery.search.collection_engine import CollectionEngine
from honeyguide.discovery.search.engines import Within, make_engines
from honeyguide.discovery.search.fusion import reciprocal_rank_fusion
from honeyguide.discovery.search.http_engine import HttpEngine
from honeyguide.discovery.search.proposals import propose_seeds
from honeyguide.discovery.search.queries import different_words, draw_query, log_terms, topic_terms
from honeyguide.discovery.search.rationed import RationedEngine
from honeyguide.discovery.search.searxng import Searxng
from honeyguide.engine.clock import VirtualClock
from honeyguide.engine.live import ServiceHttp
from honeyguide.errors import TopicError
from honeyguide.fetch.egress import EgressGuard
from honeyguide.fetch.http import HttpFetcher
from honeyguide.fetch.options import FetchOptions
from honeyguide.lab.webs.served import Served
from honeyguide.model import Document, Event, Examples, Topic

EXAMPLES = Examples(keywords=("owl", "barn owl", "nest", "feather", "prey"))


def fetching(port: int) -> HttpFetcher:
    options = FetchOptions(connect_to={"*.example": f"127.0.0.1:{port}"}, deadline=3.0)
    return HttpFetcher(options, clock=lambda: 0.0, guard=EgressGuard())


def answering(value: object, status: int = 200) -> Served:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return Served(status, (("Content-Type", "application/json"),), body)


class Fixed:
    """An engine that says what it was told to say."""

    remote = False
    rate = 0.0

    def __init__(self, name: str, answer: Callable[[str], Hits]) -> None:
        self.name = name
        self.asked: list[str] = []
        self._answer = answer

    async def search(self, query: str, limit: int) -> Hits:
        self.asked.append(query)
        return self._answer(query)


def test_fusion_by_hand() -> None:
    fused = reciprocal_rank_fusion(
        {
            "a": [
                SearchResult("https://x.example/1", "One"),
                SearchResult("https://x.example/2"),
                SearchResult("javascript:alert(1)"),
            ],
            "b": [
                SearchResult("HTTPS://X.example:443/2#part", "Two"),
                SearchResult("https://x.example/3"),
                SearchResult("https://x.example/2"),
            ],
        }
    )
    assert [one.url for one in fused] == [
        "https://x.example/2", "https://x.example/1", "https://x.example/3",
    ]  # fmt: skip
    assert fused[0].ranks == {"a": 2, "b": 1}
    assert fused[0].score == pytest.approx(1 / 62 + 1 / 61)
    assert fused[0].title == "Two"
    assert reciprocal_rank_fusion({}) == []


@pytest.mark.realtime
@pytest.mark.parametrize("url", ["http://searx.example/", "http://searx.example/search"])
async def test_searxng_is_asked_for_json(url: str) -> None:
    results = {"results": [{"url": "https://one.example/", "title": "One"}, {"no": "url"}, {"url": 3}, 7]}
    async with recording(lambda url: answering(results)) as server, fetching(server.port) as fetcher:
        engine = Searxng(ServiceHttp(fetcher), url=url, engines=("a", "b"), language="en")
        found = await engine.search("barn owl & mice", 10)
    assert found == Hits((SearchResult("https://one.example/", "One"),), requests=1)
    assert server.urls == [
        "http://searx.example/search?q=barn+owl+%26+mice&format=json&engines=a%2Cb&language=en"
    ]


@pytest.mark.realtime
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (answering(b"<html>please enable cookies"), "not JSON"),
        (answering({"answers": []}), "no results"),
        (answering([1, 2]), "no results"),
        (answering({}, 403), "add json to search.formats"),
        (answering({}, 429), "HTTP 429"),
        (answering({}, 302), "HTTP 302"),
        (answering(b"[" * 100_000), "not JSON"),
        (None, "HTTP 404"),
    ],
)
async def test_rubbish_is_a_note_and_no_crash(answer: Served | None, said: str) -> None:
    async with recording(lambda url: answer) as server, fetching(server.port) as fetcher:
        found = await Searxng(ServiceHttp(fetcher), url="http://searx.example").search("owl", 10)
    assert found.failed
    assert said in found.note
    assert found.requests == 1


@pytest.mark.realtime
async def test_an_instance_on_this_machine_needs_its_network_opened() -> None:
    async with recording(lambda url: answering({"results": []})) as server:
        plain = HttpFetcher(FetchOptions(deadline=3.0), clock=lambda: 0.0, guard=EgressGuard())
        async with plain as fetcher:
            found = await Searxng(ServiceHttp(fetcher), url=f"http://127.0.0.1:{server.port}").search(
                "owl", 5
            )
        assert found.failed
        assert "not a public address" in found.note
        assert server.urls == []


@pytest.mark.realtime
async def test_any_engine_by_template_path_and_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWL_KEY", "geheim")
    values = {
        "web": {"results": [{"url": "https://a.example/"}, {"url": None}, {"url": "https://b.example/"}]}
    }
    async with recording(lambda url: answering(values)) as server, fetching(server.port) as fetcher:
        engine = HttpEngine(
            ServiceHttp(fetcher),
            template="http://api.example/search?q={query}&count={limit}",
            path="web.results.*.url",
            key_env="OWL_KEY",
            key_header="X-Token",
        )
        found = await engine.search("barn/owl?", 7)
        lost = HttpEngine(ServiceHttp(fetcher), template="http://api.example/{query}", path="items.*.link")
        nothing = await lost.search("owl", 7)
    assert [hit.url for hit in found.hits] == ["https://a.example/", "https://b.example/"]
    assert server.urls[0] == "http://api.example/search?q=barn%2Fowl%3F&count=7"
    assert b"X-Token: geheim" in server.heads[0]
    assert nothing.failed
    assert "nothing at items.*.link" in nothing.note


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"kind": "http", "template": "http://a.example/", "path": "x"}, "does not name {query}"),
        ({"kind": "http", "template": "http://a.example/{query}{bad}", "path": "x"}, "unknown {bad}"),
        ({"kind": "http", "template": "http://a.example/{query}{", "path": "x"}, "bad template"),
        ({"kind": "http", "template": "http://a.example/{query}", "path": "x", "key_env": "K"}, "give both"),
        (
            {
                "kind": "http",
                "template": "http://a.example/{query}{key}",
                "path": "x",
                "key_env": "NO_SUCH_KEY",
            },
            "the environment has no NO_SUCH_KEY",
        ),
        ({"kind": "searxng", "url": "not an address"}, "not a valid URL"),
        ({"kind": "searxng"}, "url"),
        ({"kind": "searxng", "url": "http://a.example", "rate": 0}, "rate"),
        ({"kind": "gopher"}, "kinds are"),
        ({"url": "http://a.example"}, "names no kind"),
        ({"kind": "collection", "path": "/nowhere/at/all"}, "collection"),
        ("web", "in the lab only"),
    ],
)
def test_engines_that_cannot_be_made(table: Any, said: str) -> None:
    with pytest.raises(TopicError) as caught:
        make_engines([table], Within(http=object()))  # type: ignore[arg-type]
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_two_engines_of_a_kind_get_names_of_their_own() -> None:
    tables = [{"kind": "searxng", "url": f"http://{name}.example"} for name in "ab"]
    made = make_engines(tables, Within(http=object()))  # type: ignore[arg-type]
    assert [engine.name for engine in made] == ["searxng", "searxng-2"]


async def test_engines_are_rationed_and_remembered() -> None:
    clock = VirtualClock(100.0)
    engine = Fixed("slow", lambda query: Hits((SearchResult("https://a.example/"),), requests=1))
    engine.remote, engine.rate = True, 0.5
    rationed = RationedEngine(engine, clock)
    for query in ("owl", "nest", "owl"):
        await rationed.search(query, 10)
    assert engine.asked == ["owl", "nest"]
    assert clock.now() == 102.0
    assert (await rationed.search("owl", 10)).requests == 0


async def test_a_failing_engine_is_left_alone_after_three_times() -> None:
    engine = Fixed("down", lambda query: Hits(requests=1, note="connection refused", failed=True))
    rationed = RationedEngine(engine, VirtualClock())
    for number in range(5):
        await rationed.search(f"owl {number}", 10)
    assert len(engine.asked) == 3
    assert rationed.given_up
    patient = Fixed("busy", lambda query: Hits(requests=1, note="429", failed=True, retry_after=3600.0))
    rationed = RationedEngine(patient, VirtualClock())
    await rationed.search("owl", 10)
    assert "too soon" in (await rationed.search("owl", 10)).note
    assert patient.asked == ["owl"]


def test_query_logs(tmp_path: Path) -> None:
    log = tmp_path / "queries.txt"
    log.write_bytes(b"barn owl\n\n   \nthe owl\r\n\xff\xfe nests\n" + b"x" * 5000 + b"\n")
    assert log_terms(log) == ("barn", "owl", "nests")
    for text in ("", "\n\n\n", "the and of\n"):
        log.write_text(text)
        with pytest.raises(TopicError, match="holds no word"):
            log_terms(log)
    with pytest.raises(TopicError, match="correct its path"):
        log_terms(tmp_path / "none.txt")


def test_terms_of_a_topic() -> None:
    assert topic_terms(EXAMPLES) == EXAMPLES.keywords
    assert different_words(["Owls & owls", "The"], ("en",)) == ("owls",)
    documents = tuple(Document(f"page {n} about pellets", "Owl pellets") for n in range(4))
    found = topic_terms(Examples(keywords=("owl",), positives=documents))
    assert found[:2] == ("owl", "pellets")
    assert "page" not in found[:2]
    assert topic_terms(Examples()) == ()


def test_queries_are_seeded_and_of_one_to_three_terms() -> None:
    terms = [f"t{number}" for number in range(50)]
    drawn = [draw_query(terms, random.Random(f"1 {number}")) for number in range(200)]
    assert {len(query.split()) for query in drawn} == {1, 2, 3}
    assert len(set(drawn)) > 150
    assert drawn == [draw_query(terms, random.Random(f"1 {number}")) for number in range(200)]


class Everything:
    """A lab's `web` that finds ten pages for any query."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def search(self, query: str, limit: int = 10) -> list[Document]:
        self.asked.append(query)
        words = query.replace(" ", "-")
        return [Document("", f"{query} {n}", f"https://{words}.example/{n}") for n in range(limit)]


def asking(
    occasion: str, *, pages: int = 100, waiting: int = 5, seeds: tuple[str, ...] = ("https://s.example/",)
) -> Ask:
    return Ask(occasion, Topic("owls", seeds=seeds), None, pages, waiting)


async def test_the_source_asks_when_it_is_time() -> None:
    web = Everything()
    source = MetaSearch(examples=EXAMPLES, clock=VirtualClock(), web=web, every=50)
    found = await source.suggest(asking("every"))
    assert len(found.suggestions) == 10
    assert found.requests == 1
    assert found.note == f"query {web.asked[0]!r} (web: 10)"
    assert found.suggestions[0].reason == f"found by {web.asked[0]!r} (web 1)"
    assert (await source.suggest(asking("start"))).note == ""
    assert len((await source.suggest(asking("start", seeds=()))).suggestions) > 10
    assert (await source.suggest(asking("low", pages=101))).note == ""
    assert (await source.suggest(asking("low", pages=110))).suggestions
    assert len((await source.suggest(asking("low", pages=101, waiting=0))).note.split("; ")) == 3


async def test_a_resumed_source_goes_on_with_the_same_queries() -> None:
    whole, parts = Everything(), Everything()
    source = MetaSearch(examples=EXAMPLES, clock=VirtualClock(), web=whole, seed=3)
    journal: list[Event] = []
    for number in range(6):
        answer = await source.suggest(asking("low", waiting=0) if number == 2 else asking("every"))
        journal.append(Event(number + 1, 0.0, "suggest", "", suggest_data("meta-search", answer, new=1)))
        if number < 3:
            parts.asked = list(whole.asked)
    resumed = MetaSearch(examples=EXAMPLES, clock=VirtualClock(), web=parts, seed=3)
    resumed.recall([*journal[:3], Event(9, 0.0, "suggest", "", {"source": "backlinks", "note": "query 'x'"})])
    for _ in range(3):
        await resumed.suggest(asking("every"))
    assert parts.asked == whole.asked


async def test_the_budget_and_missing_engines_are_told_once() -> None:
    source = MetaSearch(examples=EXAMPLES, clock=VirtualClock(), web=Everything(), budget=2)
    for _ in range(2):
        assert (await source.suggest(asking("every"))).suggestions
    spent = await source.suggest(asking("every"))
    assert spent.failed
    assert "budget of 2" in spent.note
    assert (await source.suggest(asking("every"))).note == ""
    alone = MetaSearch(examples=EXAMPLES, clock=VirtualClock())
    assert "no search engine is named" in (await alone.suggest(asking("every"))).note
    wordless = MetaSearch(examples=Examples(), clock=VirtualClock(), web=Everything())
    assert "no words to search for" in (await wordless.suggest(asking("every"))).note


async def test_seeds_from_words_alone() -> None:
    sites = [f"https://site{n}.org/" for n in range(6)]
    good = Fixed("good", lambda query: Hits(tuple(SearchResult(url) for url in sites), requests=1))
    spam = Fixed(
        "spam", lambda query: Hits(tuple(SearchResult(f"https://spam.net/{n}") for n in range(9)), requests=1)
    )
    down = Fixed("down", lambda query: Hits(requests=1, note="refused", failed=True))
    engines = [RationedEngine(engine, VirtualClock()) for engine in (good, spam, down)]
    found = await propose_seeds(engines, EXAMPLES.keywords, queries=6, count=8)
    assert len(found.asked) == 6
    assert good.asked[:3] == list(EXAMPLES.keywords[:3])
    assert len(down.asked) == 3
    urls = [one.url for one in found.seeds]
    assert set(sites) < set(urls)
    assert sum("spam.net" in url for url in urls) == 2
    assert not found.failed
    nobody = await propose_seeds([RationedEngine(down, VirtualClock())], EXAMPLES.keywords)
    assert nobody.failed
    assert nobody.seeds == ()


def test_a_collection_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(TopicError, match="engine 'collection'"):
        CollectionEngine(path=str(tmp_path))


def test_words_of_the_site_are_not_searched_for() -> None:
    """A footer that stands on all pages of a site is no word of the topic, however rare its words are."""
    footer = "Published under the Zanzibar licence by Quuxcorp"
    owls = tuple(
        Document(f"The owl hunts {prey} from its roost. {footer}") for prey in ("mice", "voles", "rats")
    )
    others = tuple(Document(f"On {theme}. {footer}") for theme in ("taxes", "roads", "bread", "cement"))
    assert "quuxcorp" in topic_terms(Examples(positives=owls))
    told = topic_terms(
        Examples(keywords=("barn owl",), positives=owls, negatives=others[:2], unlabelled=others)
    )
    assert told[0] == "barn owl"
    assert "roost" in told
    assert not {"quuxcorp", "zanzibar", "licence"} & set(told)


def test_examples_fill_up_to_a_dozen_terms() -> None:
    words = " ".join(f"word{letter}" for letter in "abcdefghijklmnopqrst")
    positives = (Document(words), Document(words))
    keywords = tuple(f"key{letter}" for letter in "abcdefgh")
    assert len(topic_terms(Examples(positives=positives))) == 12
    assert len(topic_terms(Examples(keywords=keywords, positives=positives))) == 12
