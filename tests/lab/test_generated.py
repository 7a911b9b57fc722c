from __future__ import annotations

import gzip
import subprocess
import sys
from collections import Counter
from itertools import islice
from urllib.parse import urljoin

import pytest
from selectolax.lexbor import LexborHTMLParser

from honeyguide.errors import HoneyguideError
from honeyguide.fetch.base import Failure, Request, Response
from honeyguide.lab.measures.oracle import oracle
from honeyguide.lab.webs.generated import (
    BENCHMARK,
    TEN_MILLION,
    GeneratedFetcher,
    GeneratedWeb,
    WebSpec,
)
from honeyguide.lab.webs.generated.draws import Draws, fingerprint
from honeyguide.lab.webs.served import Served
from honeyguide.model import Outcome

TOPIC = "beekeeping"


@pytest.fixture(scope="module")
def demo() -> GeneratedWeb:
    return GeneratedWeb()


@pytest.fixture(scope="module")
def links(demo: GeneratedWeb) -> dict[str, list[str]]:
    return demo.graph(demo.seeds(TOPIC, distance=2))


def body(web: GeneratedWeb, url: str) -> bytes:
    answer = web.get(url)
    packed = ("Content-Encoding", "gzip") in answer.headers
    return gzip.decompress(answer.body) if packed else answer.body


def sampled(web: GeneratedWeb, step: int) -> list[str]:
    return list(islice(web.pages(), 0, None, step))


def with_role(web: GeneratedWeb, role: str) -> str:
    return next(host for host in web.hosts() if web.role(host) == role)


DIGEST = """
import hashlib, itertools
from honeyguide.lab.webs.generated import GeneratedWeb, WebSpec
web = GeneratedWeb(WebSpec(gzip=0.0))
total = hashlib.sha256()
for url in itertools.islice(web.pages(), 0, None, 97):
    total.update(url.encode() + web.get(url).body)
print(total.hexdigest())
"""


