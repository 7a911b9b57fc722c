"""Names to addresses: looked up once, checked by the egress guard, cached, and dialled as they are.

The address that was checked is the address that is dialled, so a name that answers with a public address
first and a private one a moment later (DNS rebinding) gains nothing.
"""

from __future__ import annotations

import asyncio
import socket
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from functools import lru_cache
from ipaddress import ip_address
from typing import NamedTuple, TypeAlias

from honeyguide.fetch.egress import EgressGuard

Lookup: TypeAlias = Callable[[str], Awaitable[list[str]]]
"""From a host name to its addresses. Raises OSError when there are none."""

FAILURE_SECONDS = 30.0
"""A failed or refused lookup is remembered this long, so that a dead host is not asked for every URL."""


class ThreadLookup:
    """The system's resolver in a small pool of threads of its own.

    Slow name servers then cannot use up the threads that the rest of the program needs.
    """

    def __init__(self, threads: int = 32) -> None:
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="dns")

    async def __call__(self, host: str) -> list[str]:
        """The addresses of a host, in the system's order of preference."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, self._ask, host)

    @staticmethod
    def _ask(host: str) -> list[str]:
        try:
            answers = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
        except UnicodeError as error:
            raise OSError(f"not a host name: {error}") from None
        addresses = [
            str(answer[4][0]) for answer in answers if answer[0] in (socket.AF_INET, socket.AF_INET6)
        ]
        return list(dict.fromkeys(addresses))

    def close(self) -> None:
        """Let the threads go; lookups under way end on their own."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def split_address(target: str) -> tuple[str, int]:
    """`ip:port` or `[ip]:port` as a pair.

    Example:
        >>> split_address("127.0.0.1:8080"), split_address("[::1]:80")
        (('127.0.0.1', 8080), ('::1', 80))
    """
    host, _, port = target.rpartition(":")
    return host.strip("[]"), int(port)


class Address(NamedTuple):
    """What is dialled."""

    host: str
    port: int

    @property
    def family(self) -> socket.AddressFamily:
        """IPv4 or IPv6."""
        return socket.AF_INET6 if ":" in self.host else socket.AF_INET


class GuardedResolver:
    """Connect-to table first, then addresses written as such, cache, one shared lookup; then the guard.

    Args:
        guard: Every answer must pass it; one private answer among public ones refuses the name.
        lookup: How to ask the name servers.
        connect_to: Host patterns (`*` and `?`) to the `ip:port` to dial instead, as curl's --connect-to.
        ttl: Seconds an answer is kept.
        size: Names kept; the least recently used goes first.
    """

    def __init__(
        self,
        guard: EgressGuard,
        lookup: Lookup,
        *,
        connect_to: Mapping[str, str] | None = None,
        ttl: float = 300.0,
        size: int = 20_000,
    ) -> None:
        self._guard = guard
        self._lookup = lookup
        self._connect_to = {
            pattern.lower(): split_address(target) for pattern, target in (connect_to or {}).items()
        }
        self.pinned = frozenset(self._connect_to.values())
        """Addresses with port that the operator named in the connect-to table."""
        self._ttl = ttl
        self._size = size
        self._cache: OrderedDict[str, tuple[float, tuple[str, ...] | OSError]] = OrderedDict()
        self._under_way: dict[str, asyncio.Task[tuple[str, ...]]] = {}

    def known(self, host: str) -> str:
        """The address to dial for a host when that is known without a lookup, else an empty string."""
        name = host.rstrip(".").lower()
        target = self._target(name)
        if target is not None:
            return target[0]
        cached = self._cache.get(name)
        if cached is None and _is_address(name) and not self._guard.refusal(name):
            return name
        if cached is None or isinstance(cached[1], OSError):
            return ""
        return cached[1][0] if cached[0] > asyncio.get_running_loop().time() else ""

    def named(self, host: str) -> bool:
        """Whether the connect-to table says what to dial for a host."""
        return self._target(host.rstrip(".").lower()) is not None

    async def resolve(self, host: str, port: int = 0) -> list[Address]:
        """The addresses to dial for a host.

        Raises:
            EgressRefused: When any answer is not a public address.
            OSError: When the name has no address.
        """
        target = self._target(host.rstrip(".").lower())
        if target is not None:
            return [Address(*target)]
        return [Address(address, port) for address in await self.addresses(host)]

    async def addresses(self, host: str) -> tuple[str, ...]:
        """Checked addresses of a host, from the cache or from one lookup shared by all who wait."""
        key = host.rstrip(".").lower()
        if _is_address(key):  # nothing to look up
            self._guard.check(key)
            return (key,)
        now = asyncio.get_running_loop().time()
        cached = self._cache.get(key)
        if cached is not None and cached[0] > now:
            self._cache.move_to_end(key)
            if isinstance(cached[1], OSError):
                raise type(cached[1])(*cached[1].args)  # a fresh one: no chain of old tracebacks
            return cached[1]
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.create_task(self._ask(key))
            self._under_way[key] = task
            task.add_done_callback(lambda done: self._asked(key, done))
        # One waiter's deadline must not end the lookup for the others.
        return await asyncio.shield(task)

    async def _ask(self, key: str) -> tuple[str, ...]:
        addresses = tuple(await self._lookup(key))
        if not addresses:
            raise OSError(f"no address for {key}")
        for address in addresses:
            self._guard.check(address)
        return addresses

    def _asked(self, key: str, task: asyncio.Task[tuple[str, ...]]) -> None:
        self._under_way.pop(key, None)
        if task.cancelled():
            return
        now = asyncio.get_running_loop().time()
        error = task.exception()
        if error is None:
            self._cache[key] = (now + self._ttl, task.result())
        elif isinstance(error, OSError):
            self._cache[key] = (now + min(FAILURE_SECONDS, self._ttl), error.with_traceback(None))
        else:
            return
        self._cache.move_to_end(key)
        while len(self._cache) > self._size:
            self._cache.popitem(last=False)

    def _target(self, host: str) -> tuple[str, int] | None:
        if not self._connect_to:
            return None
        exact = self._connect_to.get(host)
        if exact is not None:
            return exact
        return next((to for pattern, to in self._connect_to.items() if fnmatchcase(host, pattern)), None)

    async def close(self) -> None:
        """End lookups under way."""
        for task in tuple(self._under_way.values()):
            task.cancel()
        if isinstance(self._lookup, ThreadLookup):
            self._lookup.close()


@lru_cache(maxsize=4096)
def _is_address(name: str) -> bool:
    """Whether a name is an IP address as it is written out (four numbers, or colons)."""
    if not name[-1:].isdecimal() and ":" not in name:
        return False
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
