from __future__ import annotations

import asyncio
import gc
import itertools
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from tests.fetch.servers import Script, ok, serving

from honeyguide.fetch.http import HttpFetcher
from honeyguide.fetch.politeness import IpGate, PolitenessPolicy
from honeyguide.fetch.robots import RobotsAnswer, RobotsCache, RobotsOptions
from honeyguide.fetch.turns import Turns
from honeyguide.model import Outcome

pytestmark = pytest.mark.realtime

Make = Callable[..., HttpFetcher]
RULES = b"User-agent: *\nDisallow: /private\nCrawl-delay: 7\nSitemap: https://a.example/map.xml\n"


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Site:
    """A server whose answer can be changed, with a cache that asks it."""

    def __init__(self, cache: RobotsCache, server: Script, clock: Clock, answers: dict[bytes, bytes]) -> None:
        self.cache, self.server, self.clock, self.answers = cache, server, clock, answers
        self.origin = server.url.rstrip("/")

    async def load(self) -> RobotsAnswer:
        return await self.cache.load(self.origin)


@asynccontextmanager
async def site(make: Make, answer: bytes, **settings: object) -> AsyncIterator[Site]:
    answers = {b"/robots.txt": answer}

    async def serve(head: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(answers.get(head.split(b" ")[1], ok(b"", status="404 No")))

    clock = Clock()
    async with make() as fetcher, serving(serve) as server:
        options = RobotsOptions(**settings)  # type: ignore[arg-type]
        yield Site(RobotsCache(fetcher, "honeyguide", clock=clock, options=options), server, clock, answers)


def moved(where: str) -> bytes:
    return ok(b"", f"Location: {where}", status="301 Moved")


async def test_rules_are_read_and_cached(fetcher: Make) -> None:
    async with site(fetcher, ok(RULES)) as web:
        assert web.cache.peek(web.origin) is None
        answer = await web.load()
        assert (answer.state, answer.requests, answer.status) == ("rules", 1, 200)
        assert answer.exchanges[0].body == RULES
        assert answer.crawl_delay == 7
        assert answer.sitemaps == ("https://a.example/map.xml",)
        assert not answer.allowed(web.origin + "/private/x")
        assert answer.allowed(web.origin + "/public")
        assert "Disallow: /private" in answer.rule(web.origin + "/private/x")
        again = await web.load()
        assert (again.requests, again.exchanges, again.state) == (0, (), "rules")
        assert web.cache.peek(web.origin) == again
        assert len(web.server.requests) == 1
        web.clock.now += 24 * 3600 + 1
        assert web.cache.peek(web.origin) is None
        assert (await web.load()).requests == 1


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("max-age=3600", 3600), ("public, max-age=5", 600), ("max-age=99999999", 86400), ("no-store", 86400)],
)
async def test_max_age_may_shorten_within_bounds(fetcher: Make, header: str, seconds: int) -> None:
    async with site(fetcher, ok(RULES, f"Cache-Control: {header}")) as web:
        answer = await web.load()
        assert answer.expires_at - web.clock.now == seconds


@pytest.mark.parametrize("status", ["400 Bad", "401 Who", "403 No", "404 Gone", "410 Gone", "451 Law"])
async def test_client_errors_allow_everything(fetcher: Make, status: str) -> None:
    async with site(fetcher, ok(RULES, status=status)) as web:
        answer = await web.load()
        assert (answer.state, answer.outcome) == ("allow-all", Outcome.CLIENT_ERROR)
        assert answer.allowed(web.origin + "/private")
        assert answer.crawl_delay is None


