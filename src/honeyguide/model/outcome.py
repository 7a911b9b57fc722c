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
    LANGUAGE = 21
    """The link says that its target is in a language that the topic does not have (`hreflang`). Comes back to
    life as `ORDER` does."""
    ELSEWHERE = 22
    """Another shard's URL, known here as a link or as the page that a link came from. Its outcome is there:
    who counts the URLs of several shards leaves this one out."""
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
    # Fetched and kept; not there any more.
    GONE = 51
    """A later visit found that the page is gone, or has moved for good. What was fetched stays."""

    @property
    def is_end(self) -> bool:
        """Whether the URL is done with."""
        return self is not Outcome.WAITING

    @property
    def label(self) -> str:
        """What people are told."""
        return _LABELS[self][0]

    @property
    def phrase(self) -> str:
        """The label inside a sentence.

        Example:
            >>> Outcome.TIMEOUT.phrase, Outcome.TLS.phrase
            ('timed out', 'TLS error')
        """
        label = self.label
        return label if label[1].isupper() else label[0].lower() + label[1:]

    @property
    def setting(self) -> str:
        """The key of a topic file that changes how many URLs end like this; empty where none does."""
        return _LABELS[self][1]


_LABELS: dict[Outcome, tuple[str, str]] = {
    Outcome.WAITING: ("Waiting", ""),
    Outcome.FETCHED: ("Fetched", ""),
    Outcome.REDIRECTED: ("Redirected", ""),
    Outcome.CANONICAL: ("Points to another address", ""),
    Outcome.LISTING: ("Sitemap or feed", ""),
    Outcome.SCOPE: ("Out of scope", "[scope]"),
    Outcome.TRAP: ("Looks like a crawler trap", "trap_zones in [crawl]"),
    Outcome.TOO_LONG: ("Address too long", "max_url_length in [limits]"),
    Outcome.TOO_DEEP: ("Too many links from the seeds", "max_depth in [crawl]"),
    Outcome.DOMAIN_CAP: ("Page limit of its domain reached", "max_pages_per_domain in [crawl]"),
    Outcome.NOFOLLOW: ("Link marked nofollow", ""),
    Outcome.ORDER: ("Dropped by the link order", "[ordering]"),
    Outcome.ROBOTS: ("Disallowed by robots.txt", ""),
    Outcome.EGRESS: ("Not a public address", "allow_net in [network]"),
    Outcome.TOO_MANY_REDIRECTS: ("Too many redirects", "max_redirects in [limits]"),
    Outcome.BAD_REDIRECT: ("Broken redirect", ""),
    Outcome.LANGUAGE: ("Said to be in another language", "languages in [topic]"),
    Outcome.ELSEWHERE: ("Belongs to another shard", ""),
    Outcome.CLIENT_ERROR: ("HTTP error 4xx", ""),
    Outcome.SERVER_ERROR: ("HTTP error 5xx", "max_retries in [politeness]"),
    Outcome.TIMEOUT: ("Timed out", "deadline in [limits]"),
    Outcome.DNS: ("Host name not found", ""),
    Outcome.CONNECTION: ("Connection failed", "max_retries in [politeness]"),
    Outcome.TLS: ("TLS error", ""),
    Outcome.TOO_LARGE: ("Too large", "max_body in [limits]"),
    Outcome.BAD_HTTP: ("Malformed HTTP response", ""),
    Outcome.BAD_ENCODING: ("Content encoding could not be decoded", ""),
    Outcome.NOT_A_PAGE: ("Not a web page", ""),
    Outcome.PARSE_FAILED: ("Could not be parsed", ""),
    Outcome.PARSE_TIMEOUT: ("Parsing took too long", "parse_deadline in [limits]"),
    Outcome.HOST_GIVEN_UP: ("Host gave too many errors", "give_up_after in [politeness]"),
    Outcome.NOINDEX: ("Asks not to be indexed", ""),
    Outcome.GONE: ("Gone since it was fetched", ""),
}
