from __future__ import annotations

import asyncio
import time
from ipaddress import ip_network

import pytest
from tests.fetch.servers import ok, serving

from honeyguide.fetch.base import Failure, Request, Response
from honeyguide.fetch.egress import EgressGuard, EgressRefused
from honeyguide.fetch.http import HttpFetcher
from honeyguide.fetch.options import FetchOptions
from honeyguide.fetch.resolver import GuardedResolver
from honeyguide.model import Outcome


class Names:
    """A name server: answers in turn, the last one for ever."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str) -> list[str]:
        self.asked.append(host)
        await asyncio.sleep(0)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.mark.parametrize(
    "answers", [["8.8.8.8", "10.0.0.1"], ["::1", "8.8.8.8"], ["2002:7f00:1::", "1.1.1.1"]]
)
async def test_one_private_answer_refuses_the_name(answers: list[str]) -> None:
    resolver = GuardedResolver(EgressGuard(), Names(answers))
    with pytest.raises(EgressRefused):
        await resolver.resolve("mixed.example", 80)


@pytest.mark.realtime
async def test_the_address_that_was_checked_is_the_one_dialled() -> None:
    """Rebinding: the name first answers with an allowed address, then with a forbidden one."""
    async with serving(ok(b"good")) as good, serving(ok(b"bad"), host="127.0.0.2") as bad:
        names = Names(["127.0.0.1"], ["127.0.0.2"])
        guard = EgressGuard([ip_network("127.0.0.1/32")])
        options = FetchOptions(dns_ttl=0.0, keep_alive=0.01)
        async with HttpFetcher(options, clock=time.time, guard=guard, lookup=names) as http:
            first = await http.fetch(Request(f"http://rebind.example:{good.port}/"))
            second = await http.fetch(Request(f"http://rebind.example:{bad.port}/"))
        assert isinstance(first, Response)
        assert len(names.asked) == 2  # one lookup a request: nothing between the check and the dialling
        assert isinstance(second, Failure)
        assert second.outcome is Outcome.EGRESS
        assert bad.connections == 0


async def test_answers_are_cached_and_shared() -> None:
    names = Names(["8.8.8.8"], ["9.9.9.9"])
    resolver = GuardedResolver(EgressGuard(), names, ttl=60.0)
    found = await asyncio.gather(*(resolver.resolve("a.example", port) for port in (80, 443, 8080)))
    assert [(answer[0].host, answer[0].port) for answer in found] == [
        ("8.8.8.8", 80),
        ("8.8.8.8", 443),
        ("8.8.8.8", 8080),
    ]
    assert (await resolver.resolve("A.example.", 80))[0].host == "8.8.8.8"
    assert names.asked == ["a.example"]
    assert resolver.known("a.example") == "8.8.8.8"
    assert resolver.known("b.example") == ""


async def test_refusals_are_cached_too() -> None:
    names = Names(["10.0.0.1"])
    resolver = GuardedResolver(EgressGuard(), names)
    for _ in range(3):
        with pytest.raises(EgressRefused, match="not a public address"):
            await resolver.resolve("a.example")
    assert len(names.asked) == 1


async def test_the_cache_is_bounded() -> None:
    names = Names(["8.8.8.8"])
    resolver = GuardedResolver(EgressGuard(), names, size=3)
    for host in ("a", "b", "c", "a", "d"):
        await resolver.resolve(f"{host}.example")
    assert [bool(resolver.known(f"{host}.example")) for host in "abcd"] == [True, False, True, True]


async def test_a_cancelled_waiter_does_not_end_the_lookup_of_others() -> None:
    gate = asyncio.Event()

    async def slow(host: str) -> list[str]:
        await gate.wait()
        return ["8.8.8.8"]

    resolver = GuardedResolver(EgressGuard(), slow)
    first = asyncio.create_task(resolver.resolve("a.example"))
    second = asyncio.create_task(resolver.resolve("a.example"))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    gate.set()
    assert (await second)[0].host == "8.8.8.8"
    assert first.cancelled()


@pytest.mark.realtime
async def test_a_slow_name_server_ends_at_the_deadline() -> None:
    async def never(host: str) -> list[str]:
        await asyncio.sleep(60)
        return []

    options = FetchOptions(deadline=0.2)
    async with HttpFetcher(options, clock=time.time, guard=EgressGuard(), lookup=never) as http:
        result = await http.fetch(Request("http://a.example/"))
    assert isinstance(result, Failure)
    assert result.outcome is Outcome.TIMEOUT


async def test_a_name_without_address_is_a_dns_failure() -> None:
    async def missing(host: str) -> list[str]:
        raise OSError("no such host")

    async with HttpFetcher(FetchOptions(), clock=time.time, guard=EgressGuard(), lookup=missing) as http:
        for _ in range(2):
            result = await http.fetch(Request("http://a.example/"))
            assert isinstance(result, Failure)
            assert result.outcome is Outcome.DNS
    async with HttpFetcher(FetchOptions(), clock=time.time, guard=EgressGuard()) as http:
        result = await http.fetch(Request(f"http://{'a' * 64}.invalid/"))
    assert isinstance(result, Failure)
    assert result.outcome is Outcome.DNS
