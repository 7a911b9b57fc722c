"""What carries links between shards ends with its crawl, also with one that never began."""

from __future__ import annotations

from honeyguide.cluster.shard import Post
from honeyguide.engine.neighbours import Mailbox


def test_it_can_end_before_it_began() -> None:
    Post("00", Mailbox(), {}).end()
