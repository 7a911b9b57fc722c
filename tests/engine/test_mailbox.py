"""What a shard may have spent is known, however late it says where it stands."""

from __future__ import annotations

import threading
import time

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


def test_who_asks_is_told_where_the_crawl_stands_now_not_where_it_stood() -> None:
    mailbox = Mailbox()
    mailbox.stand(Standing(pages=1))
    mailbox.allow(3)
    mailbox.wake = threading.Timer(0.0, says, (mailbox, Standing(pages=2, limit=3))).start
    assert mailbox.look(30.0).pages == 2


def test_a_crawl_that_is_busy_is_not_waited_for() -> None:
    mailbox = Mailbox()
    mailbox.stand(Standing(pages=1))
    began = time.monotonic()
    assert mailbox.look(0.05).pages == 1
    assert time.monotonic() - began < 20.0
    assert mailbox.asked, "it says so when it can"


def says(mailbox: Mailbox, standing: Standing) -> None:
    """As the crawl's thread does in its next turn."""
    mailbox.asked = False
    mailbox.stand(standing)