@pytest.mark.parametrize("status", ["429 Slow", "500 Oops", "503 Busy", "999 Denied"])
async def test_server_errors_mean_wait(fetcher: Make, status: str) -> None:
    async with site(fetcher, ok(b"", status=status)) as web:
        answer = await web.load()
        assert (answer.state, answer.outcome) == ("wait", Outcome.SERVER_ERROR)
        assert not answer.allowed(web.origin + "/")
        assert answer.retry_at == web.clock.now + 60
        assert "cannot be read" in answer.rule(web.origin + "/")
        assert (await web.load()).requests == 0  # not asked again before its time
        web.clock.now = answer.retry_at
        assert (await web.load()).retry_at == web.clock.now + 120
        web.answers[b"/robots.txt"] = ok(RULES)
        web.clock.now += 120
        answer = await web.load()
        assert (answer.state, answer.failures, answer.retry_at) == ("rules", 0, 0.0)


async def test_retry_after_of_robots_is_honoured(fetcher: Make) -> None:
    async with site(fetcher, ok(b"", "Retry-After: 500", status="503 Busy")) as web:
        assert (await web.load()).retry_at == web.clock.now + 500


async def test_an_origin_unreachable_for_long_is_closed(fetcher: Make) -> None:
    async with site(fetcher, b"", patience=1000.0) as web:
        states = []
        for _ in range(8):
            answer = await web.load()
            states.append(answer.state)
            web.clock.now = answer.expires_at
        assert states == ["wait"] * 5 + ["rules"] * 3
        assert answer.outcome is Outcome.CONNECTION
        assert not answer.allowed(web.origin + "/")


async def test_redirects_are_followed_each_through_the_fetcher(fetcher: Make) -> None:
    async with site(fetcher, moved("/two")) as web:
        web.answers[b"/two"] = moved(web.origin + "/three")
        web.answers[b"/three"] = ok(RULES)
        answer = await web.load()
        assert (answer.state, answer.requests) == ("rules", 3)
        assert [exchange.status for exchange in answer.exchanges] == [301, 301, 200]
        assert not answer.allowed(web.origin + "/private")


async def test_the_sixth_redirect_counts_as_no_robots(fetcher: Make) -> None:
    async with site(fetcher, moved("/1")) as web:
        for number in range(1, 9):
            web.answers[b"/%d" % number] = moved(f"/{number + 1}")
        answer = await web.load()
        assert (answer.state, answer.requests) == ("allow-all", 6)


@pytest.mark.parametrize("where", ["file:///etc/passwd", "javascript:1", "http://", ""])
async def test_redirects_to_nowhere_count_as_no_robots(fetcher: Make, where: str) -> None:
    async with site(fetcher, moved(where)) as web:
        answer = await web.load()
        assert (answer.state, answer.requests) == ("allow-all", 1)


async def test_redirects_inside_are_refused_by_the_guard(fetcher: Make) -> None:
    async with site(fetcher, moved("http://169.254.169.254/latest/")) as web:
        answer = await web.load()
        assert (answer.state, answer.outcome, answer.requests) == ("rules", Outcome.EGRESS, 2)
        assert not answer.allowed(web.origin + "/")


@pytest.mark.parametrize("body", [b"<!doctype html><title>Not found</title>", bytes(range(256)) * 10, b""])
async def test_garbage_bodies_are_left_to_the_parser(fetcher: Make, body: bytes) -> None:
    async with site(fetcher, ok(body)) as web:
        answer = await web.load()
        assert answer.state == "rules"
        assert answer.allowed(web.origin + "/private")


async def test_only_500_kib_are_kept(fetcher: Make) -> None:
    filler = b"# " + b"x" * 997 + b"\n"
    body = RULES + filler * 600 + b"User-agent: *\nDisallow: /late\n"
    async with site(fetcher, ok(body)) as web:
        answer = await web.load()
        assert not answer.allowed(web.origin + "/private")
        assert answer.allowed(web.origin + "/late")
        assert answer.exchanges[0].truncated == "length"


async def test_the_cache_is_bounded_and_shared(fetcher: Make) -> None:
    async with site(fetcher, ok(RULES), size=2) as web:
        port = web.server.port
        first = await asyncio.gather(*(web.load() for _ in range(5)))
        assert len(web.server.requests) == 1
        assert sorted(answer.requests for answer in first) == [0, 0, 0, 0, 1]
        for number in (2, 3):
            await web.cache.restore(f"http://h{number}:{port}", 200, RULES, web.clock.now)
        assert web.cache.peek(web.origin) is None
        assert web.cache.peek(f"http://h3:{port}") is not None


