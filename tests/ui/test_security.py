"""Who may read the portal, from where, and what its answers allow a browser to do."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from crawls import finish, small_crawl
from portals import TOKEN, RunningPortal, running_portal
from starlette.routing import BaseRoute, Mount, Route

from honeyguide.errors import HoneyguideError
from honeyguide.job.crawl import run_here
from honeyguide.ui import metrics
from honeyguide.ui.api import OPERATIONS
from honeyguide.ui.app import FEATURES
from honeyguide.ui.render import NAVIGATION
from honeyguide.ui.server import Place, chosen_token, is_loopback, own_names

pytestmark = pytest.mark.realtime

STATIC = sorted(
    path.name for path in (Path(__file__).parents[2] / "src/honeyguide/ui/static").iterdir() if path.is_file()
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("secure") / "collection"
    run_here(lambda: finish(small_crawl(out, max_pages=40)))
    return out


@pytest.fixture(scope="module")
def portal(folder: Path) -> Iterator[RunningPortal]:
    with running_portal(folder) as running:
        yield running


def routes() -> list[tuple[str, str]]:
    """Method and a path of every route of every feature, the static files, and paths that do not exist."""
    found: list[tuple[str, str]] = [("GET", f"/static/{name}") for name in STATIC]
    found += [("GET", "/nothing"), ("GET", "/static/../app.py"), ("POST", "/nothing"), ("HEAD", "/")]

    def walk(entries: list[BaseRoute], prefix: str) -> None:
        for entry in entries:
            if isinstance(entry, Mount):
                walk(list(entry.routes), prefix + entry.path)
            elif isinstance(entry, Route):
                path = prefix + re.sub(r"\{\w+:int\}", "1", entry.path)
                path = re.sub(r"\{\w+(:\w+)?\}", "x", path)
                found.extend((method, path) for method in sorted(entry.methods or {"GET"}))

    for feature in FEATURES:
        walk(feature.ROUTES, "")
    walk(metrics.ROUTES, "")
    found += [(one.method, "/api/v1" + re.sub(r"\{\w+\}", "x", one.path)) for one in OPERATIONS]
    return [*found, ("GET", "/api/v1/openapi.json"), ("GET", "/api/v1/docs")]


def test_every_route_needs_the_token(portal: RunningPortal) -> None:
    asked = routes()
    assert {"/", "/events", "/control", "/metrics", "/search"} <= {path for _, path in asked}
    assert {path for _, path, _ in NAVIGATION} >= {"/", "/search"}
    for method, path in asked:
        for credentials in (
            {},
            {"Authorization": "Bearer wrong-token-0123456789"},
            {"Authorization": f"Basic {TOKEN}"},
            {"Cookie": "honeyguide_0=wrong; other=1"},
        ):
            reply = portal.ask(method, path, headers=credentials, token=None)
            assert reply.status == 401, (method, path, credentials)
            assert "default-src 'none'" in reply.headers["content-security-policy"]
        for query in ("?token=wrong", "?token=", f"?token={TOKEN[:-1]}", f"?TOKEN={TOKEN}"):
            assert portal.ask(method, path + query, token=None).status == 401, (method, path, query)


def test_the_token_in_the_address_becomes_a_cookie(portal: RunningPortal) -> None:
    reply = portal.get(f"/search?q=owl&token={TOKEN}&page=2", token=None)
    assert (reply.status, reply.headers["location"]) == (303, "/search?q=owl&page=2")
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert "Path=/" in cookie
    name = cookie.partition(";")[0]
    assert portal.get("/", token=None, headers={"Cookie": name}).status == 200
    assert portal.get("/", token=None, headers={"Cookie": name + "x"}).status == 401
    # A path that begins with two slashes would lead to another server.
    assert portal.get(f"//evil.example/?token={TOKEN}", token=None).headers["location"] == "/evil.example/"


def test_other_hosts_are_refused(portal: RunningPortal) -> None:
    """A page at evil.example whose name resolves to 127.0.0.1 (DNS rebinding) sends its own name."""
    for host in (
        "evil.example",
        f"evil.example:{portal.port}",
        "127.0.0.1.evil.example",
        "",
        "192.168.0.1",
        "[::1].evil.example",
        "[::1]evil",
        "[::1",
        "localhost:80:evil",
        "localhost:x",
    ):
        for method, path in (("GET", "/"), ("GET", "/events"), ("POST", "/control")):
            reply = portal.ask(method, path, headers={"Host": host})
            assert reply.status in (400, 421), (host, method, path)
    for host in (f"localhost:{portal.port}", f"127.0.0.1:{portal.port}", f"[::1]:{portal.port}", "LOCALHOST"):
        assert portal.get("/metrics", headers={"Host": host}).status == 200


def cookie_of(portal: RunningPortal) -> str:
    return portal.get(f"/?token={TOKEN}", token=None).headers["set-cookie"].partition(";")[0]


def test_changes_must_come_from_the_portal_itself(portal: RunningPortal) -> None:
    cookie = cookie_of(portal)
    fields = {"action": "pause"}
    own = f"http://127.0.0.1:{portal.port}"
    for origin in (
        None,
        "null",
        "http://evil.example",
        f"http://127.0.0.1:{portal.port + 1}",
        own + ".evil",
        "",
    ):
        headers = {"Cookie": cookie} | ({} if origin is None else {"Origin": origin})
        reply = portal.ask("POST", "/control", fields=fields, headers=headers, token=None)
        assert reply.status == 403, origin
    # From the portal's own page it gets through, to be told that nothing runs.
    reply = portal.ask(
        "POST", "/control", fields=fields, headers={"Cookie": cookie, "Origin": own}, token=None
    )
    assert (reply.status, "no crawl is running" in reply.text) == (400, True)
    # Reading from another origin is refused too.
    assert portal.get("/metrics", headers={"Origin": "http://evil.example"}).status == 403


def test_headers_of_every_answer(portal: RunningPortal) -> None:
    for method, path in routes():
        reply = portal.ask(method, path)
        policy = reply.headers["content-security-policy"]
        assert "'unsafe" not in policy
        assert "script-src 'self'" in policy or "sandbox" in policy
        assert "frame-ancestors 'none'" in policy or "sandbox" in policy
        assert reply.headers["x-content-type-options"] == "nosniff"
        # Only the archived page may be in a frame: in one of ours, without any rights.
        framed = "/archived" in path
        assert reply.headers["x-frame-options"] == ("SAMEORIGIN" if framed else "DENY")
        assert not framed or policy.startswith("sandbox; default-src 'none'")
        assert reply.headers["referrer-policy"] == "same-origin"
        assert reply.headers["cross-origin-resource-policy"] == "same-origin"
        assert "server" not in reply.headers
        assert reply.status < 500, (method, path, reply.text)


def test_bodies_are_bounded(portal: RunningPortal) -> None:
    large = portal.ask("POST", "/control", fields={"action": "x" * 400_000})
    assert large.status == 413
    other = portal.ask("POST", "/control", headers={"Content-Type": "multipart/form-data"})
    assert other.status == 415
    many = portal.ask("POST", "/control", fields={f"field{number}": "" for number in range(6_000)})
    assert many.status == 400


def test_files_outside_are_not_served(portal: RunningPortal) -> None:
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/passwd"):
        assert portal.get(path).status == 404


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org"])
def test_other_interfaces_need_a_token(host: str, folder: Path) -> None:
    assert not is_loopback(host)
    with pytest.raises(HoneyguideError, match="--token"):
        chosen_token(host, None)
    assert chosen_token(host, "a-token-of-our-own") == "a-token-of-our-own"
    assert "*" in own_names(host)


def test_the_verb_refuses_too(folder: Path) -> None:
    command = [sys.executable, "-m", "honeyguide", "serve", str(folder), "--host", "0.0.0.0", "--no-open"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "--token" in done.stderr
    assert done.stderr.count("\n") == 1


def test_tokens() -> None:
    assert chosen_token("127.0.0.1", None) != chosen_token("127.0.0.1", None)
    assert len(chosen_token("::1", None)) >= 32
    for weak in ("", "short", "with space and more", "ümlaut-ümlaut-ümlaut"):
        with pytest.raises(HoneyguideError):
            chosen_token("127.0.0.1", weak)
    assert Place("::1", 80, "t").entrance == "http://[::1]:80/?token=t"
    assert own_names("127.0.0.1") == ("127.0.0.1",)


def test_no_websocket(portal: RunningPortal) -> None:
    with socket.create_connection(("127.0.0.1", portal.port), timeout=60) as plain:
        head = (
            "GET /events HTTP/1.1", f"Host: 127.0.0.1:{portal.port}", "Connection: Upgrade",
            "Upgrade: websocket", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "", "",
        )  # fmt: skip
        plain.sendall("\r\n".join(head).encode())
        assert b" 401 " in plain.recv(200)