def test_equal_in_every_process() -> None:
    """Two other processes with other hash seeds write the same bytes as the pinned ones."""
    found = {
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            check=True,
            text=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert found == {PINNED}


PINNED = "0865e668455299f15a0db2ae97bc85ea0f443aa943a0531429dc07079f1da42c"


def test_draws_are_pinned() -> None:
    draws = Draws(1)
    assert [draws.next() for _ in range(3)] == [1703187448, 629176695, 2717318081]
    assert fingerprint(1, 2, 3) == 2806482627441532945
    assert sorted(Draws(3).shuffled(50)) == list(range(50))
    assert 0.27 < sum(Draws(n).chance(0.3) for n in range(3000)) / 3000 < 0.33


def test_another_seed_is_another_web(demo: GeneratedWeb) -> None:
    other = GeneratedWeb(WebSpec(seed=2))
    assert not set(demo.hosts()) & set(other.hosts())


def test_size_and_structure_of_the_demo(demo: GeneratedWeb) -> None:
    originals = [host for host in demo.hosts() if demo.role(host) != "mirror"]
    sizes = Counter(url.split("/")[2] for url in demo.pages())
    assert len(demo.hosts()) == 120
    assert sum(sizes[host] for host in originals) == 8_000
    ranked = sorted((sizes[host] for host in originals), reverse=True)
    assert ranked[0] > 8 * ranked[len(ranked) // 2]
    roles = Counter(demo.role(host) for host in demo.hosts())
    wanted = {"tunnelled": 14, "mirror": 6, "redirecting": 7, "slow": 5, "failing": 5, "closed": 2, "maze": 2}
    assert {role: roles[role] for role in wanted} == wanted
    assert len(set(demo.pages())) == sum(sizes.values())


def test_out_links_are_the_links_of_the_html(demo: GeneratedWeb, links: dict[str, list[str]]) -> None:
    special = [
        f"http://{with_role(demo, role)}/" for role in ("calendar", "session", "facets", "path", "maze")
    ]
    traps = [link for url in special for link in demo.out_links(url) if demo.truth(link).kind == "trap"]
    tunnels = [url for url in links if demo.truth(url).kind == "tunnel"][:3]
    assert traps
    assert tunnels
    seen = 0
    for url in [*sampled(demo, 40), *special, *traps, *tunnels]:
        answer = demo.get(url)
        if answer.status != 200 or not demo.truth(url).allowed:
            assert demo.out_links(url) == []
            continue
        tree = LexborHTMLParser(body(demo, url))
        meta = tree.css_first("meta[name=robots]")
        written = []
        for node in tree.css("a[href]"):
            assert node.text().strip()
            if node.attributes.get("rel") != "nofollow":
                written.append(urljoin(url, node.attributes["href"] or ""))
        if meta is not None and "nofollow" in (meta.attributes["content"] or ""):
            written = []
        assert Counter(demo.out_links(url)) == Counter(dict.fromkeys(written, 1)), url
        seen += 1
    assert seen > 150


def test_content_is_about_the_true_topic(demo: GeneratedWeb) -> None:
    """Of all topics' written words, the true topic's are the most frequent in a page's main part."""
    words = {topic: set(demo._words[n].words[:45]) for n, topic in enumerate(demo.topics)}
    right = total = 0
    for url in sampled(demo, 23):
        truth = demo.truth(url)
        if truth.kind != "article" or truth.topic not in words or demo.get(url).status != 200:
            continue
        main = LexborHTMLParser(body(demo, url)).css_first("main")
        assert main is not None
        counts = Counter(main.text(separator=" ").lower().replace(".", " ").replace(",", " ").split())
        score = {topic: sum(counts[word] for word in words[topic]) for topic in words}
        right += max(score, key=lambda topic: score[topic]) == truth.topic
        total += 1
    assert total > 100
    assert right / total > 0.97


def test_truth_shares(demo: GeneratedWeb) -> None:
    kinds: Counter[str] = Counter()
    for url in sampled(demo, 7):
        truth = demo.truth(url)
        kinds[truth.kind] += 1
        if truth.shares:
            assert sum(truth.shares.values()) == pytest.approx(1.0)
        if truth.kind in ("article", "hub", "section"):
            assert truth.on_topic(truth.topic)
    assert {"home", "section", "article", "hub", "failing"} <= kinds.keys()
    multi = [url for url in sampled(demo, 7) if len(demo.truth(url).shares) > 1]
    assert len(multi) > 200


def test_topical_locality(demo: GeneratedWeb) -> None:
    same = other = 0
    for url in islice(demo.targets(TOPIC), 0, None, 5):
        for link in demo.out_links(url):
            truth = demo.truth(link)
            if truth.kind in ("article", "hub"):
                same, other = same + truth.on_topic(TOPIC), other + (not truth.on_topic(TOPIC))
    assert 0.5 < same / (same + other) < 0.8


def test_targets_answer_and_are_on_topic(demo: GeneratedWeb) -> None:
    for topic in demo.topics:
        found = list(demo.targets(topic))
        assert len(found) == len(set(found)) > 400
        for url in found[::20]:
            truth = demo.truth(url)
            assert truth.on_topic(topic)
            assert truth.allowed
            assert truth.indexable
            assert not truth.original
            assert demo.get(url).status == 200
    pages = [
        url for url in demo.pages() if (t := demo.truth(url)).on_topic(TOPIC) and t.allowed and t.indexable
    ]
    originals = {url for url in pages if not demo.truth(url).original}
    assert originals == set(demo.targets(TOPIC))


def test_nearly_all_targets_are_reachable_and_breadth_first_is_far_from_ideal(
    demo: GeneratedWeb, links: dict[str, list[str]]
) -> None:
    start = demo.seeds(TOPIC, distance=2)
    targets = set(demo.targets(TOPIC))
    reach = targets & links.keys()
    assert len(reach) > 0.98 * len(targets)
    early = sum(url in targets for url in islice(links, 1_000)) / len(reach)
    best = oracle(links, targets, start)
    assert early < 0.2
    assert best.reachable == len(reach)
    assert len(best.order) < 1.15 * len(reach)


def test_reachable_in_a_small_web() -> None:
    web = GeneratedWeb(WebSpec(hosts=30, pages=600, topics=5))
    start = web.seeds(TOPIC)
    assert web.reachable(TOPIC, start) == set(web.targets(TOPIC)) & web.graph(start).keys()
    assert web.reachable(TOPIC, ["http://unknown.example/"]) == set()


def test_seeds_are_as_far_as_asked(demo: GeneratedWeb) -> None:
    for url in demo.seeds(TOPIC, distance=1):
        assert not demo.truth(url).on_topic(TOPIC)
        assert any(demo.truth(link).on_topic(TOPIC) for link in demo.out_links(url))
    far = demo.seeds(TOPIC, distance=2)
    assert len(far) == 5
    for url in far:
        assert not any(demo.truth(link).on_topic(TOPIC) for link in demo.out_links(url))
    assert all(demo.truth(url).on_topic(TOPIC) for url in demo.seeds(TOPIC, distance=0))


def test_keywords_and_examples(demo: GeneratedWeb) -> None:
    assert demo.keywords(TOPIC)[:3] == ["beekeeping", "hive", "honey"]
    found = demo.examples(TOPIC, 6)
    assert len({url.split("/")[2] for url in found}) == 6
    assert all(demo.truth(url).on_topic(TOPIC) for url in found)
    with pytest.raises(HoneyguideError, match="take one of beekeeping"):
        demo.keywords("golf")


def test_tunnels_are_the_only_way_in(demo: GeneratedWeb, links: dict[str, list[str]]) -> None:
    hidden = {host for host in demo.hosts() if demo.role(host) == "tunnelled"}
    lengths = set()
    for host in hidden:
        outside = [
            url for url, out in links.items() if url.split("/")[2] != host and f"http://{host}/" in out
        ]
        assert outside
        assert {demo.truth(url).kind for url in outside} == {"tunnel"}
        assert not any(demo.truth(url).on_topic(topic) for url in outside for topic in demo.topics)
        assert {url.rpartition("-")[2] for url in outside} == {"1.html"}
        lengths.add(demo._sites.by_name[host].tunnel)
    assert lengths == {1, 2, 3}


@pytest.mark.parametrize("role", ["calendar", "facets", "path", "maze"])
def test_traps_have_no_end_and_are_never_on_topic(demo: GeneratedWeb, role: str) -> None:
    host = with_role(demo, role)
    level = [url for url in demo.out_links(f"http://{host}/") if demo.truth(url).kind == "trap"]
    seen: set[str] = set()
    for _ in range(40):
        assert level, "the trap came to an end"
        url = level[0]
        seen.add(url)
        assert demo.get(url).status == 200
        assert not any(demo.truth(url).on_topic(topic) for topic in demo.topics)
        level = [link for link in demo.out_links(url) if demo.truth(link).kind == "trap" and link not in seen]
    assert len(seen) == 40


def test_session_links_change_at_every_step(demo: GeneratedWeb) -> None:
    names = set()
    for host in (host for host in demo.hosts() if demo.role(host) == "session"):
        url, seen = f"http://{host}/", set()
        for _ in range(10):
            url = next(link for link in demo.out_links(url) if "?" in link)
            seen.add(url)
            assert demo.truth(url).original == f"http://{host}/"
        assert len(seen) == 10
        names.add(url.partition("?")[2].partition("=")[0])
    assert names == {"sid", "visit"}


def test_mirrors_are_exact_or_near_copies(demo: GeneratedWeb, links: dict[str, list[str]]) -> None:
    mirrors = {host for host in demo.hosts() if demo.role(host) == "mirror"}
    seen = set()
    for host in sorted(mirrors):
        copy, original = body(demo, f"http://{host}/"), body(demo, demo.truth(f"http://{host}/").original)
        seen.add(copy == original)
        assert abs(len(copy) - len(original)) < 200
    assert seen == {True, False}
    assert mirrors & {link.split("/")[2] for url in islice(links, 1_000) for link in demo.out_links(url)}


def test_redirects_lead_to_pages_or_in_circles(demo: GeneratedWeb) -> None:
    host = with_role(demo, "redirecting")
    statuses = set()
    for number in range(1, 8, 2):
        answer = demo.get(f"http://{host}/go/{number}")
        target = dict(answer.headers)["Location"]
        statuses.add(answer.status)
        assert demo.get(target).status == 200
        assert demo.out_links(f"http://{host}/go/{number}") == [target]
    assert statuses == {301, 302}
    there = dict(demo.get(f"http://{host}/go/loop-a").headers)["Location"]
    assert dict(demo.get(there).headers)["Location"] == f"http://{host}/go/loop-a"
    assert demo.get(f"http://{host}/go/999999999").status == 404


def test_manners_of_hosts(demo: GeneratedWeb) -> None:
    slow, closed = with_role(demo, "slow"), with_role(demo, "closed")
    assert demo.get(f"http://{slow}/").delay == demo.spec.slow_seconds
    assert "Disallow: /\n" in demo.robots(closed)
    assert not demo.truth(f"http://{closed}/").allowed
    broken = [demo.get(url) for url in demo.pages() if demo.role(url.split("/")[2]) == "failing"]
    assert {200, 404, 500} <= {answer.status for answer in broken}
    assert any(answer.behaviour == "reset" for answer in broken)
    assert any("Crawl-delay: 0.25" in demo.robots(host) for host in demo.hosts())
    locked = next(site for site in demo._sites.all if site.locked >= 0)
    slug = locked.slugs[locked.locked]
    assert f"Disallow: /{slug}/" in demo.robots(locked.name)
    assert not demo.truth(f"http://{locked.name}/{slug}/").allowed
    assert demo.get(f"http://{locked.name}/robots.txt").body.decode() == demo.robots(locked.name)
    assert b"<loc>" in demo.get(f"http://{locked.name}/sitemap.xml").body


@pytest.mark.parametrize(
    "tail",
    [
        "/nothing",
        "//",
        "/x/y/z",
        "/go/5",
        "/guide/a-1-1.html",
        "/guide/",
        "/a-٣.html",
        "/mite/item-99999999999.html",
        "?",
    ],
)
def test_odd_urls_never_raise(demo: GeneratedWeb, tail: str) -> None:
    host = next(name for name in demo.hosts() if not demo.role(name))
    answer = demo.get(f"http://{host}{tail}")
    assert answer.status == (200 if tail == "?" else 404)
    assert demo.truth(f"http://{host}{tail}").kind in ("missing", "home")


@pytest.mark.parametrize(
    "url", ["", "http://", "http:///", "https://x.example/", "http://unknown.example/", "mailto:x"]
)
def test_other_hosts_and_schemes_do_not_exist(demo: GeneratedWeb, url: str) -> None:
    assert demo.get(url).status == 502
    assert demo.truth(url).kind == "missing"
    assert demo.out_links(url) == []


def test_port_in_the_url_is_ignored(demo: GeneratedWeb) -> None:
    host = next(name for name in demo.hosts() if not demo.role(name))
    assert demo.get(f"http://{host}:8080/") == demo.get(f"http://{host}/")


def test_sizes_of_pages(demo: GeneratedWeb) -> None:
    articles = [u for u in sampled(demo, 31) if demo.truth(u).kind == "article" and demo.get(u).status == 200]
    assert all(3_000 < len(body(demo, url)) < 30_000 for url in articles)
    web = GeneratedWeb(BENCHMARK)
    large = [url for url in sampled(web, 401) if web.truth(url).kind == "article"]
    sizes = sorted(len(body(web, url)) for url in large)
    assert 20_000 < sizes[len(sizes) // 2] < 60_000
    links = sorted(len(web.out_links(url)) for url in large)
    assert 50 <= links[len(links) // 2] <= 100


def test_ten_million_pages_need_no_storage() -> None:
    web = GeneratedWeb(TEN_MILLION)
    originals = [site for site in web._sites.all if site.role != "mirror"]
    assert sum(site.size for site in originals) == 10_000_000
    assert len(web.topics) == 40
    last = max(originals, key=lambda site: site.size)
    url = f"http://{last.name}{web._addresses.article(last, last.articles - 1).path}"
    assert web.truth(url).kind in ("article", "hub")
    assert web.get(url).status == 200
    assert all(web.get(link).status != 502 for link in web.out_links(url))
    assert len(list(islice(web.targets(web.topics[39]), 50))) == 50


def test_impossible_specs_are_refused() -> None:
    with pytest.raises(HoneyguideError, match="at least 10 hosts"):
        GeneratedWeb(WebSpec(hosts=3))
    with pytest.raises(HoneyguideError, match="lower some"):
        GeneratedWeb(WebSpec(traps=0.5, mirrors=0.5))


class HandClock:
    def __init__(self) -> None:
        self.time = 100.0

    def now(self) -> float:
        return self.time

    def advance(self, seconds: float) -> None:
        self.time += seconds


async def test_fetcher_gives_pages_and_moves_the_clock(demo: GeneratedWeb) -> None:
    clock = HandClock()
    fetcher = GeneratedFetcher(demo, clock, latency=0.1)
    packed = next(u for u in demo.pages() if ("Content-Encoding", "gzip") in demo.get(u).headers)
    response = await fetcher.fetch(Request(packed))
    assert isinstance(response, Response)
    assert gzip.decompress(response.payload) == response.body
    assert response.header("content-type") == "text/html; charset=utf-8"
    assert response.request_head.startswith(b"GET /")
    assert response.response_head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert (response.started_at, response.seconds) == (100.0, 0.1)
    slow = await fetcher.fetch(Request(f"http://{with_role(demo, 'slow')}/"))
    assert slow.seconds == pytest.approx(0.6)
    assert clock.time == pytest.approx(100.7)
    await fetcher.close()


async def test_fetcher_names_failures(demo: GeneratedWeb) -> None:
    clock = HandClock()
    fetcher = GeneratedFetcher(demo, clock)
    broken = next(url for url in demo.pages() if demo.get(url).behaviour == "reset")
    failure = await fetcher.fetch(Request(broken))
    assert isinstance(failure, Failure)
    assert failure.outcome is Outcome.CONNECTION
    url = next(url for url in demo.pages() if demo.get(url).status == 200)
    large = await fetcher.fetch(Request(url, max_bytes=100))
    assert isinstance(large, Failure)
    assert large.outcome is Outcome.TOO_LARGE


class OddWeb:
    def get(self, url: str) -> Served:
        if url.endswith("/garbled"):
            return Served(200, (("Content-Encoding", "gzip"),), b"this is not a gzip at all")
        return Served(200, (), b"0123456789", behaviour=url.rpartition("/")[2])


@pytest.mark.realtime
async def test_fetcher_hangs_until_its_deadline_and_marks_cut_bodies() -> None:
    clock = HandClock()
    fetcher = GeneratedFetcher(OddWeb(), clock, deadline=7.0)
    failure = await fetcher.fetch(Request("http://x.example/hang"))
    assert isinstance(failure, Failure)
    assert failure.outcome is Outcome.TIMEOUT
    assert clock.time == 107.0
    cut = await fetcher.fetch(Request("http://x.example/cut"))
    assert isinstance(cut, Response)
    assert (cut.body, cut.truncated) == (b"01234", "disconnect")
    garbled = await fetcher.fetch(Request("http://x.example/garbled"))
    assert isinstance(garbled, Failure)
    assert garbled.outcome is Outcome.BAD_ENCODING
