"""Requests through a real proxy on loopback."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path

import pytest
from loopback import Canary, config_for, crawl_all, outcome_of, page, recording
from proxies import proxying
from tests.fetch.servers import ok, serving
from tests.fetch.test_tls import certificate, context_of

from honeyguide.collection.collection import Collection
from honeyguide.fetch.base import Failure, Request, Response
from honeyguide.fetch.egress import EgressGuard
from honeyguide.fetch.http import HttpFetcher
from honeyguide.fetch.options import FetchOptions
from honeyguide.fetch.proxy import Proxies, ProxyTrouble, parse_proxy, proxies_from
from honeyguide.model import Outcome

pytestmark = pytest.mark.realtime
__all__ = ["certificate"]  # a fixture

SPELLINGS = (Path(__file__).parent / "host_spellings.txt").read_text().split()
BASIC = "Basic bGlicmFyaWFuOnMzY3JldA=="


async def nobody_knows(name: str) -> list[str]:
    """A machine behind a proxy whose name servers know no names of the web."""
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


def fetcher(
    proxies: Proxies | None,
    *,
    lookup: Callable[..., object] = nobody_knows,
    allow: tuple[str, ...] = (),
    **settings: object,
) -> HttpFetcher:
    options = FetchOptions(**{"deadline": 5.0, "proxies": proxies, **settings})  # type: ignore[arg-type]
    guard = EgressGuard([ip_network(net) for net in allow])
    return HttpFetcher(options, clock=time.time, guard=guard, lookup=lookup)  # type: ignore[arg-type]


def only(url: str) -> Proxies:
    proxy = parse_proxy(url, "HTTPS_PROXY")
    return Proxies(proxy, proxy)


async def test_http_is_asked_with_the_whole_url_and_archived_as_the_server_gets_it() -> None:
    async with serving(ok(b"hi")) as server, proxying(server.port, password=BASIC) as proxy:
        named = proxy.url.replace("//", "//librarian:s3cret@")
        async with fetcher(only(named)) as http:
            answer = await http.fetch(Request("http://owls.example/a?b=c"))
    assert isinstance(answer, Response)
    assert (answer.body, answer.ip) == (b"hi", "")
    assert proxy.lines == ["GET http://owls.example/a?b=c HTTP/1.1"]
    assert server.requests[0].startswith(b"GET /a?b=c HTTP/1.1\r\n")
    assert b"Host: owls.example\r\n" in server.requests[0]
    assert b"Proxy-" not in server.requests[0]
    assert answer.request_head.startswith(b"GET /a?b=c HTTP/1.1\r\nHost: owls.example\r\n")
    assert b"Proxy-" not in answer.request_head


async def test_https_goes_through_a_tunnel_and_its_certificate_is_checked(certificate: Path) -> None:
    async with (
        serving(ok(b"hi"), tls=context_of(certificate), keep_alive=True) as server,
        proxying(server.port, password=BASIC) as proxy,
    ):
        proxies = only(proxy.url.replace("//", "//librarian:s3cret@"))
        async with fetcher(proxies, ca_file=str(certificate)) as http:
            answer = await http.fetch(Request("https://birds.example/secret"))
            again = await http.fetch(Request("https://birds.example/more"))
            wrong = await http.fetch(Request("https://cats.example/"))
    assert isinstance(answer, Response)
    assert isinstance(again, Response)
    assert isinstance(wrong, Failure)
    assert wrong.outcome is Outcome.TLS
    assert proxy.lines == ["CONNECT birds.example:443 HTTP/1.1", "CONNECT cats.example:443 HTTP/1.1"]
    assert server.requests[0].startswith(b"GET /secret HTTP/1.1\r\n")
    assert not any(b"Proxy-" in request for request in server.requests)


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(("user", "said"), [("", "asks for a password"), ("me:no@", "refuses the password")])
async def test_a_proxy_that_wants_a_password_is_no_outcome_of_a_page(
    scheme: str, user: str, said: str
) -> None:
    async with (
        serving(ok(b"hi")) as server,
        proxying(server.port, password=BASIC) as proxy,
        fetcher(only(proxy.url.replace("//", f"//{user}"))) as http,
    ):
        with pytest.raises(ProxyTrouble, match=said) as caught:
            await http.fetch(Request(f"{scheme}://owls.example/"))
    assert "HTTPS_PROXY" in str(caught.value)
    assert "me:no" not in str(caught.value)
    assert server.requests == []


async def test_a_server_that_answers_407_itself_is_a_client_error() -> None:
    async with (
        serving(ok(b"", status="407 Proxy Authentication Required")) as server,
        fetcher(None, connect_to={"*": f"127.0.0.1:{server.port}"}) as http,
    ):
        answer = await http.fetch(Request("http://owls.example/"))
    assert isinstance(answer, Response)
    assert answer.status == 407


async def test_a_proxy_that_is_not_there_is_told_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    async with fetcher(only(f"127.0.0.1:{port}")) as http:
        with pytest.raises(ProxyTrouble, match=r"does not answer: connection refused; start it, name"):
            await http.fetch(Request("http://owls.example/"))


async def test_a_proxy_that_answered_before_is_waited_for() -> None:
    async with serving(ok(b"hi")) as server:
        async with proxying(server.port) as proxy:
            http = fetcher(only(proxy.url), deadline=20.0)
            assert isinstance(await http.fetch(Request("http://owls.example/")), Response)
        asked = asyncio.create_task(http.fetch(Request("http://barn.example/")))
        await asyncio.sleep(0.3)
        assert not asked.done()
        async with proxying(server.port, port=proxy.port):
            answer = await asked
        await http.close()
    assert isinstance(answer, Response)


async def test_a_host_that_the_proxy_refuses_fails_alone(certificate: Path) -> None:
    async with (
        serving(ok(b"hi"), tls=context_of(certificate)) as server,
        proxying(server.port, refused=frozenset({"games.example"})) as proxy,
        fetcher(only(proxy.url), ca_file=str(certificate)) as http,
    ):
        bad = await http.fetch(Request("https://games.example/"))
        good = await http.fetch(Request("https://birds.example/"))
    assert isinstance(bad, Failure)
    assert bad.outcome is Outcome.CONNECTION
    assert bad.detail == f"the proxy {proxy.url} does not lead there: 403 Forbidden"
    assert isinstance(good, Response)


async def test_what_is_no_proxy_is_told_as_such() -> None:
    async with (
        serving(b"220 mail.example ESMTP\r\n\r\n") as server,
        fetcher(only(f"127.0.0.1:{server.port}")) as http,
    ):
        answer = await http.fetch(Request("https://owls.example/"))
    assert isinstance(answer, Failure)
    assert "is no HTTP proxy" in answer.detail


async def test_no_spelling_of_a_private_address_is_handed_to_the_proxy() -> None:
    async with serving(ok(b"hi")) as server, proxying(server.port) as proxy, fetcher(only(proxy.url)) as http:
        for spelling in (*SPELLINGS, "10.0.0.1", "[fd00::1]", "printer", "nas.local"):
            for scheme in ("http", "https"):
                await http.fetch(Request(f"{scheme}://{spelling}:{server.port}/"))
        # What stands behind # is no part of an address.
        assert set(proxy.lines) == {"GET http://example.com/ HTTP/1.1", "CONNECT example.com:443 HTTP/1.1"}
        allowed = await http.fetch(Request("http://93.184.215.14/"))
    assert isinstance(allowed, Response)


async def test_a_name_that_is_private_here_is_not_handed_to_the_proxy() -> None:
    async def lookup(name: str) -> list[str]:
        return ["10.1.2.3"] if name == "wiki.example" else ["93.184.215.14"]

    async with (
        serving(ok(b"hi")) as server,
        proxying(server.port) as proxy,
        fetcher(only(proxy.url), lookup=lookup) as http,
    ):
        private = await http.fetch(Request("http://wiki.example/"))
        public = await http.fetch(Request("http://owls.example/"))
    assert isinstance(private, Failure)
    assert private.outcome is Outcome.EGRESS
    assert isinstance(public, Response)
    assert proxy.lines == ["GET http://owls.example/ HTTP/1.1"]


async def test_networks_and_hosts_that_the_operator_named_are_asked_directly() -> None:
    canary = Canary()
    try:
        async with serving(ok(b"hi")) as server:
            proxies = only(f"127.0.0.1:{canary.port}")
            table = {"mirror.example": f"127.0.0.1:{server.port}"}
            async with fetcher(proxies, allow=("127.0.0.0/8",), connect_to=table) as http:
                for host in (f"127.0.0.1:{server.port}", "mirror.example"):
                    assert isinstance(await http.fetch(Request(f"http://{host}/")), Response), host
        assert canary.calls() == 0
    finally:
        canary.close()


@pytest.mark.parametrize(
    ("never", "url", "direct"),
    [
        ("owls.example", "owls.example", True),
        ("owls.example", "barn.owls.example", True),
        (".owls.example", "barn.owls.example", True),
        ("*.owls.example", "barn.owls.example", True),
        ("owls.example", "notowls.example", False),
        ("owls.example:8080", "owls.example", False),
        ("owls.example:443", "owls.example", True),
        ("a.example, OWLS.example", "owls.example", True),
        ("*", "owls.example", True),
        ("", "owls.example", False),
        ("10.0.0.0/8", "10.1.2.3", True),
        ("10.1.2.3", "10.1.2.3", True),
        ("10.1.2.3:443", "10.1.2.3", True),
        ("10.0.0.0/8", "11.1.2.3", False),
        ("fd00::/8", "fd00::1", True),
        ("::", "owls.example", False),
    ],
)
def test_no_proxy(never: str, url: str, direct: bool) -> None:
    proxies = proxies_from("environment", {"https_proxy": "proxy.example:3128", "NO_PROXY": never})
    assert proxies is not None
    assert (proxies.through(True, url, 443) is None) is direct


@pytest.mark.parametrize(
    ("environ", "http", "https"),
    [
        ({}, "", ""),
        ({"HTTP_PROXY": "http://a:1"}, "http://a:1", ""),
        ({"HTTPS_PROXY": "a:1"}, "", "http://a:1"),
        ({"HTTP_PROXY": "http://a:1", "http_proxy": "http://b:2"}, "http://b:2", ""),
        ({"HTTP_PROXY": "http://a:1", "REQUEST_METHOD": "GET"}, "", ""),
        ({"ALL_PROXY": "http://a:1", "https_proxy": "http://u:p@[::1]:2"}, "http://a:1", "http://[::1]:2"),
        ({"HTTPS_PROXY": "", "HTTP_PROXY": " "}, "", ""),
    ],
)
def test_the_environment_is_read_as_other_programs_read_it(
    environ: dict[str, str], http: str, https: str
) -> None:
    found = proxies_from("environment", environ) or Proxies()
    assert [one.address if one else "" for one in (found.http, found.https)] == [http, https]
    assert proxies_from("none", environ) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("socks5://a:1080", "the kind socks5://"),
        ("https://a:443", "the kind https://"),
        ("http://", "is not a proxy"),
        ("http://a:port", "is not a proxy"),
        ("http://me:secret@a:99999", "is not a proxy"),
        ("http://a b", "is not a proxy"),
        ("http://a\r\nX: y", "is not a proxy"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_refused_without_its_password(text: str, said: str) -> None:
    with pytest.raises(ProxyTrouble, match=said) as caught:
        parse_proxy(text, "HTTPS_PROXY")
    assert "secret" not in str(caught.value)
    assert str(caught.value).startswith("HTTPS_PROXY: ")
    assert "http://proxy.example:3128" in str(caught.value)


async def test_a_whole_crawl_through_a_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """robots.txt, pages, redirects; hosts at one proxy are not taken for one address."""
    web = {
        "http://a.example/": page(
            "http://b.example/", "http://10.0.0.1/", "http://printer/", "http://b.example:25/"
        ),
        "http://b.example/": page("/more", "http://c.example/"),
        "http://b.example/more": page(),
        "http://c.example/": page(),
    }
    async with recording(web) as server, proxying(server.port) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        polite = {"ip_delay": 3600.0, "ip_at_once": 1}
        config = config_for(["http://a.example/"], {}, politeness=polite, crawl={"max_seconds": 60.0})
        await crawl_all(config, tmp_path / "out")
    collection = Collection.open(tmp_path / "out")
    assert collection.status().pages == 4
    assert outcome_of(tmp_path / "out", "http://10.0.0.1/")[0] is Outcome.EGRESS
    assert outcome_of(tmp_path / "out", "http://printer/")[0] is Outcome.EGRESS
    mail = outcome_of(tmp_path / "out", "http://b.example:25/")
    assert mail == (Outcome.EGRESS, "port 25 belongs to another protocol")
    assert not [line for line in proxy.lines if ":25" in line]
    assert "GET http://a.example/robots.txt HTTP/1.1" in proxy.lines


async def test_a_crawl_ends_when_its_proxy_does_and_goes_on_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web = {"http://a.example/": page("http://b.example/"), "http://b.example/": page()}
    async with recording(web) as server, proxying(server.port, password=BASIC) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        config = config_for(["http://a.example/"], {}, crawl={"max_seconds": 60.0})
        with pytest.raises(ProxyTrouble, match="asks for a password"):
            await crawl_all(config, tmp_path / "out")
        monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//librarian:s3cret@"))
        await crawl_all(config, tmp_path / "out")
    assert Collection.open(tmp_path / "out").status().pages == 2
    kept = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert b"s3cret" not in kept
