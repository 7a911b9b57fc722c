"""Redirects, credentials and egress, seen from the servers' side of a whole crawl."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback import Canary, config_for, crawl_all, outcome_of, outcomes, page, recording, redirect
from proxies import proxying
from tests.fetch.servers import serving

from honeyguide.collection.collection import Collection
from honeyguide.engine.live import EGRESS_DETAIL
from honeyguide.lab.webs.served import Served
from honeyguide.model import Outcome
from honeyguide.web.url import canonical

pytestmark = pytest.mark.realtime

SPELLINGS = (Path(__file__).parents[1] / "fetch" / "host_spellings.txt").read_text().split()
PROXIES = ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")


@pytest.fixture
def canary() -> Iterator[Canary]:
    made = Canary()
    yield made
    made.close()


async def test_no_page_leads_the_crawl_to_this_machine(
    tmp_path: Path, canary: Canary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Links, redirects, canonical URLs, frames, robots and sitemaps that name private addresses."""
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    forbidden = [f"http://{spelling}:{canary.port}/x{n}" for n, spelling in enumerate(SPELLINGS)]
    forbidden += [f"http://169.254.169.254/{n}" for n in range(2)]
    web: dict[str, Served] = {
        "http://a.example/": page(*forbidden, "/next", "/canonical", "http://robots.example/")
    }
    hops = [f"http://r{n}.example/" for n in range(len(forbidden))]
    web["http://a.example/next"] = page(*hops)
    web |= {hop: redirect(target) for hop, target in zip(hops, forbidden, strict=True)}
    local = f"http://127.0.0.1:{canary.port}/"
    web["http://a.example/canonical"] = Served(
        200,
        (("Content-Type", "text/html"), ("Refresh", f"0; url={local}")),
        f'<link rel=canonical href="{local}"><iframe src="{local}f"></iframe>owl'.encode(),
    )
    web["http://a.example/robots.txt"] = Served(200, (), f"Sitemap: {local}sitemap.xml\n".encode())
    web["http://robots.example/robots.txt"] = redirect(local)
    async with recording(web) as server, proxying(server.port) as proxy:
        for name in PROXIES:
            monkeypatch.setenv(name, proxy.url)
        limits = {"max_seconds": 20.0, "follow_sitemaps": True}
        config = config_for(
            ["http://a.example/"], server.connect_to, crawl=limits, politeness={"backoff": 0.01}
        )
        await crawl_all(config, tmp_path / "out")
    assert canary.calls() == 0
    # A few spellings name a public host, and the private one behind its path or a #.
    assert {line.split("/")[2] for line in proxy.lines if line.startswith("GET ")} <= {"example.com"}
    assert {line.split(" ")[1] for line in proxy.lines if line.startswith("CONNECT ")} <= {"example.com:443"}
    ends = outcomes(tmp_path / "out")
    assert ends["http://a.example/next"] is Outcome.FETCHED
    good = {Outcome.EGRESS, Outcome.DNS}  # the latter: names without an address
    for target in {url for url in map(canonical, forbidden) if url}:
        assert ends[target] in good or target.startswith("http://example.com/"), (target, ends[target])
    for target in (f"{local}f", f"{local}sitemap.xml"):
        assert outcome_of(tmp_path / "out", target) == (Outcome.EGRESS, EGRESS_DETAIL)


async def test_a_target_in_bytes_of_any_encoding_is_asked_for_by_these_bytes(tmp_path: Path) -> None:
    named = ("/käuz chen".encode(), "/käuz".encode("latin-1"), "/сова".encode("cp1251"))
    targets = dict(zip((b"/1", b"/2", b"/3"), named, strict=True))

    async def answer(head: bytes, writer: asyncio.StreamWriter) -> None:
        path = head.split(b" ")[1]
        location = b"" if path not in targets else b"Location: " + targets[path] + b"\r\n"
        status = b"302 Found" if location else b"404 No" if path == b"/robots.txt" else b"200 OK"
        links = b"<p>owl <a href=/1>owl</a> <a href=/2>owl</a> <a href=/3>owl</a>" + path
        size = b"Content-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(links)
        writer.write(b"HTTP/1.1 " + status + b"\r\n" + location + size + links)

    async with serving(answer, keep_alive=True) as server:
        config = config_for(["http://a.example/"], {"*": f"127.0.0.1:{server.port}"})
        await crawl_all(config, tmp_path / "out")
    ends = outcomes(tmp_path / "out")
    for path in ("k%C3%A4uz%20chen", "k%E4uz", "%F1%EE%E2%E0"):
        assert ends[f"http://a.example/{path}"] is Outcome.FETCHED, path


