"""Token feedback: words that addresses hold often and that no table knows, for a person to map."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

import msgspec

from honeyguide.topic.tokens import TokenTable
from honeyguide.topic.tokens_of_url import Place, placed_tokens

AT_LEAST: Final = 500
"""Addresses a token occurs in before it is worth a person's time, as in the FCMRPS study."""
MAX_TOKENS: Final = 500_000
"""Distinct tokens counted at a time; beyond that, those met least are forgotten."""
MAX_LENGTH: Final = 40
EXAMPLES: Final = 3
MAX_HOSTS: Final = 1_000


class SeenToken(msgspec.Struct, frozen=True):
    """A token with where it occurs."""

    token: str
    count: int
    """Addresses that hold it."""
    hosts: int
    """Hosts of these addresses (up to 1,000)."""
    places: dict[Place, int]
    """How many of the addresses hold it in the host, a folder, the file name or the query."""
    examples: tuple[str, ...]


class _Sighting:
    """What is known of one token so far."""

    __slots__ = ("count", "examples", "hosts", "places")

    def __init__(self) -> None:
        self.count = 0
        self.hosts: set[str] = set()
        self.places: Counter[Place] = Counter()
        self.examples: list[str] = []

    def note(self, url: str, host: str, places: set[Place]) -> None:
        """Count one address. Examples are taken from different hosts first."""
        self.count += 1
        self.places.update(places)
        if len(self.examples) < EXAMPLES and (
            host not in self.hosts or self.count > 100 or not self.examples
        ):
            self.examples.append(url)
        if len(self.hosts) < MAX_HOSTS:
            self.hosts.add(host)


def unmapped_tokens(
    urls: Iterable[str], table: TokenTable, *, at_least: int = AT_LEAST, limit: int = 100
) -> list[SeenToken]:
    """Tokens that at least so many addresses hold and that stand for no topic, the most frequent first.

    Numbers and tokens of one letter or more than 40 are passed over.

    Args:
        urls: Addresses, such as all that a crawl knows.
        table: What is mapped already.
        at_least: Addresses that must hold a token.
        limit: Tokens to give.
    """
    seen: dict[str, _Sighting] = {}
    for url in urls:
        held: dict[str, set[Place]] = {}
        for token, place in placed_tokens(url):
            if 1 < len(token) <= MAX_LENGTH and table.topic_of(token) is None:
                held.setdefault(token, set()).add(place)
        host = url.partition("://")[2].partition("/")[0]
        for token, places in held.items():
            seen.setdefault(token, _Sighting()).note(url, host, places)
        if len(seen) > MAX_TOKENS:
            seen = _the_frequent(seen)
    frequent = [(token, one) for token, one in seen.items() if one.count >= at_least]
    frequent.sort(key=lambda item: (-item[1].count, item[0]))
    return [
        SeenToken(token, one.count, len(one.hosts), dict(one.places.most_common()), tuple(one.examples))
        for token, one in frequent[:limit]
    ]


def _the_frequent(seen: dict[str, _Sighting]) -> dict[str, _Sighting]:
    """The more frequent half."""
    middle = sorted(one.count for one in seen.values())[len(seen) // 2]
    return {token: one for token, one in seen.items() if one.count > middle}