async def test_what_nobody_asks_is_kept_as_bytes_and_answers_as_before(fetcher: Make) -> None:
    async with site(fetcher, ok(RULES), awake=1) as web:
        read = [await web.load()]
        for number, status, body in ((1, 404, b""), (2, 200, RULES), (3, 200, b"")):
            restored = await web.cache.restore(f"http://h{number}.example", status, body, web.clock.now)
            assert restored is not None
            read.append(restored)
        web.answers[b"/robots.txt"] = ok(b"", status="503 Later")
        web.clock.now += 25 * 3600
        waiting = await web.load()
        assert await web.cache.restore("http://h4.example", 200, RULES, web.clock.now) is not None
        web.clock.now -= 20 * 3600
        for before in (*read[1:], waiting):  # all but the last have made room for the one after them
            known = web.cache.peek(before.origin)
            assert known is not None
            assert known is not before
            for path in ("/", "/private", "/late"):
                url = before.origin + path
                assert (known.allowed(url), known.rule(url)) == (before.allowed(url), before.rule(url))
            told = [
                (one.state, one.crawl_delay, one.sitemaps, one.expires_at, one.failures, one.outcome)
                for one in (known, before)
            ]
            assert told[0] == told[1]
        assert not any(gc.is_tracked(kept) for kept in web.cache._answers.values())


async def test_long_files_are_read_again_one_by_one_with_time_for_others_between(fetcher: Make) -> None:
    rules = b"User-agent: *\n" + b"\n".join(b"Disallow: /closed/%d/*.cgi$" % n for n in range(2_000))
    async with site(fetcher, ok(RULES), awake=1) as web:
        origins = [f"http://h{number}.example" for number in range(5)]
        for origin in origins:
            await web.cache.restore(origin, 200, rules, web.clock.now)
        done: list[str] = []

        async def ask(origin: str) -> None:
            answer = await web.cache.known(origin)
            assert answer is not None
            assert not answer.allowed(f"{origin}/closed/1999/a.cgi")
            done.append(origin)

        async def others() -> None:
            while len([one for one in done if one]) < 4:
                done.append("")
                await asyncio.sleep(0)

        await asyncio.gather(*(ask(origin) for origin in origins[:4]), others())
        assert [one for one in done if one] == origins[:4]
        places = [done.index(origin) for origin in origins[:4]]
        assert all(after - before > 1 for before, after in itertools.pairwise(places))


async def test_a_resumed_crawl_need_not_ask_again(fetcher: Make) -> None:
    async with site(fetcher, ok(b"")) as web:
        restored = await web.cache.restore(web.origin, 200, RULES, web.clock.now - 80_000)
        assert restored is not None
        assert not (await web.load()).allowed(web.origin + "/private")
        assert web.server.requests == []
        web.clock.now += 10_000
        assert web.cache.peek(web.origin) is None
        for status, age in ((503, 10), (0, 10), (429, 10), (200, 90_000)):
            assert await web.cache.restore("http://other", status, RULES, web.clock.now - age) is None
        allow = await web.cache.restore("http://other", 404, b"", web.clock.now)
        assert allow is not None
        assert allow.state == "allow-all"


async def test_a_file_that_breaks_off_is_not_a_whole_one(fetcher: Make) -> None:
    cut = b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nUser-agent: *\nAllow: /\n"
    async with site(fetcher, cut) as web:
        answer = await web.load()
        assert (answer.state, answer.exchanges[0].truncated) == ("wait", "disconnect")
        assert not answer.allowed(web.origin + "/")
        assert answer.retry_at == web.clock.now + 60
        web.answers[b"/robots.txt"] = ok(RULES)
        web.clock.now = answer.retry_at
        assert (await web.load()).allowed(web.origin + "/")


