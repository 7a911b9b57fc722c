"""What a shard may have spent is known, however late it says where it stands."""

from __future__ import annotations

import msgspec

from honeyguide.engine.neighbours import Mailbox, Standing


def test_a_limit_that_was_lowered_counts_until_the_crawl_has_seen_the_lower_one() -> None:
    mailbox = Mailbox()
    mailbox.allow(5)
    assert mailbox.limit == 5
    standing = Standing(pages=2, limit=5)
    mailbox.stand(standing)
    assert mailbox.allow(10).limit == 10
    assert mailbox.limit == 10  # the crawl goes by it from here on, and has not said so
    assert mailbox.allow(5).limit == 10
    assert mailbox.allow(5).limit == 10
    assert mailbox.limit == 5
    mailbox.stand(msgspec.structs.replace(standing, pages=3))
    assert mailbox.allow(5).limit == 5


def test_a_limit_that_comes_while_the_crawl_reckons_is_not_forgotten() -> None:
    mailbox = Mailbox()
    mailbox.allow(5)
    assert mailbox.limit == 5
    mailbox.allow(9)
    mailbox.stand(Standing(pages=2, limit=5))
    assert mailbox.allow(5).limit == 9
