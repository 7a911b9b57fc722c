"""Requests of a page in a browser: robots.txt, egress, redirects, limits, headers, seen from the server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from loopback import HTML, Canary, Recorder, Write, recording, redirect

from honeyguide.fetch.browser_messages import RenderLimits, Wanted
from honeyguide.fetch.egress import EgressGuard
from honeyguide.fetch.http import HttpFetcher
from honeyguide.fetch.options import FetchOptions
from honeyguide.fetch.page_requests import PageRequests, Remembered
from honeyguide.fetch.proxy import Proxies, parse_proxy
from honeyguide.fetch.robots import RobotsAnswer, RobotsCache
from honeyguide.lab.webs.served import Served

SCRIPT = (("Content-Type", "text/javascript"),)
NOW = 1000.0


@asynccontextmanager
async def requests_of(
    write: Write, *, limits: RenderLimits | None = None, remembered: Remembered | None = None, page: str = ""
) -> AsyncIterator[tuple[PageRequests, Recorder]]:
    async with recording(write) as recorder:
        options = FetchOptions(connect_to=recorder.connect_to, deadline=5.0)
        async with HttpFetcher(options, clock=lambda: NOW, guard=EgressGuard([])) as fetcher:
            cache = RobotsCache(fetcher, "honeyguide", clock=lambda: NOW)

            async def robots(origin: str) -> RobotsAnswer | None:
                return await cache.load(origin)

            yield (
                PageRequests(
                    page or "http://spa.example/",
                    fetcher=fetcher,
                    robots=robots,
                    limits=limits or RenderLimits(),
                    remembered=remembered or Remembered(lambda: NOW),
                    denied=lambda url: "//tracker.example/" in url,
                ),
                recorder,
            )


def answers(url: str) -> Served | None:
    if url == "http://closed.example/robots.txt":
        return Served(200, (), b"User-agent: *\nDisallow: /private")
    if url.endswith("/robots.txt"):
        return None
    if url.endswith("/moved"):
        return redirect("/there")
    if url.endswith("/busy"):
        return Served(429, HTML)
    return Served(200, SCRIPT, b"x" * 1000)


async def test_rules_of_every_host_hold_also_behind_redirects() -> None:
    def write(url: str) -> Served | None:
        return redirect("http://closed.example/private/a.js") if url.endswith("/round") else answers(url)

    async with requests_of(write) as (requests, server):
        allowed = await requests.answer(Wanted(1, "http://closed.example/a.js", "script"))
        assert allowed.status == 200
        assert len(allowed.body) == 1000
        for address in ("http://closed.example/private/a.js", "http://spa.example/round"):
            refused = await requests.answer(Wanted(2, address, "script"))
            assert refused.refused == "robots.txt", address
        denied = await requests.answer(Wanted(3, "http://tracker.example/t.js", "script"))
        assert denied.refused == "out of scope"
        assert not [url for url in server.urls if "private" in url or "tracker" in url]


async def test_private_addresses_are_never_dialled_nor_reached_by_redirects() -> None:
    canary = Canary()
    target = f"http://127.0.0.1:{canary.port}/"

    def write(url: str) -> Served | None:
        return redirect(target) if url.endswith("/inside") else answers(url)

    async with requests_of(write) as (requests, _):
        for address in (target, f"http://localhost:{canary.port}/", "http://spa.example/inside", "ftp://a/b"):
            answer = await requests.answer(Wanted(1, address, "fetch"))
            assert answer.refused, address
    assert canary.calls() == 0
    canary.close()


async def test_number_and_bytes_are_limited_and_busy_hosts_left_alone() -> None:
    async with requests_of(answers, limits=RenderLimits(requests=3, bytes=10_000)) as (requests, server):
        got = [await requests.answer(Wanted(n, f"http://a.example/{n}", "fetch")) for n in range(5)]
        assert [answer.status for answer in got] == [200, 200, 200, 0, 0]
        assert len([url for url in server.urls if "robots" not in url]) == 3
    async with requests_of(answers, limits=RenderLimits(bytes=2500)) as (requests, _):
        got = [await requests.answer(Wanted(n, f"http://a.example/{n}", "fetch")) for n in range(5)]
        assert [bool(answer.refused) for answer in got] == [False, False, True, True, True]
    async with requests_of(answers) as (requests, server):
        assert (await requests.answer(Wanted(1, "http://a.example/busy", "fetch"))).status == 429
        assert (await requests.answer(Wanted(2, "http://a.example/more", "fetch"))).refused
        assert not [url for url in server.urls if url.endswith("/more")]


async def test_scripts_are_fetched_once_and_data_each_time() -> None:
    remembered = Remembered(lambda: NOW)
    async with requests_of(answers, remembered=remembered) as (requests, server):
        for number in range(3):
            assert (await requests.answer(Wanted(number, "http://a.example/app.js", "script"))).status == 200
            assert (await requests.answer(Wanted(number, "http://a.example/api", "fetch"))).status == 200
        assert server.urls.count("http://a.example/app.js") == 1
        assert server.urls.count("http://a.example/api") == 3


async def test_what_a_script_may_tell_servers() -> None:
    said = (
        *(("Cookie", "a=b"), ("Accept", "application/json"), ("Authorization", "Bearer x"), ("Host", "evil")),
        *(("X-Api-Key", "k"), ("X-Forwarded-For", "127.0.0.1"), ("Origin", "http://spa.example")),
        ("X-Bad", "a\r\nX-More: b"),
    )
    async with requests_of(answers) as (requests, server):
        await requests.answer(Wanted(1, "http://spa.example/api", "fetch", said))
        await requests.answer(Wanted(2, "http://other.example/api", "fetch", said))
        own, other = (head.decode().lower() for head in server.heads if b"/api" in head)
    for head in (own, other):
        assert "accept: application/json" in head
        assert "cookie" not in head
        assert "forwarded" not in head
        assert "x-more" not in head
        assert "host: evil" not in head
    assert "x-api-key: k" in own
    assert "x-api-key" not in other
    assert "authorization" not in other


async def test_a_proxy_that_lets_nothing_through_is_told_to_the_page() -> None:
    gone = parse_proxy("127.0.0.1:1", "HTTP_PROXY")
    options = FetchOptions(deadline=5.0, proxies=Proxies(gone, gone))

    async def no_rules(origin: str) -> RobotsAnswer | None:
        return None

    async def unknown(name: str) -> list[str]:
        raise OSError("no such name")

    async with HttpFetcher(options, clock=lambda: NOW, guard=EgressGuard([]), lookup=unknown) as fetcher:
        requests = PageRequests(
            "http://spa.example/",
            fetcher=fetcher,
            robots=no_rules,
            limits=RenderLimits(),
            remembered=Remembered(lambda: NOW),
        )
        answer = await requests.answer(Wanted(1, "http://spa.example/a.js", "script"))
    assert answer.refused.startswith("the proxy http://127.0.0.1:1 (HTTP_PROXY) does not answer")