async def test_an_error_page_that_breaks_off_says_enough(fetcher: Make) -> None:
    async with site(fetcher, b"HTTP/1.1 404 No\r\nContent-Length: 900\r\n\r\nno such") as web:
        assert (await web.load()).state == "allow-all"


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-be"])
async def test_files_in_utf_16_are_read(fetcher: Make, codec: str) -> None:
    text = RULES.decode().encode(codec)
    body = text if codec == "utf-16" else b"\xfe\xff" + text
    async with site(fetcher, ok(body)) as web:
        answer = await web.load()
        assert not answer.allowed(web.origin + "/private")
        assert answer.crawl_delay == 7


class Crossroads:
    """A server with many names whose robots.txt all lead to one host; it notes when that one is asked."""

    def __init__(self, make: Make, target: str, **policy: float | int) -> None:
        self.make, self.target = make, target
        self.policy = PolitenessPolicy(**policy)  # type: ignore[arg-type]
        self.now = 0
        self.most = 0
        self.times: list[float] = []

    async def answer(self, head: bytes, writer: asyncio.StreamWriter) -> None:
        host = head.lower().split(b"host: ")[1].split(b"\r")[0].decode()
        if not host.startswith("third"):
            writer.write(moved(self.target.format(host.partition(".")[0])))
            return
        self.times.append(time.monotonic())
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.01)
        self.now -= 1
        writer.write(ok(RULES))

    async def load(self, hosts: int) -> list[RobotsAnswer]:
        async with serving(self.answer) as server:
            places = {"*.example": f"127.0.0.1:{server.port}"}
            async with self.make(connect_to=places) as http:
                gate = IpGate(self.policy)
                turns = Turns(self.policy, gate, now=time.time, look_up=http.look_up)
                cache = RobotsCache(http, "honeyguide", clock=time.time, turns=turns)
                return await asyncio.gather(*(cache.load(f"http://h{n}.example") for n in range(hosts)))


async def test_a_file_that_many_share_is_asked_for_once(fetcher: Make) -> None:
    roads = Crossroads(fetcher, "http://third.example/robots.txt", min_delay=0.0, ip_delay=0.0)
    answers = await roads.load(50)
    assert len(roads.times) == 1
    assert {answer.state for answer in answers} == {"rules"}
    assert {answer.body for answer in answers} == {RULES}
    assert sorted(answer.requests for answer in answers) == [1] * 49 + [2]


async def test_redirects_keep_the_delays_of_the_host_they_lead_to(fetcher: Make) -> None:
    roads = Crossroads(fetcher, "http://third.example/{}", min_delay=0.05, ip_delay=0.0)
    answers = await roads.load(12)
    assert {answer.state for answer in answers} == {"rules"}
    assert len(roads.times) == 12
    assert roads.most == 1
    assert roads.times[-1] - roads.times[0] >= 11 * 0.05 - 0.01


async def test_redirects_keep_the_limits_of_the_address_they_lead_to(fetcher: Make) -> None:
    roads = Crossroads(fetcher, "http://third-{}.example/", min_delay=0.0, ip_delay=0.03, ip_at_once=2)
    assert {answer.state for answer in await roads.load(10)} == {"rules"}
    assert len(roads.times) == 10
    assert roads.most <= 2
    assert roads.times[-1] - roads.times[0] >= 9 * 0.03 - 0.01


async def test_a_redirect_to_a_crowded_host_is_put_off(fetcher: Make) -> None:
    roads = Crossroads(fetcher, "http://third.example/{}", min_delay=30.0, ip_delay=0.0)
    answers = await roads.load(3)
    assert sorted(answer.state for answer in answers) == ["rules", "wait", "wait"]
    late = [answer for answer in answers if answer.state == "wait"]
    assert {(answer.outcome, answer.failures, answer.requests) for answer in late} == {
        (Outcome.WAITING, 0, 1)
    }
    assert min(answer.retry_at for answer in late) >= time.time() + 20
    assert len(roads.times) == 1
