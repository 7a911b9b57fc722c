"""Every way a known URL can end.

One enum, so that counts add up: known = waiting + in flight + the sum over outcomes.
"""

from __future__ import annotations

import enum


class Outcome(enum.IntEnum):
    """What became of a URL. `WAITING` is the only value that is not an end."""

    WAITING = 0
    FETCHED = 1
    REDIRECTED = 2
    """Answered with a redirect; the target is a URL of its own."""
    CANONICAL = 3
    """The page names another URL as its canonical one; that URL is queued instead."""
    LISTING = 4
    """A sitemap or feed: the URLs it names are queued."""
    # Dropped before any request.
    SCOPE = 10
    TRAP = 11
    TOO_LONG = 12
    TOO_DEEP = 13
    DOMAIN_CAP = 14
    NOFOLLOW = 15
    ORDER = 16
    """Left out by the link order. Comes back to life if another link brings it in, as do `NOFOLLOW` and
    `TOO_DEEP`: those judge the link, not the URL."""
    ROBOTS = 17
    EGRESS = 18
    """Refused by the egress guard: not a public address."""
    TOO_MANY_REDIRECTS = 19
    BAD_REDIRECT = 20
    # Requested, no page.
    CLIENT_ERROR = 30
    SERVER_ERROR = 31
    TIMEOUT = 32
    DNS = 33
    CONNECTION = 34
    TLS = 35
    TOO_LARGE = 36
    BAD_HTTP = 37
    BAD_ENCODING = 38
    NOT_A_PAGE = 39
    PARSE_FAILED = 40
    PARSE_TIMEOUT = 41
    HOST_GIVEN_UP = 42
    # Fetched, not kept.
    NOINDEX = 50

    @property
    def is_end(self) -> bool:
        """Whether the URL is done with."""
        return self is not Outcome.WAITING