async def test_loops_and_chains_end(tmp_path: Path) -> None:
    chain = {f"http://a.example/c{n}": redirect(f"/c{n + 1}") for n in range(30)}
    web = {
        "http://a.example/": page("/c0", "/self", "/ping", "http://hop0.example/"),
        "http://a.example/self": redirect("/self"),
        "http://a.example/ping": redirect("/pong"),
        "http://a.example/pong": redirect("/ping"),
        **{f"http://hop{n}.example/": redirect(f"http://hop{n + 1}.example/") for n in range(8)},
        "http://hop8.example/": page(),
        **chain,
    }
    async with recording(web) as server:
        await crawl_all(config_for(["http://a.example/"], server.connect_to), tmp_path / "out")
    ends = outcomes(tmp_path / "out")
    assert ends["http://hop8.example/"] is Outcome.FETCHED
    assert ends["http://a.example/c11"] is Outcome.TOO_MANY_REDIRECTS
    assert "http://a.example/c12" not in server.urls
    assert all(end.is_end for end in ends.values())
    assert max(server.urls.count(url) for url in server.urls) == 1


@pytest.mark.parametrize(
    "target",
    [
        "file:///etc/passwd",
        "data:text/html,owl",
        "javascript:alert(1)",
        "ftp://a.example/",
        "gopher://a/",
        "//",
        "",
        "http://",
    ],
)
async def test_only_the_web_is_redirected_to(tmp_path: Path, target: str) -> None:
    web = {"http://a.example/": redirect(target)}
    async with recording(web) as server:
        await crawl_all(config_for(["http://a.example/"], server.connect_to), tmp_path / "out")
    assert outcomes(tmp_path / "out") == {"http://a.example/": Outcome.BAD_REDIRECT}


async def test_every_hop_is_checked_by_robots_and_scope(tmp_path: Path) -> None:
    web = {
        "http://a.example/": page("/to-closed", "/to-denied", "/to-trap"),
        "http://a.example/to-closed": redirect("http://closed.example/secret"),
        "http://a.example/to-denied": redirect("http://denied.example/"),
        "http://a.example/to-trap": redirect("http://a.example/img/old/img/old/img/old/"),
        "http://closed.example/robots.txt": Served(200, (), b"User-agent: *\nDisallow: /secret\n"),
    }
    async with recording(web) as server:
        config = config_for(
            ["http://a.example/"], server.connect_to, scope={"deny_domains": ["denied.example"]}
        )
        await crawl_all(config, tmp_path / "out")
    ends = outcomes(tmp_path / "out")
    assert ends["http://closed.example/secret"] is Outcome.ROBOTS
    assert ends["http://denied.example/"] is Outcome.SCOPE
    assert ends["http://a.example/img/old/img/old/img/old/"] is Outcome.TRAP
    assert not {url for url in server.urls if "secret" in url or "denied.example" in url or "/img/old" in url}


async def test_nothing_private_crosses_an_origin(tmp_path: Path) -> None:
    """No cookie, credential or referrer is ever sent, wherever they come from."""
    cookie = ("Set-Cookie", "sid=secret; Domain=.example; Path=/")
    web = {
        "http://a.example/": Served(302, (("Location", "http://user:password@b.example/?next"), cookie), b""),
        "http://b.example/?next": Served(
            200, (("Content-Type", "text/html"), cookie), b'owl <a href="/more">owl</a>'
        ),
        "http://b.example/more": Served(401, (("WWW-Authenticate", "Basic realm=x"), cookie)),
    }
    async with recording(web) as server:
        await crawl_all(config_for(["http://a.example/"], server.connect_to), tmp_path / "out")
    sent = b"".join(server.heads).lower()
    assert "http://b.example/more" in server.urls
    assert b"password" not in sent
    for header in (b"\r\ncookie:", b"\r\nauthorization:", b"\r\nreferer:", b"\r\nproxy-authorization:"):
        assert header not in sent
    with Collection.open(tmp_path / "out") as collection:
        assert not [page for page in collection.pages(relevant=None) if "password" in page.url]


async def test_hosts_that_cannot_be_asked_do_not_end_the_crawl(tmp_path: Path) -> None:
    """The seed's neighbour has no address, refuses connections, or is private: all have an outcome."""
    web = {"http://a.example/": page("http://10.1.2.3/", "http://dead.invalid/", "http://[::1]/", "/good")}
    web["http://a.example/good"] = page()
    async with recording(web) as server:
        config = config_for(
            ["http://a.example/"],
            server.connect_to,
            crawl={"max_seconds": 10.0},
            politeness={"backoff": 0.01},
        )
        await crawl_all(config, tmp_path / "out")
    ends = outcomes(tmp_path / "out")
    assert ends["http://a.example/good"] is Outcome.FETCHED
    assert ends["http://dead.invalid/"] is Outcome.DNS
    assert ends["http://10.1.2.3/"] is ends["http://[::1]/"] is Outcome.EGRESS
