"""What the sites of a collection said to robots."""

from __future__ import annotations

import msgspec

from honeyguide.model import Outcome
from honeyguide.store.state import State
from honeyguide.web.robots import Robots


class RobotsFacts(msgspec.Struct, frozen=True):
    """Counts over origins (scheme, host and port) and addresses."""

    asked: int
    """Origins whose robots.txt was asked for and answered."""
    present: int
    """Origins that have one."""
    closed: int
    """Origins that shut the crawler out of their home page."""
    with_rules: int
    """Origins that shut it out of something."""
    delayed: int
    """Origins that ask for a delay between requests."""
    longest_delay: float
    left_out: int
    """Addresses not requested because of robots.txt."""
    noindex: int
    """Pages that asked not to be indexed: archived, but in no search and no export."""
    nofollow: int
    """Addresses known only from links marked nofollow, and not requested."""


def robots_facts(state: State, *, token: str = "honeyguide") -> RobotsFacts:  # noqa: S107 - a robots token
    """Read the kept robots.txt files again and count."""
    asked = present = closed = with_rules = delayed = 0
    longest = 0.0
    for origin, status, body, _ in state.all_robots():
        asked += 1
        if not 200 <= status < 300:
            continue
        present += 1
        rules = Robots.parse(body)
        closed += not rules.allowed(token, origin + "/")
        with_rules += any(
            line.strip().lower().startswith("disallow") and line.partition(":")[2].strip()
            for line in body.decode("latin-1").splitlines()
        )
        delay = rules.crawl_delay(token)
        if delay:
            delayed += 1
            longest = max(longest, delay)
    counts = state.counts()
    return RobotsFacts(
        asked=asked,
        present=present,
        closed=closed,
        with_rules=with_rules,
        delayed=delayed,
        longest_delay=longest,
        left_out=counts.get(Outcome.ROBOTS, 0),
        noindex=counts.get(Outcome.NOINDEX, 0),
        nofollow=counts.get(Outcome.NOFOLLOW, 0),
    )
