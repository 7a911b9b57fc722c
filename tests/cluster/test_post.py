"""What carries links between shards packs them small, and ends with its crawl, even before it began."""

from __future__ import annotations

import msgspec

from honeyguide.cluster.shard import Post, packed, unpacked
from honeyguide.engine.neighbours import Batch, Mailbox
from honeyguide.store.outbox import Traveller


def test_it_can_end_before_it_began() -> None:
    Post("00", Mailbox(), {}).end()


def test_links_travel_in_a_third_of_their_size() -> None:
    links = [
        Traveller(
            url=f"https://b.example/birds/{number}/owls-{number * 7919 % 1000}",
            parent=f"https://a.example/list/{number // 20}",
            priority=1 / (1 + number),
            anchor=f"owl number {number}",
            context="What is said around a link is much the same on most pages of a site, as here",
        )
        for number in range(500)
    ]
    batches = [Batch("00", "run", 1, links), Batch("00", "run", 2, [])]
    assert unpacked(packed(batches)) == batches
    assert unpacked(packed([])) == []
    assert 3 * len(packed(batches)) < len(msgspec.msgpack.encode(batches))
