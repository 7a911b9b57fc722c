from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path

import pytest

from honeyguide.fetch.base import Failure, Request
from honeyguide.fetch.egress import EgressGuard, EgressRefused
from honeyguide.fetch.http import HttpFetcher
from honeyguide.fetch.options import FetchOptions
from honeyguide.model import Outcome
from honeyguide.web.url import canonical

HERE = Path(__file__).parent
PRIVATE = (HERE / "private_addresses.txt").read_text().split()
PUBLIC = ["1.1.1.1", "8.8.8.8", "172.15.0.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"]


@pytest.mark.parametrize("address", PRIVATE)
def test_what_is_not_global_unicast_is_refused(address: str) -> None:
    assert EgressGuard().refusal(address)
    with pytest.raises(EgressRefused):
        EgressGuard().check(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_pass(address: str) -> None:
    assert EgressGuard().refusal(address) == ""


def test_an_opened_network_does_not_open_its_disguises() -> None:
    guard = EgressGuard([ip_network("127.0.0.0/8"), ip_network("fd00::/8")])
    assert guard.refusal("127.0.0.1") == guard.refusal("fd12::1") == ""
    for address in (
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "::1",
        "10.0.0.1",
        "169.254.169.254",
    ):
        assert guard.refusal(address)


def test_no_socket_is_made_for_a_refused_address() -> None:
    with pytest.raises(EgressRefused):
        EgressGuard().open_socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("10.0.0.1", 80)))


@pytest.mark.parametrize("port", [0, 22, 25, 6667])
async def test_ports_of_other_protocols_are_not_dialled(port: int) -> None:
    guard = EgressGuard([ip_network("127.0.0.0/8")])
    info = (socket.AF_INET, socket.SOCK_STREAM, 0, "")
    with pytest.raises(EgressRefused, match=f"port {port} belongs to another protocol"):
        guard.open_socket((*info, ("1.1.1.1", port)))
    guard.open_socket((*info, ("1.1.1.1", 8080))).close()
    guard.open_socket((*info, ("127.0.0.1", port))).close()  # the operator's own network

    async def lookup(name: str) -> list[str]:
        return ["1.1.1.1"]

    async with HttpFetcher(FetchOptions(), clock=time.time, guard=guard, lookup=lookup) as http:
        for url in (f"http://mail.example:{port}/", f"http://1.1.1.1:{port}/"):
            result = await http.fetch(Request(url))
            assert isinstance(result, Failure)
            assert result.outcome is Outcome.EGRESS
            assert "belongs to another protocol" in result.detail


SPELLINGS = (HERE / "host_spellings.txt").read_text().split()
assert len(SPELLINGS) >= 60


class Canary:
    """Listening sockets that nobody may connect to."""

    def __init__(self) -> None:
        self.sockets: list[socket.socket] = []
        first = socket.create_server(("127.0.0.1", 0))
        self.port = first.getsockname()[1]
        self.sockets.append(first)
        if socket.has_ipv6:
            self.sockets.append(socket.create_server(("::1", self.port), family=socket.AF_INET6))
        for listener in self.sockets:
            listener.setblocking(False)

    def calls(self) -> int:
        found = 0
        for listener in self.sockets:
            try:
                listener.accept()[0].close()
                found += 1
            except BlockingIOError:
                pass
        return found


@pytest.fixture
def canary() -> Iterator[Canary]:
    made = Canary()
    yield made
    for listener in made.sockets:
        listener.close()


@pytest.mark.realtime
def test_the_canary_sings(canary: Canary) -> None:
    socket.create_connection(("127.0.0.1", canary.port)).close()
    assert canary.calls() == 1


@pytest.mark.realtime
@pytest.mark.parametrize("proxied", [False, True])
async def test_no_spelling_reaches_this_machine(
    canary: Canary, proxied: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if proxied:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{canary.port}")

    async def lookup(name: str) -> list[str]:
        """The system's answer where it knows the name; else the worst one."""
        try:
            return [str(info[4][0]) for info in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)]
        except OSError:
            return ["127.0.0.1"]

    options = FetchOptions(deadline=5.0)
    async with HttpFetcher(options, clock=time.time, guard=EgressGuard(), lookup=lookup) as http:
        for spelling in SPELLINGS:
            for scheme in ("http", "https"):
                written = f"{scheme}://{spelling}:{canary.port}/x"
                for url in {written, canonical(written) or written}:
                    result = await http.fetch(Request(url))
                    assert isinstance(result, Failure), url
                    assert result.outcome in (Outcome.EGRESS, Outcome.BAD_HTTP, Outcome.DNS), (url, result)
    assert canary.calls() == 0


@pytest.mark.realtime
@pytest.mark.parametrize(
    ("url", "outcome"),
    [
        ("http://127.0.0.1:{port}/", Outcome.EGRESS),
        ("http://[::1]:{port}/", Outcome.EGRESS),
        ("http://[::ffff:7f00:1]:{port}/", Outcome.EGRESS),
        ("http://localhost:{port}/", Outcome.EGRESS),
    ],
)
async def test_refusals_are_named(canary: Canary, url: str, outcome: Outcome) -> None:
    async with HttpFetcher(FetchOptions(), clock=time.time, guard=EgressGuard()) as http:
        result = await http.fetch(Request(url.format(port=canary.port)))
    assert isinstance(result, Failure)
    assert result.outcome is outcome
    assert "not a public address" in result.detail
