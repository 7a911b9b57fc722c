"""Random order: the floor under every other order."""

from __future__ import annotations

from collections.abc import Sequence

import xxhash

from honeyguide.model import Link, Page, Scored, Verdict
from honeyguide.ordering.base import Combine, LocalOrder


class RandomOrder(LocalOrder):
    """A priority drawn once for each URL, uniform in 0..1.

    The draw is a hash of the URL's fingerprint and the seed, so it needs no state and does not depend on
    where the URL was found. Since a URL keeps its draw, URLs that wait long are those with low draws: a
    newly found URL goes before a waiting one more often than not.

    Args:
        seed: Another seed gives another order.

    Example:
        >>> from honeyguide.model import Link, Page, Verdict
        >>> page, links = Page(url="https://a.example/", id=1), [Link("https://b.example/", 2)]
        >>> ranks = [RandomOrder(seed=s).rank(page, Verdict(0, False), links) for s in (1, 1, 2)]
        >>> ranks[0] == ranks[1], ranks[0] == ranks[2]
        (True, False)
    """

    combine: Combine = "first"

    def __init__(self, *, seed: int = 0) -> None:
        self._seed = seed & 0xFFFFFFFFFFFFFFFF

    def rank(self, page: Page, verdict: Verdict, links: Sequence[Link]) -> list[Scored]:
        """The URL's own draw."""
        draw, seed = xxhash.xxh3_64_intdigest, self._seed
        return [
            Scored(index, (draw(link.id.to_bytes(8, "little", signed=True), seed) >> 11) * 2.0**-53)
            for index, link in enumerate(links)
        ]
